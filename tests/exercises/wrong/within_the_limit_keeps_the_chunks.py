"""Keeps all chunks on the GPU until the end.

Found: memory.
"""

import numpy as np


def loudness(cp, x, limit):
    n = max(1, limit // (8 * x.itemsize))
    parts = []
    for start in range(0, len(x), n):
        chunk = cp.asarray(x[start : start + n])
        chunk *= chunk
        chunk += 1
        parts.append(cp.log(chunk, out=chunk))
    return np.concatenate([part.get() for part in parts])
