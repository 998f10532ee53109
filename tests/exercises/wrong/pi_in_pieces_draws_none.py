"""Draws no points at the end, where the pieces leave no rest.

Found: exception.
"""

from math import sqrt


def pi_in_pieces(draw, n, piece):
    inside = 0
    for k in range(n // piece + 1):
        x, y = draw(min(piece, n - k * piece))
        inside += int((x * x + y * y < 1).sum())
    p = inside / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
