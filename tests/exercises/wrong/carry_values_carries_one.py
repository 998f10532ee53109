"""Carries the number above, and loads two in each turn.

Found: limit.
"""

from numba import cuda, float32


@cuda.jit
def three_layers_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[1]:
        above = float32(0)
        for z in range(x.shape[0]):
            here = x[z, i]
            below = x[z + 1, i] if z < x.shape[0] - 1 else float32(0)
            out[z, i] = above + here + below
            above = here
