"""Writes nothing where both values are equal.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        if a[i] > b[i]:
            out[i] = a[i]
        elif b[i] > a[i]:
            out[i] = b[i]
