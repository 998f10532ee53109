"""Corrects the standard deviation by a factor of the number of rows."""

import math


def scores(readings):
    xp = readings.__array_namespace__()
    n = readings.shape[0]
    c = readings - xp.mean(readings, axis=0)
    s = xp.std(readings, axis=0) * math.sqrt(n / (n - 1))
    s = xp.where(s > 0, s, xp.ones_like(s))
    return c / s
