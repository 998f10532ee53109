"""The first half of the threads adds two elements each."""

from numba import cuda, int32


@cuda.jit
def sum_kernel(x, total):
    block_sum = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        block_sum[0] = 0
    cuda.syncthreads()
    half = (x.size + 1) // 2
    i = cuda.grid(1)
    if i < half:
        value = x[i]
        if i + half < x.size:
            value += x[i + half]
        cuda.atomic.add(block_sum, 0, value)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(total, 0, block_sum[0])
