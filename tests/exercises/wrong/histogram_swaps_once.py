"""Compares and swaps, but does not try again if another thread came in between.

Found: came_between.
"""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        value = values[i]
        if 0 <= value < counts.size:
            count = counts[value]
            cuda.atomic.cas(counts, value, count, count + 1)
