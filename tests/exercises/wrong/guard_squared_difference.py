"""Asks whether a square is above zero, which that of a small difference is not.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        s = a[i] - b[i]
        out[i] = a[i] if s * s > 0 and s > 0 else b[i]
