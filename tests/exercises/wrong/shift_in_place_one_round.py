"""Moves the first elements and no others.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def move_up_kernel(x):
    i = cuda.threadIdx.x
    if i < x.size - 1:
        value = x[i + 1]
    cuda.syncthreads()
    if i < x.size - 1:
        x[i] = value
