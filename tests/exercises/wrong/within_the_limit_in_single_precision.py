"""Computes in single precision, which needs half the memory, whatever the recording has.

Found: wrong.
"""

import numpy as np


def loudness(cp, x, limit):
    n = max(1, limit // (4 * x.itemsize))
    out = np.empty_like(x)
    for start in range(0, len(x), n):
        chunk = cp.asarray(x[start : start + n].astype(np.float32))
        chunk *= chunk
        chunk += 1
        cp.log(chunk, out=chunk)
        out[start : start + n] = chunk.get()
    return out
