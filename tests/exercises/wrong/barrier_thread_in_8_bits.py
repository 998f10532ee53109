"""Keeps the number of a thread in 8 bits.

Found: race.
"""

import numpy as np
from numba import cuda, float32


@cuda.jit
def move_on_kernel(x):
    t = np.int8(cuda.threadIdx.x)
    i = cuda.grid(1)
    start = cuda.blockIdx.x * cuda.blockDim.x
    n = min(cuda.blockDim.x, x.size - start)
    v = float32(0)
    if i < x.size:
        v = x[i]
    cuda.syncthreads()
    if i < x.size:
        x[start + (t + 1) % n] = v
