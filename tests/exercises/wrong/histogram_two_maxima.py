"""Reads and writes by the largest of two numbers, twice.

Found: came_between.
"""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        b = values[i]
        if 0 <= b < counts.size:
            c = cuda.atomic.max(counts, b, 0)
            cuda.atomic.max(counts, b, c + 1)
