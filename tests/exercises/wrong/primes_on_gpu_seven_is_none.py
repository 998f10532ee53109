"""Takes 7 for no prime, as it divides itself.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < numbers.size:
        n = numbers[i]
        if n in (2, 3, 5):
            is_prime[i] = 1
        elif n < 8 or n % 2 == 0 or n % 3 == 0 or n % 5 == 0:
            is_prime[i] = 0
        else:
            d = 7
            while d * d <= n and n % d != 0:
                d += 2
            is_prime[i] = 1 if d * d > n else 0
