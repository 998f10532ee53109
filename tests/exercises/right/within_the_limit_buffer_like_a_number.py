"""Sends one number, and makes a buffer of its type."""

import numpy as np


def loudness(cp, x, limit):
    n = max(1, limit // x.itemsize // 2)
    buffer = cp.empty_like(cp.asarray(x[:1]), shape=n)
    out = np.empty_like(x)
    for i in range(0, len(x), n):
        d = buffer[: len(x) - i]
        d.set(x[i : i + n])
        d *= d
        d += 1
        cp.log(d, out=d)
        d.get(out=out[i : i + n])
    return out
