"""Asks for the library, and then calls methods that its arrays do not have.

Found: exception.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    centred = readings - readings.mean(axis=0)
    spread = xp.std(readings, axis=0, correction=1)
    return centred / xp.where(spread > 0, spread, xp.ones_like(spread))
