"""A part of one element is left alone, by the whole block."""

from numba import cuda


@cuda.jit
def move_on_kernel(x):
    i = cuda.grid(1)
    start = cuda.blockIdx.x * cuda.blockDim.x
    length = min(cuda.blockDim.x, x.size - start)
    if length < 2:
        return
    if i < x.size:
        mine = x[i]
    cuda.syncthreads()
    if i < x.size:
        x[start + (cuda.threadIdx.x + 1) % length] = mine
