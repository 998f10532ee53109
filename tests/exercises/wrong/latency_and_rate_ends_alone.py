"""Draws a line through the smallest and the largest row.

Found: wrong.
"""


def latency_and_rate(sizes, times_s):
    p = sorted(zip(sizes, times_s, strict=True))
    (a, ta), (b, tb) = p[0], p[-1]
    slope = (tb - ta) / (b - a)
    return ta - slope * a, 1 / slope
