"""One thread of each row walks all multiples.

Found: limit.
"""

from numba import cuda


@cuda.jit
def factor_kernel(factors):
    step = 2 * cuda.blockIdx.y + 3
    if cuda.grid(1) == 0:
        for i in range(step * step // 2, factors.size, step):
            cuda.atomic.min(factors, i, step)
