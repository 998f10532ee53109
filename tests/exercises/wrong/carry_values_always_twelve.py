"""Makes twelve turns, however many layers there are.

Found: limit.
"""

from numba import cuda, float32


@cuda.jit
def three_layers_kernel(x, out):
    i = cuda.grid(1)
    n = x.shape[0]
    if i < x.shape[1] and n > 0:
        above = float32(0)
        here = x[0, i]
        for z in range(12):
            if z < n:
                below = float32(0)
                if z < n - 1:
                    below = x[z + 1, i]
                out[z, i] = above + here + below
                above, here = here, below
