"""Draws all points at once, for which there is no room.

Found: memory.
"""

from math import sqrt


def pi_in_pieces(draw, n, piece):
    x, y = draw(n)
    p = float((x * x + y * y < 1).mean())
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
