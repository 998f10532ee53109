"""Takes the part of the last block for full.

Found: out_of_range.
"""

from numba import cuda


@cuda.jit
def move_on_kernel(x):
    i = cuda.grid(1)
    start = cuda.blockIdx.x * cuda.blockDim.x
    if i < x.size:
        value = x[i]
    cuda.syncthreads()
    if i < x.size:
        x[start + (cuda.threadIdx.x + 1) % cuda.blockDim.x] = value
