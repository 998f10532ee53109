"""Reads x[-1], which Numba takes for the last element.

Found: negative_index.
"""

from numba import cuda


@cuda.jit
def widen_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        right = x[i + 1] if i + 1 < x.size else x[i]
        out[i] = max(x[i - 1], x[i], right)
