"""Divides by the standard deviation of a sensor that always reads the same.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    return (readings - xp.mean(readings, axis=0)) / xp.std(readings, axis=0, correction=1)
