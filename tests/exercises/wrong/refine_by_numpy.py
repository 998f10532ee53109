"""Leaves everything to a solver in double precision.

Found: limit.
"""

import numpy as np


def refine(solve, a, b):
    return np.linalg.solve(a, b)
