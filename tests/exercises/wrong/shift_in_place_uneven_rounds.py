"""Waits in a loop that some threads leave a round earlier.

Found: missed_barrier, divergent_barrier.
"""

from numba import cuda


@cuda.jit
def move_up_kernel(x):
    for i in range(cuda.threadIdx.x, x.size - 1, cuda.blockDim.x):
        value = x[i + 1]
        cuda.syncthreads()
        x[i] = value
