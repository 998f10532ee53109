"""Brings all signals to one type, which is too narrow for some.

Found: wrong.
"""

import numpy as np


def smooth_all(jit, smooth, signals):
    compiled = jit(smooth)
    results = [compiled(np.ascontiguousarray(signal, dtype=np.float32)) for signal in signals]
    return [result.astype(np.float64) for result in results]
