"""Copies the whole recording, and slices last.

Found: limit.
"""


def window_means(cp, signal, starts, length):
    whole = cp.asarray(signal)
    return cp.stack([cp.mean(whole[start : start + length]) for start in starts]).get()
