"""Cuts numbers to sixteen bits.

Found: wrong.
"""

from numba import cuda, int16


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < numbers.size:
        n = int16(numbers[i])
        p = n > 1
        d = 2
        while d * d <= n:
            if n % d == 0:
                p = False
                break
            d += 1
        is_prime[i] = p
