"""Gives a signature twice, by its long and its short name: Numba compiles it once."""

import numpy as np


def smooth_all(jit, smooth, signals):
    compiled = jit(["float64[::1](float64[::1])", "f8[::1](f8[::1])"])(smooth)
    return [compiled(np.ascontiguousarray(signal, dtype="float64")) for signal in signals]
