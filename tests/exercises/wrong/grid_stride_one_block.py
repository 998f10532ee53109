"""Only the first block works, through all of the array.

Found: race, wrong.
"""

from numba import cuda


@cuda.jit
def add_multiple_kernel(factor, x, y):
    if cuda.blockIdx.x > 0:
        return
    for i in range(cuda.threadIdx.x, x.size, 32):
        y[i] += factor * x[i]
