"""Sorts the caller's list, and returns the means in the order of the places.

Found: input_changed.
"""


def window_means(cp, signal, starts, length):
    starts.sort()
    first = starts[0]
    part = cp.asarray(signal[first : starts[-1] + length])
    return cp.stack([cp.mean(part[at - first : at - first + length]) for at in starts]).get()
