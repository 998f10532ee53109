"""Takes the first size at which the GPU is ahead, in order, and not whether that lasts.

Found: wrong.
"""

from itertools import pairwise


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=True))
    for (before, cpu_before, gpu_before), (size, cpu, gpu) in pairwise(rows):
        if gpu_before >= cpu_before and gpu < cpu:
            return before, size
    return None
