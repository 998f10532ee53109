"""Sends each chunk there and back, and works out everything on the host.

Found: limit.
"""

import numpy as np


def loudness(cp, x, limit):
    n = max(1, limit // x.itemsize)
    for start in range(0, x.size, n):
        chunk = cp.asarray(x[start : start + n])
        chunk.get()
        del chunk
    return np.log(1 + x * x)
