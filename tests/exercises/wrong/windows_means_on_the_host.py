"""Lets NumPy work the means out, and sends them there and back.

Found: limit.
"""

import numpy as np


def window_means(cp, signal, starts, length):
    means = np.array([signal[s : s + length].mean() for s in starts], np.float32)
    return cp.asarray(means).get()
