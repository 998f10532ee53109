"""Sorts a list of its own, and gathers all windows at once."""

import numpy as np


def window_means(cp, signal, starts, length):
    order = sorted(starts)
    part = cp.asarray(signal[order[0] : order[-1] + length])
    places = np.array(starts)[:, None] - order[0] + np.arange(length)
    out = cp.empty(len(starts), np.float32)
    for k, row in enumerate(places):
        out[k] = part[int(row[0]) : int(row[-1]) + 1].mean()
    return cp.asnumpy(out)
