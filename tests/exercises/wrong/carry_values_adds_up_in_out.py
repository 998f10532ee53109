"""Loads each number once, and adds it to three sums in memory.

Found: limit.
"""

from numba import cuda


@cuda.jit
def three_layers_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[1]:
        for z in range(x.shape[0]):
            here = x[z, i]
            if z == 0:
                out[z, i] = here
            else:
                out[z, i] += here
                out[z - 1, i] += here
            if z < x.shape[0] - 1:
                out[z + 1, i] = here
