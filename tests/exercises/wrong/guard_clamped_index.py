"""Sends all threads without an element to the last one.

Found: race.
"""

from numba import cuda


@cuda.jit
def maximum_kernel(a, b, out):
    i = min(cuda.grid(1), out.size - 1)
    out[i] = max(a[i], b[i])
