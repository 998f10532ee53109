"""Takes a fifth of the limit for each chunk."""

import numpy as np


def loudness(cp, x, limit):
    out = np.empty_like(x)
    n = limit // x.itemsize // 5
    i = 0
    while i < len(x):
        d = cp.asarray(x[i : i + n])
        out[i : i + n] = cp.asnumpy(cp.log(d * d + 1))
        i += n
    return out
