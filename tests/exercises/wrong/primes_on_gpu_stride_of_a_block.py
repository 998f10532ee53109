"""Strides by a block, so that each block goes through all numbers.

Found: limit.
"""

from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    for i in range(cuda.threadIdx.x, numbers.size, cuda.blockDim.x):
        n = numbers[i]
        d = 2
        while d * d <= n and n % d:
            d += 1
        is_prime[i] = n > 1 and d * d > n
