"""Calls itself once more for each piece.

Found: exception.
"""

from math import sqrt


def pi_in_pieces(draw, n, piece):
    def hits(left):
        if left <= 0:
            return 0
        x, y = draw(min(piece, left))
        t = int((x * x + y * y < 1).sum())
        del x, y
        return t + hits(left - piece)

    p = hits(n) / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
