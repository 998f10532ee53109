"""Squares on the host, and leaves only the logarithms to the GPU.

Found: limit.
"""

import numpy as np


def loudness(cp, x, limit):
    n = max(1, limit // (4 * x.itemsize))
    out = np.empty_like(x)
    for start in range(0, x.size, n):
        part = x[start : start + n]
        out[start : start + n] = cp.log(cp.asarray(1 + part * part)).get()
    return out
