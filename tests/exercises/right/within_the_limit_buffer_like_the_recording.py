"""Makes a buffer like the recording, of a shape of its own."""

import numpy as np


def loudness(cp, x, limit):
    n = max(1, limit // x.itemsize // 2)
    buffer = cp.empty_like(x, shape=(min(n, len(x)),)) if len(x) else None
    out = np.empty_like(x)
    for i in range(0, len(x), n):
        d = buffer[: len(x) - i]
        d.set(x[i : i + n])
        d *= d
        d += 1
        cp.log(d, out=d)
        d.get(out=out[i : i + n])
    return out
