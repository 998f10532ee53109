"""Adds with a single thread, which is always coalesced.

Found: limit.
"""

from numba import cuda


@cuda.jit
def add_multiple_kernel(factor, x, y):
    if cuda.grid(1) == 0:
        for i in range(x.size):
            y[i] += factor * x[i]
