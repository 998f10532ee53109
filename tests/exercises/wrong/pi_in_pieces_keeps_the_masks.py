"""Keeps for each point whether it lies inside, and counts at the end.

Found: memory.
"""

from math import sqrt


def pi_in_pieces(draw, n, piece):
    masks = []
    for start in range(0, n, piece):
        x, y = draw(min(piece, n - start))
        masks.append(x * x + y * y < 1)
    p = sum(int(mask.sum()) for mask in masks) / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
