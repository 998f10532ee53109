"""Brings the elements into shared memory, with room for the largest block."""

from numba import cuda, float32


@cuda.jit
def move_up_kernel(x):
    tile = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    for base in range(0, x.size, cuda.blockDim.x):
        i = base + t
        if i + 1 < x.size:
            tile[t] = x[i + 1]
        cuda.syncthreads()
        if i + 1 < x.size:
            x[i] = tile[t]
        cuda.syncthreads()
