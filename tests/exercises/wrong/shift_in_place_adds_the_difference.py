"""Adds the difference, which is rounded.

Found: wrong.
"""

from numba import cuda, float32


@cuda.jit
def move_up_kernel(x):
    for s in range(0, x.size, cuda.blockDim.x):
        i = s + cuda.threadIdx.x
        d = float32(0)
        if i + 1 < x.size:
            d = x[i + 1] - x[i]
        cuda.syncthreads()
        if i + 1 < x.size:
            x[i] += d
