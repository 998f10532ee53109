"""Counts in sixteen bits.

Found: exception.
"""

from math import sqrt

import numpy as np


def pi_in_pieces(draw, n, piece):
    inside = np.int16(0)
    for s in range(0, n, piece):
        x, y = draw(min(piece, n - s))
        inside += (x * x + y * y < 1).sum(dtype=np.int16)
    p = float(inside) / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
