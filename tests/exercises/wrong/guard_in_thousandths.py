"""Compares whole thousandths.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        p = int(a[i] * 1000)
        q = int(b[i] * 1000)
        out[i] = a[i] if p > q else b[i]
