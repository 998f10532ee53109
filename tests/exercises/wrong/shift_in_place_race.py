"""Reads what a neighbour overwrites.

Found: race.
"""

from numba import cuda


@cuda.jit
def move_up_kernel(x):
    for i in range(cuda.threadIdx.x, x.size - 1, cuda.blockDim.x):
        x[i] = x[i + 1]
