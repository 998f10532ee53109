"""Subtracts the square of the mean from the mean of squares, which leaves no digits far from zero.

Found: wrong.
"""


def scores(readings):
    xp = readings.__array_namespace__()
    n = readings.shape[0]
    mean = xp.mean(readings, axis=0)
    variance = (xp.mean(readings * readings, axis=0) - mean * mean) * n / (n - 1)
    spread = xp.sqrt(xp.where(variance > 0, variance, xp.ones_like(variance)))
    return (readings - mean) / spread
