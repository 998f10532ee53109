"""Leaves out the threads behind the last whole warp.

Found: wrong.
"""

from numba import cuda, int32


@cuda.jit
def sum_kernel(x, total):
    block_sum = cuda.shared.array(1, int32)
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        block_sum[0] = 0
    cuda.syncthreads()
    if i < x.size and cuda.threadIdx.x < cuda.blockDim.x // 32 * 32:
        cuda.atomic.add(block_sum, 0, x[i])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(total, 0, block_sum[0])
