"""Copies each piece into arrays of all points.

Found: memory.
"""

from math import sqrt

import numpy as np


def pi_in_pieces(draw, n, piece):
    xs, ys = np.empty(n), np.empty(n)
    for i in range(0, n, piece):
        xs[i : i + piece], ys[i : i + piece] = draw(min(piece, n - i))
    p = float((xs * xs + ys * ys < 1).mean())
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
