"""Takes the GPU for never slower, unless it is at the smallest size.

Found: wrong.
"""


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=False))
    if not rows or rows[0][2] <= rows[0][1] or rows[-1][2] >= rows[-1][1]:
        return None
    slower = [n for n, c, g in rows if g > c]
    notf = [i for i, (n, c, g) in enumerate(rows) if g >= c]
    return slower[-1], rows[notf[-1] + 1][0]
