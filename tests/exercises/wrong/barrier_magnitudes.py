"""Moves magnitudes.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def move_on_kernel(x):
    i = cuda.grid(1)
    start = cuda.blockIdx.x * cuda.blockDim.x
    length = min(cuda.blockDim.x, x.size - start)
    if i < x.size:
        value = abs(x[i])
    cuda.syncthreads()
    if i < x.size:
        x[start + (cuda.threadIdx.x + 1) % length] = value
