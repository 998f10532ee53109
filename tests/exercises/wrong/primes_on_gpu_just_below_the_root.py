"""Leaves out 2221, the largest divisor that is needed.

Found: wrong.
"""

from numba import cuda

LIMIT = 2221


@cuda.jit
def primes_kernel(numbers, is_prime):
    for i in range(cuda.grid(1), numbers.size, cuda.gridsize(1)):
        n = numbers[i]
        if n < 2:
            is_prime[i] = 0
        elif n == 2:
            is_prime[i] = 1
        elif n % 2 == 0:
            is_prime[i] = 0
        else:
            for d in range(3, min(n, LIMIT), 2):
                if n % d == 0:
                    is_prime[i] = 0
                    break
            else:
                is_prime[i] = 1
