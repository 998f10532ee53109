"""Compares the first reading with the second and the last alone.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    flat = (readings[0, :] == readings[1, :]) & (readings[0, :] == readings[-1, :])
    s = xp.std(readings, axis=0, correction=1)
    q = (readings - xp.mean(readings, axis=0)) / xp.where(flat, xp.ones_like(s), s)
    return xp.where(flat, xp.zeros_like(q), q)
