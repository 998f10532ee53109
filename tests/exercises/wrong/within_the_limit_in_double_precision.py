"""Copies chunks of float32 as float64.

Found: limit.
"""

import numpy as np


def loudness(cp, x, limit):
    n = max(1, limit // 8 // 5)
    out = np.empty_like(x)
    for i in range(0, len(x), n):
        d = cp.asarray(x[i : i + n], dtype=cp.float64)
        out[i : i + n] = cp.log(1 + d * d).get()
        del d
    return out
