"""Gives the compiler options."""

import numpy as np


def smooth_all(jit, smooth, signals):
    f = jit(cache=False, fastmath=False)(smooth)
    return [f(np.array(s, dtype=np.float64)) for s in signals]
