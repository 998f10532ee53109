"""Gives the compiler a signature."""

import numpy as np


def smooth_all(jit, smooth, signals):
    f = jit("float64[::1](float64[::1])")(smooth)
    return [f(np.array(s, dtype=np.float64)) for s in signals]
