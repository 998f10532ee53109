"""Multiplies the smaller value by zero, which makes NaN of infinity.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        p = float32(a[i] > b[i])
        out[i] = p * a[i] + (1 - p) * b[i]
