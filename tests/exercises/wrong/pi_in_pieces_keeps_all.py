"""Keeps all points, although they do not fit into memory.

Found: memory.
"""

from math import sqrt


def pi_in_pieces(draw, n, piece):
    pts = [draw(min(piece, n - s)) for s in range(0, n, piece)]
    inside = sum(int((x * x + y * y < 1).sum()) for x, y in pts)
    p = inside / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
