import numpy as np


def loudness(cp, x, limit):
    """Return log(1 + x * x) of a long recording."""
    n = limit // (4 * x.itemsize)
    out = np.empty_like(x)
    for start in range(0, len(x), n):
        chunk = cp.asarray(x[start : start + n])  # the old one lives until this one is there
        chunk *= chunk
        chunk += 1
        cp.log(chunk, out=chunk)
        chunk.get(out=out[start : start + n])
    return out
