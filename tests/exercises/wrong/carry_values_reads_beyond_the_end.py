"""Loads the layer below the last one.

Found: out_of_range.
"""

from numba import cuda, float32


@cuda.jit
def three_layers_kernel(x, out):
    i = cuda.grid(1)
    if x.shape[0] and i < x.shape[1]:
        above, here = float32(0), x[0, i]
        for z in range(x.shape[0]):
            below = x[z + 1, i]
            out[z, i] = above + here + below
            above, here = here, below
