"""Adds each element to the result with an atomic addition.

Found: limit.
"""

from numba import cuda


@cuda.jit
def block_sums_kernel(x, sums):
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] = 0
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.add(sums, cuda.blockIdx.x, x[i])
