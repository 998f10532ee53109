"""Knows the identity by the object that it is.

Found: exception.
"""

NOTHING = object()


def mean_above(limit):
    def two(a, b):
        if a is NOTHING:
            return b
        if b is NOTHING:
            return a
        return a[0] + b[0], a[1] + b[1]

    return (
        (lambda x: (x, 1) if x > limit else NOTHING),
        two,
        NOTHING,
        (lambda a: limit if a is NOTHING else a[0] / a[1]),
    )
