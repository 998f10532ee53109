"""Rounds the times to nanoseconds.

Found: wrong.
"""


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted((n, round(c * 1e9), round(g * 1e9)) for n, c, g in zip(sizes, cpu_s, gpu_s, strict=False))
    slower = [n for n, c, g in rows if g > c]
    notf = [i for i, (n, c, g) in enumerate(rows) if g >= c]
    if not slower or notf[-1] + 1 >= len(rows):
        return None
    return slower[-1], rows[notf[-1] + 1][0]
