"""Returns NumPy's integers."""

import numpy as np


def blocks_per_grid(shape, threads_per_block):
    n = np.array(shape[::-1])
    t = np.array(threads_per_block)
    b = np.maximum(1, -(-n // t))
    if t.prod() > 1024 or (t.size > 2 and t[2] > 64) or b[0] > 2**31 - 1 or (b[1:] > 65535).any():
        raise ValueError("limits")
    return tuple(b)
