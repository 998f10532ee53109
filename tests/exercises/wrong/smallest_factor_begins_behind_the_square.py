"""Begins behind the square, so that 9, 25 and 49 stay.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def factor_kernel(factors):
    step = 2 * cuda.blockIdx.y + 3
    first = step * step // 2 + step
    for i in range(first + step * cuda.grid(1), factors.size, step * cuda.gridsize(1)):
        cuda.atomic.min(factors, i, step)
