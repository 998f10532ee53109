"""Counts the points of a piece in 16 bits.

Found: exception.
"""

from math import sqrt

import numpy as np


def pi_in_pieces(draw, n, piece):
    inside = 0
    for start in range(0, n, piece):
        x, y = draw(min(piece, n - start))
        inside += int((x * x + y * y < 1).sum(dtype=np.int16))
    p = inside / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
