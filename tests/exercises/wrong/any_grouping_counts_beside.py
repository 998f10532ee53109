"""Counts in a variable of its own, which other readings change, too.

Found: wrong.
"""


def mean_above(limit):
    n = 0

    def map_one(x):
        nonlocal n
        n += x > limit
        return x if x > limit else 0

    def finish(a):
        return a / n if n else limit

    return map_one, lambda a, b: a + b, 0, finish
