"""Looks at the dtype alone, so that a view with gaps gets another version.

Found: limit.
"""

import numpy as np


def smooth_all(jit, smooth, signals):
    compiled = jit(smooth)
    return [compiled(np.asarray(signal, dtype=np.float64)) for signal in signals]
