"""Keeps the limit in a name of the module, where the next one takes its place.

Found: wrong.
"""

LIMIT = None


def mean_above(limit):
    global LIMIT
    LIMIT = limit

    def map_one(x):
        return (x, 1) if x > LIMIT else (0, 0)

    def reduce_two(a, b):
        return a[0] + b[0], a[1] + b[1]

    def finish(a):
        return a[0] / a[1] if a[1] else LIMIT

    return map_one, reduce_two, (0, 0), finish
