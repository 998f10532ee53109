"""Takes the root of each variance with a function of Python.

Found: wrong.
"""

import math


def scores(readings):
    xp = readings.__array_namespace__()
    out = []
    n = readings.shape[0]
    for j in range(readings.shape[1]):
        c = readings[:, j]
        d = c - xp.mean(c)
        s = math.sqrt(float(xp.sum(d * d)) / (n - 1))
        out.append(d / s if s else d)
    return xp.stack(out, axis=1)
