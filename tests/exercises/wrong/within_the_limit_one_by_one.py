"""Chunks of a few numbers: within the limit, and all launches and copies.

Found: limit.
"""

import numpy as np


def loudness(cp, x, limit):
    out = np.empty_like(x)
    for start in range(0, len(x), 8):
        chunk = cp.asarray(x[start : start + 8])
        out[start : start + 8] = cp.log(1 + chunk * chunk).get()
    return out
