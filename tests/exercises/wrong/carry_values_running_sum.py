"""Takes the oldest number off a sum that goes on, which keeps what rounding cost it.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def three_layers_kernel(x, out):
    i = cuda.grid(1)
    n = x.shape[0]
    if i < x.shape[1] and n > 0:
        above, here = float32(0), x[0, i]
        total = here
        for z in range(n):
            below = x[z + 1, i] if z < n - 1 else float32(0)
            total += below
            out[z, i] = total
            total -= above
            above, here = here, below
