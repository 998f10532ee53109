"""Steps by the width of a block, so that blocks work twice on the same elements.

Found: race.
"""

from numba import cuda


@cuda.jit
def add_multiple_kernel(factor, x, y):
    for i in range(cuda.grid(1), x.size, cuda.blockDim.x):
        y[i] += factor * x[i]
