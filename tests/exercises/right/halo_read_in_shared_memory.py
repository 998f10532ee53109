"""Brings a block's elements and their neighbours into shared memory, with room for the largest block."""

from numba import cuda, float32


@cuda.jit
def widen_kernel(x, out):
    tile = cuda.shared.array(258, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    n = x.size
    if i < n:
        tile[t + 1] = x[i]
        if t == 0 and i > 0:
            tile[0] = x[i - 1]
        if t == cuda.blockDim.x - 1 and i + 1 < n:
            tile[t + 2] = x[i + 1]
    cuda.syncthreads()
    if i < n:
        m = tile[t + 1]
        if i > 0:
            m = max(m, tile[t])
        if i + 1 < n:
            m = max(m, tile[t + 2])
        out[i] = m
