"""Leaves the GPU alone.

Found: limit.
"""

import numpy as np


def loudness(cp, x, limit):
    return np.log(1 + x * x)
