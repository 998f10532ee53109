"""Multiplies in 32 bits, which do not hold the squares of numbers above 46340.

Found: wrong.
"""

from numba import cuda, int32

BASES = (2, 3, 5)


@cuda.jit(device=True)
def power(base, exponent, modulus):
    result = int32(1)
    base = int32(base)
    modulus = int32(modulus)
    base %= modulus
    while exponent > 0:
        if exponent & 1:
            result = int32(int32(result * base) % modulus)
        base = int32(int32(base * base) % modulus)
        exponent >>= 1
    return result


@cuda.jit(device=True)
def witness(a, n):
    d = n - 1
    s = 0
    while d % 2 == 0:
        d //= 2
        s += 1
    v = power(a, d, n)
    if v == 1 or v == n - 1:
        return False
    for _ in range(s - 1):
        v = int32(int32(v * v) % n)
        if v == n - 1:
            return False
    return True


@cuda.jit
def primes_kernel(numbers, is_prime):
    i = cuda.grid(1)
    if i < numbers.size:
        n = numbers[i]
        prime = True
        if n < 2:
            prime = False
        elif n in (2, 3, 5):
            prime = True
        elif n % 2 == 0:
            prime = False
        else:
            for a in BASES:
                if witness(a, n):
                    prime = False
        is_prime[i] = 1 if prime else 0
