"""Keeps for each point, in a list, whether it lies inside.

Found: memory.
"""

from math import sqrt


def pi_in_pieces(draw, n, piece):
    inside = []
    for i in range(0, n, piece):
        x, y = draw(min(piece, n - i))
        inside.extend(x * x + y * y < 1)
    p = sum(inside) / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
