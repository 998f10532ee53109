"""Adds up 1000 products at most.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def dot_kernel(a, b, total):
    partial = float32(0)
    for i in range(cuda.grid(1), min(a.size, 1000), cuda.gridsize(1)):
        partial += a[i] * b[i]
    distance = 16
    while distance > 0:
        partial += cuda.shfl_down_sync(0xFFFFFFFF, partial, distance)
        distance //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(total, 0, partial)
