"""Finds the sizes by the times, which may stand in several rows.

Found: wrong.
"""


def crossing_point(sizes, cpu_s, gpu_s):
    size = dict(zip(zip(cpu_s, gpu_s, strict=False), sizes, strict=False))
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=False))
    slower = [n for n, c, g in rows if g > c]
    notf = [i for i, (n, c, g) in enumerate(rows) if g >= c]
    if not slower or notf[-1] + 1 >= len(rows):
        return None
    return size[rows[[n for n, *_ in rows].index(slower[-1])][1:]], size[rows[notf[-1] + 1][1:]]
