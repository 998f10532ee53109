"""Forgives a GPU that is a little slower.

Found: wrong.
"""


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=True))
    slower = [r[0] for r in rows if r[2] > 1.05 * r[1]]
    block = [r[0] for r in rows if r[2] >= r[1]]
    if not rows or rows[-1][2] >= rows[-1][1] or not slower:
        return None
    return slower[-1], min(r[0] for r in rows if r[0] > block[-1])
