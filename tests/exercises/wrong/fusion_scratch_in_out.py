"""Keeps the difference in a register, and the square in out.

Found: limit.
"""

from numba import cuda


@cuda.jit
def weighted_square_kernel(x, y, weight, out):
    i = cuda.grid(1)
    if i < out.size:
        difference = x[i] - y[i]
        out[i] = difference * difference
        out[i] *= weight[i]
