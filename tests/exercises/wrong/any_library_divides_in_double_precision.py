"""Divides in float64, the type that ones have if none is given.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    m = xp.mean(readings, axis=0)
    s = xp.std(readings, axis=0, correction=1)
    return xp.astype((readings - m) / xp.where(s > 0, s, xp.ones(s.shape)), readings.dtype)
