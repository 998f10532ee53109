"""Lets the identity count as a reading.

Found: wrong.
"""


def mean_above(limit):
    def map_one(x):
        return (x, 1) if x > limit else (0, 0)

    def reduce_two(a, b):
        return a[0] + b[0], a[1] + b[1]

    def finish(a):
        return a[0] / a[1] if a[1] else limit

    return map_one, reduce_two, (0, 1), finish
