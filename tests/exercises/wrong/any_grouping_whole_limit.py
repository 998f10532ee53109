"""Drops the fraction of the limit.

Found: wrong.
"""


def mean_above(limit):
    whole = int(limit)

    def finish(a):
        return a[0] / a[1] if a[1] else limit

    return (
        (lambda x: (x, 1) if x > whole else (0, 0)),
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        (0, 0),
        finish,
    )
