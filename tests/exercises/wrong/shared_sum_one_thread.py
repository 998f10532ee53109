"""Lets all threads look at their elements, and one add up the block's.

Found: limit.
"""

from numba import cuda


@cuda.jit
def sum_kernel(x, total):
    i = cuda.grid(1)
    element = x[i] if i < x.size else 0
    if cuda.threadIdx.x == 0:
        for k in range(i + 1, min(i + cuda.blockDim.x, x.size)):
            element += x[k]
        cuda.atomic.add(total, 0, element)
