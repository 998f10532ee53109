"""Counts in a variable of its own and sets it to zero in the end, which is right for one list at a time.

Found: wrong.
"""


def mean_above(limit):
    n = 0

    def map_one(x):
        nonlocal n
        n += x > limit
        return x if x > limit else 0

    def finish(a):
        nonlocal n
        mean = a / n if n else limit
        n = 0
        return mean

    return map_one, lambda a, b: a + b, 0, finish
