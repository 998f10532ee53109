"""Has the mask of a piece still at hand while the next piece is drawn."""

from math import sqrt


def pi_in_pieces(draw, n, piece):
    total = 0
    for start in range(0, n, piece):
        m = min(piece, n - start)
        x, y = draw(m)
        mask = x * x + y * y < 1
        total += int(mask.sum())
    p = total / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
