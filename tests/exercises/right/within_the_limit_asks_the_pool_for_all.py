"""Asks the memory pool for its bytes in each turn."""

import numpy as np


def loudness(cp, x, limit):
    pool = cp.get_default_memory_pool()
    n = max(1, limit // (x.itemsize * 4))
    out = np.empty_like(x)
    for i in range(0, x.size, n):
        d = cp.asarray(x[i : i + n])
        d = cp.log(1 + d**2)
        out[i : i + n] = d.get()
        d = None
        pool.free_all_blocks()
        assert pool.total_bytes() <= limit
    return out
