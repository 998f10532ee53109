"""Calls the shuffle where some threads of the warp no longer come.

Found: missing_lane.
"""

from numba import cuda


@cuda.jit
def dot_kernel(a, b, total):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        partial = a[i] * b[i]
        for distance in (16, 8, 4, 2, 1):
            partial += cuda.shfl_down_sync(0xFFFFFFFF, partial, distance)
        if cuda.laneid == 0:
            cuda.atomic.add(total, 0, partial)
