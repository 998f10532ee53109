"""Calls no number above 20000 a prime.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < numbers.size:
        n = numbers[i]
        prime = n > 1 and n < 20000
        d = 2
        while d * d <= n:
            if n % d == 0:
                prime = False
                break
            d += 1
        is_prime[i] = prime
