"""Looks before it writes, but another thread may write in between.

Found: race, wrong.
"""

from numba import cuda


@cuda.jit
def factor_kernel(factors):
    step = 2 * cuda.blockIdx.y + 3
    first = step * step // 2
    for i in range(first + step * cuda.grid(1), factors.size, step * cuda.gridsize(1)):
        factors[i] = min(factors[i], step)
