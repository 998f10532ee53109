"""Hands on the mean and the count, but forgets to weigh the means by them.

Found: wrong.
"""


def mean_above(limit):
    def map_one(x):
        return (x, 1) if x > limit else (0, 0)

    def reduce_two(a, b):
        if not a[1] or not b[1]:
            return a if a[1] else b
        return (a[0] + b[0]) / 2, a[1] + b[1]

    def finish(a):
        return float(a[0])

    return map_one, reduce_two, (0, 0), finish
