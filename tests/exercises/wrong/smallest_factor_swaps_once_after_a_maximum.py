"""Reads by an atomic maximum with 0 and swaps, but does not try again.

Found: came_between.
"""

from numba import cuda


@cuda.jit
def factor_kernel(factors):
    step = 2 * cuda.blockIdx.y + 3
    for i in range(step * step // 2 + step * cuda.grid(1), factors.size, step * cuda.gridsize(1)):
        seen = cuda.atomic.max(factors, i, 0)
        if seen > step:
            cuda.atomic.cas(factors, i, seen, step)
