"""Keeps a bit for each point.

Found: memory.
"""

from math import sqrt

import numpy as np


def pi_in_pieces(draw, n, piece):
    kept = []
    for i in range(0, n, piece):
        x, y = draw(min(piece, n - i))
        kept.append(np.packbits(x * x + y * y < 1))
    p = sum(int(np.unpackbits(k).sum()) for k in kept) / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
