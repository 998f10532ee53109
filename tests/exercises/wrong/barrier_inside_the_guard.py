"""Waits where threads without an element never come.

Found: divergent_barrier.
"""

from numba import cuda


@cuda.jit
def move_on_kernel(x):
    i = cuda.grid(1)
    start = cuda.blockIdx.x * cuda.blockDim.x
    length = min(cuda.blockDim.x, x.size - start)
    if i < x.size:
        value = x[i]
        cuda.syncthreads()
        x[start + (cuda.threadIdx.x + 1) % length] = value
