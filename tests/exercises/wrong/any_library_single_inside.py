"""Divides in single precision.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    centred = readings - xp.mean(readings, axis=0)
    spread = xp.std(readings, axis=0, correction=1)
    spread = xp.where(spread > 0, spread, xp.ones_like(spread))
    return xp.astype(xp.astype(centred, xp.float32) / xp.astype(spread, xp.float32), readings.dtype)
