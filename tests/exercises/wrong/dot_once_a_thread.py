"""Adds up a thread, but not over the warp.

Found: limit.
"""

from numba import cuda, float32


@cuda.jit
def dot_kernel(a, b, total):
    partial = float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        partial += a[i] * b[i]
    cuda.atomic.add(total, 0, partial)
