"""Cuts off the beginning, and then slices at the old places.

Found: exception, wrong.
"""


def window_means(cp, signal, starts, length):
    part = cp.asarray(signal[min(starts) : max(starts) + length])
    return cp.stack([cp.mean(part[start : start + length]) for start in starts]).get()
