"""A number far beyond what a GPU has, which must not keep the check busy.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < numbers.size:
        is_prime[i] = 10**10**9 % (numbers[i] + 1)
