"""Cuts values to sixteen bits, so that large ones find a bin.

Found: wrong.
"""

from numba import cuda, int16


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        v = int16(values[i])
        if 0 <= v < counts.size:
            cuda.atomic.add(counts, v, 1)
