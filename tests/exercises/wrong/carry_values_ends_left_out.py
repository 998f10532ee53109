"""Leaves the first and the last layer alone.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def three_layers_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[1] and x.shape[0] > 2:
        above, here = x[0, i], x[1, i]
        for z in range(1, x.shape[0] - 1):
            below = x[z + 1, i]
            out[z, i] = above + here + below
            above, here = here, below
