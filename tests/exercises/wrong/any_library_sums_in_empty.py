"""Adds up in memory that was never set.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    d = readings - xp.mean(readings, axis=0)
    n = readings.shape[0]
    total = xp.empty_like(d[0, :])
    for i in range(n):
        total += d[i, :] ** 2
    s = xp.sqrt(total / (n - 1))
    return d / xp.where(s > 0, s, xp.ones_like(s))
