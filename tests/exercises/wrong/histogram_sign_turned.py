"""Turns the sign to find negative values; that of the least number cannot be turned.

Found: out_of_range.
"""

from numba import cuda, int32


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        v = values[i]
        neg = int32(-v)
        if neg <= 0 and v < counts.size:
            cuda.atomic.add(counts, v, 1)
