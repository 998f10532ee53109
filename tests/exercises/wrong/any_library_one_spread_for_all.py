"""Divides all columns by the spread of the first.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    s = xp.std(readings[:, 0], correction=1)
    if s == 0:
        s = xp.ones_like(s)
    return (readings - xp.mean(readings, axis=0)) / s
