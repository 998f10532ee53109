"""Copies there and back, and works the means out on the host.

Found: limit.
"""

import numpy as np


def window_means(cp, signal, starts, length):
    lo, hi = min(starts), max(starts) + length
    d = cp.asarray(signal[lo:hi]).get()
    return np.array([d[s - lo : s - lo + length].mean() for s in starts], np.float32)
