"""Draws points without end, because nothing counts those that are drawn.

Found: endless.
"""

from math import sqrt


def pi_in_pieces(draw, n, piece):
    inside, done = 0, 0
    while done != n:
        x, y = draw(min(piece, n - done))
        inside += int((x * x + y * y < 1).sum())
    p = inside / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
