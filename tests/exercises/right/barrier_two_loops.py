"""Loads and stores in loops, each of one turn."""

from numba import cuda, float32


@cuda.jit
def move_on_kernel(x):
    saved = cuda.shared.array(256, float32)
    start = cuda.blockIdx.x * cuda.blockDim.x
    end = min(start + cuda.blockDim.x, x.size)
    for i in range(start + cuda.threadIdx.x, end, cuda.blockDim.x):
        saved[i - start] = x[i]
    cuda.syncthreads()
    for i in range(start + cuda.threadIdx.x, end, cuda.blockDim.x):
        x[i] = saved[i - start - 1] if i > start else saved[end - start - 1]
