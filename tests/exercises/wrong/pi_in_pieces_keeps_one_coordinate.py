"""Keeps one coordinate of all points, as plain arrays.

Found: memory.
"""

from math import sqrt

import numpy as np


def pi_in_pieces(draw, n, piece):
    inside, heights = 0, []
    for start in range(0, n, piece):
        x, y = draw(min(piece, n - start))
        heights.append(np.asarray(y))
        inside += int((x * x + y * y < 1).sum())
    p = inside / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
