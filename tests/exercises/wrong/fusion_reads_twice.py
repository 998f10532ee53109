"""Writes once, but reads each element twice.

Found: limit.
"""

from numba import cuda


@cuda.jit
def weighted_square_kernel(x, y, weight, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (x[i] - y[i]) * (x[i] - y[i]) * weight[i]
