"""Compares in single precision, in which near times are equal.

Found: wrong.
"""

import numpy as np


def crossing_point(sizes, cpu_s, gpu_s):
    slower_at = faster_at = None
    for i in sorted(range(len(sizes)), key=sizes.__getitem__):
        cpu, gpu = np.float32(cpu_s[i]), np.float32(gpu_s[i])
        if gpu < cpu:
            if faster_at is None:
                faster_at = sizes[i]
        else:
            faster_at = None
            if gpu > cpu:
                slower_at = sizes[i]
    return None if None in (slower_at, faster_at) else (slower_at, faster_at)
