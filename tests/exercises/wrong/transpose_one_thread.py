"""Moves the matrix with one thread, which is alone in its warp.

Found: limit.
"""

from numba import cuda


@cuda.jit
def transpose_kernel(x, out):
    col, row = cuda.grid(2)
    if row == 0 and col == 0:
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                out[j, i] = x[i, j]
