"""Keeps the places in 16 bits without a sign.

Found: wrong, exception.
"""

import numpy as np


def window_means(cp, signal, starts, length):
    a = min(starts)
    g = cp.asarray(signal[a : max(starts) + length])
    offs = [int(np.uint16(s)) - int(np.uint16(a)) for s in starts]
    return cp.stack([g[o : o + length].mean() for o in offs]).get()
