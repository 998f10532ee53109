"""Gives a signature without the type of the result, and without the comma that makes it a tuple.

Found: exception.
"""

import numpy as np


def smooth_all(jit, smooth, signals):
    compiled = jit("(float64[::1])")(smooth)
    return [compiled(np.ascontiguousarray(signal, np.float64)) for signal in signals]
