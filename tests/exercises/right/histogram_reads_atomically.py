"""Reads by an atomic, and swaps until nobody else came in between."""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        b = values[i]
        if 0 <= b < counts.size:
            done = False
            while not done:
                c = cuda.atomic.max(counts, b, 0)
                done = cuda.atomic.cas(counts, b, c, c + 1) == c
