"""Looks at the last 20 bits of a value alone.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        v = values[i] & 0xFFFFF
        if v < counts.size:
            cuda.atomic.add(counts, v, 1)
