"""Fills one mask of all points, a piece at a time.

Found: memory.
"""

from math import sqrt

import numpy as np


def pi_in_pieces(draw, n, piece):
    mask = np.empty(n, bool)
    for i in range(0, n, piece):
        x, y = draw(min(piece, n - i))
        mask[i : i + piece] = x * x + y * y < 1
    p = float(mask.mean())
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
