"""Keeps the indices of all points that lie inside, and counts them at the end.

Found: memory.
"""

from math import sqrt

import numpy as np


def pi_in_pieces(draw, n, piece):
    idx = []
    for i in range(0, n, piece):
        x, y = draw(min(piece, n - i))
        idx.append(np.flatnonzero(x * x + y * y < 1) + i)
    p = np.concatenate(idx).size / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
