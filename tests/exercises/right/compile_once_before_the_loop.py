"""Compiles for a signature before there is a call."""

import numpy as np


def smooth_all(jit, smooth, signals):
    f = jit(smooth)
    f.compile("(float64[::1],)")
    return [f(np.ascontiguousarray(s, np.float64)) for s in signals]
