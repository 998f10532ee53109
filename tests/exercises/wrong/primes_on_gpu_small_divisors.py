"""Tries the first few primes only.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < numbers.size:
        number = numbers[i]
        prime = number > 1
        for divisor in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61):
            if number != divisor and number % divisor == 0:
                prime = False
        is_prime[i] = 1 if prime else 0
