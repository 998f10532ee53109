"""Takes 0 for a neighbour that does not exist.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def widen_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        m = x[i]
        left = float32(0)
        right = float32(0)
        if i > 0:
            left = x[i - 1]
        if i + 1 < x.size:
            right = x[i + 1]
        if left != 0 and left > m:
            m = left
        if right != 0 and right > m:
            m = right
        out[i] = m
