"""Reads by an atomic and writes by a plain store.

Found: race.
"""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        value = values[i]
        if 0 <= value < counts.size:
            counts[value] = cuda.atomic.add(counts, value, 0) + 1
