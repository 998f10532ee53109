"""Writes the step as a sieve for primes would, so that the last one stays.

Found: race, wrong.
"""

from numba import cuda


@cuda.jit
def factor_kernel(factors):
    step = 2 * cuda.blockIdx.y + 3
    first = step * step // 2
    for i in range(first + step * cuda.grid(1), factors.size, step * cuda.gridsize(1)):
        factors[i] = step
