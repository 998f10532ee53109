"""Writes nothing at the two ends.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def widen_kernel(x, out):
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        out[i] = max(x[i - 1], x[i], x[i + 1])
