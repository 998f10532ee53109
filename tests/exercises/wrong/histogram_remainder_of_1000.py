"""Takes the remainder of a value for the value.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def histogram_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        v = values[i] % 1000
        if v < counts.size:
            cuda.atomic.add(counts, v, 1)
