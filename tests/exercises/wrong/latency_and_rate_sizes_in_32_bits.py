"""Keeps the sizes in 32 bits.

Found: wrong.
"""

import numpy as np


def latency_and_rate(sizes, times_s):
    n = np.array(sizes).astype(np.uint32)
    slope, latency = np.polyfit(n, times_s, 1, w=1 / np.array(times_s))
    return latency, 1 / slope
