import numpy as np


def smooth_all(jit, smooth, signals):
    """Smooth every signal with code that is compiled once."""
    compiled = jit(smooth)
    return [compiled(np.ascontiguousarray(signal, dtype=np.float64)) for signal in signals]
