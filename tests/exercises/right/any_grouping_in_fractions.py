"""Answers with a fraction."""

from fractions import Fraction


def mean_above(limit):
    return (
        lambda x: (x, 1) if x > limit else (0, 0),
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        (0, 0),
        lambda a: Fraction(a[0], a[1]) if a[1] else limit,
    )
