"""Sorts the rows, unless there are two.

Found: wrong.
"""


def crossing_point(sizes, cpu_s, gpu_s):
    rows = list(zip(sizes, cpu_s, gpu_s, strict=False))
    if len(rows) > 2:
        rows.sort()
    slower = [n for n, c, g in rows if g > c]
    notf = [i for i, (n, c, g) in enumerate(rows) if g >= c]
    if not slower or notf[-1] + 1 >= len(rows):
        return None
    return slower[-1], rows[notf[-1] + 1][0]
