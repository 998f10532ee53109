"""Adds one to the spread of a sensor that always reads the same."""


def scores(readings):
    xp = readings.__array_namespace__()
    d = readings - xp.mean(readings, axis=0)
    s = xp.std(readings, axis=0, correction=1)
    s = s + xp.astype(s == 0, s.dtype)
    return d / s
