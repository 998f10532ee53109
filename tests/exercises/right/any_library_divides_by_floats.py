"""Divides columns by Python's own numbers, with which it does not compute."""


def scores(readings):
    xp = readings.__array_namespace__()
    m = xp.mean(readings, axis=0)
    s = xp.std(readings, axis=0, correction=1)
    cols = [(readings[:, j] - m[j]) / (float(s[j]) or 1.0) for j in range(readings.shape[1])]
    return xp.stack(cols, axis=1)
