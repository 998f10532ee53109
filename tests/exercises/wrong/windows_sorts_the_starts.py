"""Sorts the caller's list to find where the first window and the last one begin.

Found: input_changed.
"""


def window_means(cp, signal, starts, length):
    order = list(starts)
    starts.sort()
    first = starts[0]
    part = cp.asarray(signal[first : starts[-1] + length])
    return cp.stack([cp.mean(part[at - first : at - first + length]) for at in order]).get()
