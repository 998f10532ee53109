from math import sqrt


def pi_in_pieces(draw, n, piece):
    """Return an estimate of pi by n random points, and its standard error."""
    inside = 0
    for start in range(0, n, piece):
        x, y = draw(min(piece, n - start))
        inside += int((x * x + y * y < 1).sum())
    p = inside / n
    return 4 * p, 4 * sqrt(p * (1 - p) / n)
