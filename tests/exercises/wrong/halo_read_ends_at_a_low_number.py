"""Takes a low number for a neighbour that does not exist.

Found: wrong.
"""

from numba import cuda

LOW = -1e30


@cuda.jit
def widen_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        left = LOW
        right = LOW
        if i > 0:
            left = x[i - 1]
        if i < x.size - 1:
            right = x[i + 1]
        out[i] = max(x[i], left, right)
