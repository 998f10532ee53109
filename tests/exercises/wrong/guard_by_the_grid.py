"""Asks whether the thread is in the grid, which it always is.

Found: out_of_range.
"""

from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < cuda.gridsize(1):
        out[i] = max(a[i], b[i])
