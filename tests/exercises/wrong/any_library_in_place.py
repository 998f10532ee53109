"""Subtracts the mean in the caller's array.

Found: input_changed.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    spread = xp.std(readings, axis=0, correction=1)
    readings[:, :] = readings - xp.mean(readings, axis=0)
    return readings / xp.where(spread > 0, spread, xp.ones_like(spread))
