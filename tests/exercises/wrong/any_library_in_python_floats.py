"""Computes with Python's numbers, which are float64.

Found: wrong.
"""

import math


def scores(readings):
    xp = readings.__array_namespace__()
    n, k = readings.shape
    out = xp.zeros_like(readings)
    for j in range(k):
        values = [float(readings[i, j]) for i in range(n)]
        mean = sum(values) / n
        s = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
        for i in range(n):
            out[i, j] = (values[i] - mean) / s if s > 0 else 0.0
    return out
