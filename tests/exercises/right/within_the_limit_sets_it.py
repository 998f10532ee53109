"""Sets the limit of the memory pool by itself, as the statement shows."""

import numpy as np


def loudness(cp, x, limit):
    cp.get_default_memory_pool().set_limit(size=limit)
    n = max(1, limit // (x.itemsize * 4))
    out = np.empty_like(x)
    for start in range(0, x.size, n):
        chunk = cp.asarray(x[start : start + n])
        chunk *= chunk
        out[start : start + n] = cp.log1p(chunk, out=chunk).get()
    return out
