"""Compares whole picoseconds.

Found: wrong.
"""


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted(
        (n, float(c) * 1e12 // 1, float(g) * 1e12 // 1) for n, c, g in zip(sizes, cpu_s, gpu_s, strict=False)
    )
    slower = [n for n, c, g in rows if g > c]
    notf = [i for i, (n, c, g) in enumerate(rows) if g >= c]
    if not slower or notf[-1] + 1 >= len(rows):
        return None
    return slower[-1], rows[notf[-1] + 1][0]
