"""Cuts the sign off, which makes bins of the least numbers.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        v = values[i] & 0x7FFFFFFF
        if v < counts.size:
            cuda.atomic.add(counts, v, 1)
