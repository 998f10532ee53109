"""Tries three powers, which no product below 25 million passes."""

from numba import cuda

BASES = (2, 3, 5)


@cuda.jit(device=True)
def power(base, exponent, modulus):
    result = 1
    base %= modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
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
        v = v * v % n
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
