"""Takes the other end for the missing neighbour.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def widen_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max(x[(i + x.size - 1) % x.size], x[i], x[(i + 1) % x.size])
