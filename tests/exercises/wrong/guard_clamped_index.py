"""Sends all threads without an element to the last one, and there may be none.

Found: out_of_range.
"""

from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    i = min(cuda.grid(1), out.size - 1)
    out[i] = max(a[i], b[i])
