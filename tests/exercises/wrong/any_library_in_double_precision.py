"""Works in float64, whatever the readings are.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    x = xp.astype(readings, xp.float64)
    m = xp.mean(x, axis=0)
    s = xp.std(x, axis=0, correction=1)
    return xp.astype((x - m) / xp.where(s > 0, s, xp.ones_like(s)), readings.dtype)
