"""Loops over an array.

Found: exception.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    out = []
    for col in readings.T:
        out.append(col - xp.mean(col))
    return xp.stack(out, axis=1)
