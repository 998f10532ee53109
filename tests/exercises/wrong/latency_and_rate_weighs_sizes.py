"""Divides by the sizes and not by the times, so that only the shortest copies count.

Found: wrong.
"""

import numpy as np


def latency_and_rate(sizes, times_s):
    n = np.array(sizes, dtype=float)
    slope, latency_s = np.polyfit(n, times_s, 1, w=1 / n)
    return float(latency_s), float(1 / slope)
