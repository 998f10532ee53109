"""Moves magnitudes.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def move_up_kernel(x):
    for start in range(0, x.size - 1, cuda.blockDim.x):
        i = start + cuda.threadIdx.x
        value = abs(x[min(i + 1, x.size - 1)])
        cuda.syncthreads()
        if i < x.size - 1:
            x[i] = value
