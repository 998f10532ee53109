"""Drops the fraction of the limit where that is the answer.

Found: wrong.
"""


def mean_above(limit):
    return (
        (lambda x: (x, 1) if x > limit else (0, 0)),
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        (0, 0),
        (lambda a: a[0] / a[1] if a[1] else int(limit)),
    )
