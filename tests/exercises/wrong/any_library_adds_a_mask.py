"""Adds booleans to numbers, which the standard leaves open.

Found: exception.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    m = xp.mean(readings, axis=0)
    s = xp.std(readings, axis=0, correction=1)
    s = s + (s == 0)
    return (readings - m) / s
