"""Reads atomically and swaps, but does not try again if another thread came in between.

Found: came_between.
"""

from numba import cuda


@cuda.jit
def factor_kernel(factors):
    step = 2 * cuda.blockIdx.y + 3
    for i in range(step * step // 2 + step * cuda.grid(1), factors.size, step * cuda.gridsize(1)):
        old = cuda.atomic.add(factors, i, 0)
        if step < old:
            cuda.atomic.cas(factors, i, old, step)
