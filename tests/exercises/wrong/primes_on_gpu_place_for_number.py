"""Tests the place of the number instead of the number.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < numbers.size:
        prime = i > 1
        for divisor in range(2, i // 2 + 1):
            if i % divisor == 0:
                prime = False
                break
        is_prime[i] = 1 if prime else 0
