"""Asks for the whole inverse in one call, which is a solution for each of its columns.

Found: exception.
"""

import numpy as np


def refine(solve, a, b):
    inverse = solve(a.astype(np.float32), np.eye(len(b), dtype=np.float32)).astype(np.float64)
    x = np.zeros_like(b)
    for _ in range(9):
        x += inverse @ (b - a @ x)
    return x
