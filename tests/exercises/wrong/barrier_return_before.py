"""Sends threads without an element home before the barrier.

Found: missed_barrier.
"""

from numba import cuda


@cuda.jit
def move_on_kernel(x):
    i = cuda.grid(1)
    if i >= x.size:
        return
    start = cuda.blockIdx.x * cuda.blockDim.x
    length = min(cuda.blockDim.x, x.size - start)
    value = x[i]
    cuda.syncthreads()
    x[start + (cuda.threadIdx.x + 1) % length] = value
