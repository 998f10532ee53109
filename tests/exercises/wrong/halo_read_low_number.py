"""Takes a low number for a neighbour that does not exist; float32 goes lower.

Found: wrong.
"""

from numba import cuda, float32

LOWEST = -3.4e38


@cuda.jit
def widen_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        left = x[i - 1] if i > 0 else float32(LOWEST)
        right = x[i + 1] if i + 1 < x.size else float32(LOWEST)
        out[i] = max(left, x[i], right)
