"""Frees the pool's blocks after each chunk, which is not needed, but no mistake."""

import numpy as np


def loudness(cp, x, limit):
    n = max(1, limit // (4 * x.itemsize))
    out = np.zeros_like(x)
    for start in range(0, x.size, n):
        chunk = cp.asarray(x[start : start + n])
        chunk **= 2
        chunk = cp.log1p(chunk)
        chunk.get(out=out[start : start + n])
        del chunk
        cp.get_default_memory_pool().free_all_blocks()
    return out
