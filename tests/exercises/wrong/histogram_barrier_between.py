"""Waits for its block between a read and a write, but not for the other blocks.

Found: came_between.
"""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.grid(1)
    value = values[i] if i < values.size else -1
    count = 0
    if 0 <= value < counts.size:
        count = cuda.atomic.add(counts, value, 0)
    cuda.syncthreads()
    if 0 <= value < counts.size:
        cuda.atomic.max(counts, value, count + 1)
