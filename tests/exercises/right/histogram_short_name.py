"""Gives the atomic addition a name of its own."""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    add = cuda.atomic.add
    i = cuda.grid(1)
    if i < values.size:
        v = values[i]
        if 0 <= v < counts.size:
            add(counts, v, 1)
