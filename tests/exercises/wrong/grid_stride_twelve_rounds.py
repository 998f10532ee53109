"""Goes twelve rounds, however few elements there are.

Found: limit.
"""

from numba import cuda


@cuda.jit
def add_multiple_kernel(factor, x, y):
    i = cuda.grid(1)
    for _ in range(12):
        if i < x.size:
            y[i] += factor * x[i]
        i += cuda.gridsize(1)
