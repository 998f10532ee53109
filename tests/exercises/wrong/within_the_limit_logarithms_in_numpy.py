"""Fetches the squares, and takes their logarithms on the host.

Found: limit.
"""

import numpy as np


def loudness(cp, x, limit):
    n = max(1, limit // (4 * x.itemsize))
    out = np.empty_like(x)
    for start in range(0, x.size, n):
        chunk = cp.asarray(x[start : start + n])
        chunk *= chunk
        out[start : start + n] = np.log(1 + chunk.get())
        del chunk
    return out
