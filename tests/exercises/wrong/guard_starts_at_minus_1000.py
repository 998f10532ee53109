"""Begins with a number that is not low enough.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(float32(-1000), a[i], b[i])
