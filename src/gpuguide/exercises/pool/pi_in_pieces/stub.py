from math import sqrt


def pi_in_pieces(draw, n, piece):
    """Return an estimate of pi by n random points, and its standard error."""
    shares = []
    for _ in range(n // piece):
        x, y = draw(piece)
        shares.append(float((x * x + y * y < 1).mean()))
    p = sum(shares) / len(shares)
    return 4 * p, 4 * sqrt(p * (1 - p) / piece)
