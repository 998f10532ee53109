"""Takes four neighbours at a time.

Found: uncoalesced.
"""

from numba import cuda


@cuda.jit
def add_multiple_kernel(factor, x, y):
    for start in range(4 * cuda.grid(1), x.size, 4 * cuda.gridsize(1)):
        for i in range(start, min(start + 4, x.size)):
            y[i] += factor * x[i]
