"""Makes one array like the first piece, for the squares of all."""

from math import sqrt

import numpy as np


def pi_in_pieces(draw, n, piece):
    inside, squares = 0, None
    for start in range(0, n, piece):
        m = min(piece, n - start)
        x, y = draw(m)
        squares = np.empty_like(x) if squares is None else squares
        np.multiply(x, x, out=squares[:m])
        y *= y
        squares[:m] += y
        inside += np.sum(squares[:m] < 1)
    p = inside / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
