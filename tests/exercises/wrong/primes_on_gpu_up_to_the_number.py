"""Tries all divisors up to the number itself.

Found: limit.
"""

from numba import cuda


@cuda.jit(device=True)
def check(n):
    if n < 2:
        return 0
    for d in range(2, n):
        if n % d == 0:
            return 0
    return 1


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < len(numbers):
        is_prime[i] = check(numbers[i])
