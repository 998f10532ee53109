"""Takes times for equal that differ by less than the epsilon of floats near one.

Found: wrong.
"""

import sys


def crossing_point(sizes, cpu_s, gpu_s):
    e = sys.float_info.epsilon
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=True))
    bad = [i for i, (_, c, g) in enumerate(rows) if g - c >= -e]
    slow = [n for n, c, g in rows if g - c > e]
    if not slow or bad[-1] == len(rows) - 1:
        return None
    return slow[-1], rows[bad[-1] + 1][0]
