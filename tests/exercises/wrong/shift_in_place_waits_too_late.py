"""Waits after the round, when it has happened.

Found: race.
"""

from numba import cuda


@cuda.jit
def move_up_kernel(x):
    for start in range(0, x.size - 1, cuda.blockDim.x):
        i = start + cuda.threadIdx.x
        if i < x.size - 1:
            x[i] = x[i + 1]
        cuda.syncthreads()
