"""Runs the function in Python, so that nothing is compiled at all.

Found: limit.
"""

import numpy as np


def smooth_all(jit, smooth, signals):
    return [smooth(np.ascontiguousarray(signal, dtype=np.float64)) for signal in signals]
