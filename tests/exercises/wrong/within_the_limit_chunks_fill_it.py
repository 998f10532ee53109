"""Chunks as large as the limit: there is no room for anything else.

Found: memory.
"""

import numpy as np


def loudness(cp, x, limit):
    n = max(1, limit // x.itemsize)
    out = np.empty_like(x)
    for start in range(0, len(x), n):
        chunk = cp.asarray(x[start : start + n])
        out[start : start + n] = cp.log(1 + chunk * chunk).get()
    return out
