"""Subtracts the mean in the caller's array by an operator.

Found: input_changed.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    readings -= xp.mean(readings, axis=0)
    s = xp.std(readings, axis=0, correction=1)
    return readings / xp.where(s > 0, s, xp.ones_like(s))
