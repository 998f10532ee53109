"""Takes a spread below a threshold for that threshold.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    m = xp.mean(readings, axis=0)
    s = xp.std(readings, axis=0, correction=1)
    s = xp.clip(s, 1e-20, None)
    return (readings - m) / s
