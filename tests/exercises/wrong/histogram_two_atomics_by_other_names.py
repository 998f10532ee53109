"""Reads and writes by two atomics, which have names of their own.

Found: came_between.
"""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    i, atomic = cuda.grid(1), cuda.atomic
    read, write = atomic.add, atomic.exch
    if i < values.size:
        b = values[i]
        if 0 <= b < counts.size:
            write(counts, b, read(counts, b, 0) + 1)
