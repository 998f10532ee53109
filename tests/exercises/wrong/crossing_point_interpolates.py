"""Draws a line between two measured sizes and says where it crosses.

Found: wrong.
"""

from itertools import pairwise


def crossing_point(sizes, cpu_s, gpu_s):
    rows = sorted(zip(sizes, cpu_s, gpu_s, strict=True))
    for (a, cpu_a, gpu_a), (b, cpu_b, gpu_b) in pairwise(rows):
        if gpu_a > cpu_a and gpu_b < cpu_b:
            share = (gpu_a - cpu_a) / ((gpu_a - cpu_a) + (cpu_b - gpu_b))
            return a + share * (b - a)
    return None
