"""Counts on all 32 lanes of a warp, of which the last may have fewer.

Found: missing_lane.
"""

from numba import cuda, int32


@cuda.jit
def sum_kernel(x, total):
    queue = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        queue[0] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    v = x[i] if i < x.size else int32(0)
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
    if cuda.threadIdx.x % 32 == 0:
        cuda.atomic.add(queue, 0, v)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(total, 0, queue[0])
