"""Fits the line to seconds, so that only the longest copies count.

Found: wrong.
"""

import numpy as np


def latency_and_rate(sizes, times_s):
    slope, latency_s = np.polyfit(np.array(sizes, dtype=float), times_s, 1)
    return float(latency_s), float(1 / slope)
