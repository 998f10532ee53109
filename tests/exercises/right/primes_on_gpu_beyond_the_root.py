"""Searches beyond the root, in fewer turns than are allowed."""

from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < numbers.size:
        n = numbers[i]
        d = 2
        while d < n and d < 7900 and n % d:
            d += 1
        is_prime[i] = n > 1 and (d >= n or d == 7900)
