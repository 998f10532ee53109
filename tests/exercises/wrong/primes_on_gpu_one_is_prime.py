"""Calls 0 and 1 prime, since they have no divisor from 2 up.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < numbers.size:
        is_prime[i] = 1
        for divisor in range(2, numbers[i] // 2 + 1):
            if numbers[i] % divisor == 0:
                is_prime[i] = 0
                break
