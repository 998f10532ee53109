"""Lets threads without an element work, too.

Found: out_of_range.
"""

from numba import cuda


@cuda.jit
def weighted_square_kernel(x, y, weight, out):
    i = cuda.grid(1)
    difference = x[i] - y[i]
    out[i] = difference * difference * weight[i]
