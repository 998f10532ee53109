"""Compares multiples, for which large values leave no room.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        if a[i] * float32(1e38) > b[i] * float32(1e38):
            out[i] = a[i]
        else:
            out[i] = b[i]
