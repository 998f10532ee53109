"""Gives names of its own to parts of cuda, several at once and one after the other."""

from numba import cuda, int32


@cuda.jit
def sum_kernel(x, total):
    gpu = cuda
    atomic, shared, meet = cuda.atomic, gpu.shared, gpu.syncthreads
    add = atomic.add
    block_sum = shared.array(shape=1, dtype=int32)
    i, is_first = gpu.grid(1), gpu.threadIdx.x == 0
    if is_first:
        block_sum[0] = 0
    meet()
    if i < x.size:
        add(block_sum, 0, x[i])
    n_added = gpu.syncthreads_count(predicate=int32(i < x.size))
    if not (is_first and n_added):
        return None  # noqa: RET501
    add(total, 0, block_sum[0])
