"""Keeps the block of a recording on the GPU, by its identity.

Found: wrong.
"""

kept = {}


def window_means(cp, signal, starts, length):
    a, z = min(starts), max(starts) + length
    key = (id(signal), a, z)
    if key not in kept:
        kept[key] = cp.asarray(signal[a:z])
    g = kept[key]
    return cp.stack([g[s - a : s - a + length].mean() for s in starts]).get()
