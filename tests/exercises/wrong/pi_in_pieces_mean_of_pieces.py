"""Averages the estimates of the pieces, of which the last may be shorter.

Found: wrong.
"""

from math import sqrt


def pi_in_pieces(draw, n, piece):
    shares = []
    for start in range(0, n, piece):
        x, y = draw(min(piece, n - start))
        shares.append((x * x + y * y < 1).mean())
    p = sum(shares) / len(shares)
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
