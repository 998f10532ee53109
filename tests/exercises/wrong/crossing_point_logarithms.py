"""Compares logarithms, which are equal where times differ in the last digit.

Found: wrong.
"""

from math import log


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted((n, log(c) - log(g)) for n, c, g in zip(sizes, cpu_s, gpu_s, strict=True))
    bad = [i for i, (_, d) in enumerate(rows) if d <= 0]
    slow = [n for n, d in rows if d < 0]
    if not slow or bad[-1] == len(rows) - 1:
        return None
    return slow[-1], rows[bad[-1] + 1][0]
