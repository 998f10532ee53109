"""Adds up pairwise, in as much shared memory as the largest block of the statement needs."""

from numba import cuda, int32


@cuda.jit
def sum_kernel(x, total):
    part = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    left = cuda.blockDim.x
    while left > 1:
        half = (left + 1) // 2
        if t + half < left:
            part[t] += part[t + half]
        cuda.syncthreads()
        left = half
    if t == 0:
        cuda.atomic.add(total, 0, part[0])
