"""Weighs by the root of what it should, so that large sizes count for all.

Found: wrong.
"""

import numpy as np


def latency_and_rate(sizes, times_s):
    t = np.array(times_s)
    s = np.array(sizes, float)
    b, a = np.polyfit(s, t, 1, w=1 / np.sqrt(t))
    return a, 1 / b
