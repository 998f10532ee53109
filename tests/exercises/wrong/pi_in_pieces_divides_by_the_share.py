"""Works out the error relative to the estimate, which may be 0.

Found: exception.
"""

from math import sqrt


def pi_in_pieces(draw, n, piece):
    inside = 0
    for start in range(0, n, piece):
        x, y = draw(min(piece, n - start))
        inside += int((x * x + y * y < 1).sum())
    p = inside / n
    return 4 * p, 4 * p * sqrt((1 - p) / (p * n))
