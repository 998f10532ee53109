"""Takes half precision on the way, which drops digits.

Found: wrong.
"""

from numba import cuda, float32, types


@cuda.jit
def add_multiple_kernel(factor, x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] += float32(types.float16(factor)) * float32(types.float16(x[i]))
