"""Leaves shared memory as it is where there is no element.

Found: uninitialised.
"""

from numba import cuda, float32


@cuda.jit
def block_sums_kernel(x, sums):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < x.size:
        part[t] = x[i]
    half = cuda.blockDim.x // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            part[t] += part[t + half]
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
