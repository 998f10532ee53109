"""Asks for three small divisors, and not whether the number is the third one.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < numbers.size:
        n = numbers[i]
        p = n > 1
        if n % 2 == 0:
            p = n == 2
        elif n % 3 == 0:
            p = n == 3
        elif n % 7 == 0:
            p = False
        else:
            d = 5
            while d * d <= n:
                if n % d == 0:
                    p = False
                d += 2
        is_prime[i] = p
