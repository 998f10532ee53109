"""Draws one point at a time, which is right and takes for ever.

Found: wrong.
"""

from math import sqrt


def pi_in_pieces(draw, n, piece):
    inside = 0
    for _ in range(n):
        x, y = draw(1)
        inside += int((x * x + y * y < 1).sum())
    p = inside / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
