"""Takes the first 1000 elements alone.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size and i < 1000:
        out[i] = max(a[i], b[i])
