"""Adds up in 16 bits.

Found: wrong.
"""

import numpy as np


def mean_above(limit):
    def map_one(x):
        return np.array([x, 1]).astype(np.int16) if x > limit else np.zeros(2, np.int16)

    def finish(a):
        return float(a[0] / a[1]) if a[1] else limit

    return map_one, lambda a, b: a + b, np.zeros(2, np.int16), finish
