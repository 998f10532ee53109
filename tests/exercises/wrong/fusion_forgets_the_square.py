"""Multiplies the difference by its weight, once.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def weighted_square_kernel(x, y, weight, out):
    i = cuda.grid(1)
    if i < out.size:
        difference = x[i] - y[i]
        out[i] = difference * weight[i]
