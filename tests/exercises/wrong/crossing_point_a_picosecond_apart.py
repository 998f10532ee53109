"""Lets times that differ by a picosecond be equal.

Found: wrong.
"""


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=False))
    e = 1e-12
    slower = [n for n, c, g in rows if g > c + e]
    notf = [i for i, (n, c, g) in enumerate(rows) if g > c - e]
    if not slower or notf[-1] + 1 >= len(rows):
        return None
    return slower[-1], rows[notf[-1] + 1][0]
