"""Adds up in an array of whole numbers, which cuts the fractions off.

Found: wrong.
"""

from numba import cuda, float32, int32


@cuda.jit
def block_sums_kernel(x, sums):
    part = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)
    half = cuda.blockDim.x // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            part[t] += part[t + half]
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
