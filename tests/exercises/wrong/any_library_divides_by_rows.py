"""Leaves the correction at 0, the standard's default.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    centred = readings - xp.mean(readings, axis=0)
    spread = xp.std(readings, axis=0)
    return centred / xp.where(spread > 0, spread, xp.ones_like(spread))
