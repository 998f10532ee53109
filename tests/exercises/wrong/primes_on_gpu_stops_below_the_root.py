"""Leaves out the root itself, so that 4, 9 and 25 look prime.

Found: wrong.
"""

from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < numbers.size:
        number = numbers[i]
        prime = number > 1
        divisor = 2
        while prime and divisor * divisor < number:
            prime = number % divisor != 0
            divisor += 1
        is_prime[i] = 1 if prime else 0
