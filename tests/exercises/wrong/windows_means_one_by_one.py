"""Copies once, but fetches each mean by itself.

Found: limit.
"""

import numpy as np


def window_means(cp, signal, starts, length):
    first = min(starts)
    part = cp.asarray(signal[first : max(starts) + length])
    means = [float(cp.mean(part[start - first : start - first + length])) for start in starts]
    return np.array(means, dtype=np.float32)
