"""Reads the value from memory each time that it is needed.

Found: limit.
"""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size and values[i] >= 0 and values[i] < counts.size:
        cuda.atomic.add(counts, values[i], 1)
