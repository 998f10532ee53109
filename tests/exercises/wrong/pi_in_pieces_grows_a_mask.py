"""Joins the mask of each piece to those before.

Found: memory.
"""

from math import sqrt

import numpy as np


def pi_in_pieces(draw, n, piece):
    mask = np.array([], dtype=bool)
    for i in range(0, n, piece):
        x, y = draw(min(piece, n - i))
        mask = np.concatenate([mask, x * x + y * y < 1])
    p = mask.mean()
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
