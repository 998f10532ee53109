"""Adds the difference, which is rounded.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def move_on_kernel(x):
    i = cuda.grid(1)
    start = cuda.blockIdx.x * cuda.blockDim.x
    n = min(cuda.blockDim.x, x.size - start)
    d = float32(0)
    if i < x.size:
        d = x[start + (cuda.threadIdx.x + n - 1) % n] - x[i]
    cuda.syncthreads()
    if i < x.size:
        x[i] += d
