"""Takes a small spread for none.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    s = xp.std(readings, axis=0, correction=1)
    s = xp.where(s > 1e-6, s, xp.ones_like(s))
    return (readings - xp.mean(readings, axis=0)) / s
