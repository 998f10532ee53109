"""Takes a spread for none that is a millionth of the mean.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    m = xp.mean(readings, axis=0)
    s = xp.std(readings, axis=0, correction=1)
    return (readings - m) / xp.where(s > 1e-6 * xp.abs(m), s, xp.ones_like(s))
