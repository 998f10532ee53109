"""Keeps the places in 16 bits, which a long recording does not fit.

Found: wrong, exception.
"""

import numpy as np


def window_means(cp, signal, starts, length):
    at = np.array(starts).astype(np.int16)
    first = int(at.min())
    block = cp.asarray(signal[first : int(at.max()) + length])
    return cp.stack([block[int(s) - first : int(s) - first + length].mean() for s in at]).get()
