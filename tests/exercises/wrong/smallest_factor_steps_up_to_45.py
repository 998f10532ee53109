"""Leaves out steps beyond 45.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def factor_kernel(factors):
    step = 2 * cuda.blockIdx.y + 3
    if step <= 45:
        for i in range(step * step // 2 + step * cuda.grid(1), factors.size, step * cuda.gridsize(1)):
            cuda.atomic.min(factors, i, step)
