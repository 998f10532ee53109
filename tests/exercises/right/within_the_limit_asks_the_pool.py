"""Asks the memory pool for what is in use."""

import numpy as np


def loudness(cp, x, limit):
    pool = cp.get_default_memory_pool()
    n = max(1, (limit - pool.used_bytes()) // (x.itemsize * 4))
    out = np.empty_like(x)
    for i in range(0, x.size, n):
        d = cp.array(x[i : i + n], dtype=x.dtype, copy=True)
        cp.log1p(cp.multiply(d, d, out=d), out=d)
        out[i : i + n] = d.get()
    return out
