"""Needs no GPU.

Found: limit.
"""

import numpy as np


def dot(cp, a, b):
    return float(np.dot(a, b))
