"""The search for primes on the CPU: trial division, and a sieve in segments as Numba compiles it."""

from functools import cache

import numpy as np
from numba import njit, prange

SEGMENT = 2**17  # odd numbers of a segment, one byte each: it stays in the L2 cache of a core


def find_primes(upper):
    """Return all primes below a number, by trying every divisor up to half of each.

    >>> find_primes(12)
    [2, 3, 5, 7, 11]
    """
    all_primes = []
    for i in range(2, upper):
        for j in range(2, i // 2 + 1):
            if i % j == 0:
                break
        else:
            all_primes.append(i)
    return all_primes


@cache
def compiled_find_primes():
    """Return `find_primes` as @njit makes it, the same each time, so that it is compiled once.

    >>> compiled_find_primes()(12)
    [2, 3, 5, 7, 11]
    """
    return njit(find_primes)


@njit
def odd_primes(root):
    """List the odd primes up to a root, by a small sieve."""
    is_prime = np.ones((root + 1) // 2, np.bool_)
    for step in range(3, root + 1, 2):
        if step * step <= root and is_prime[step // 2]:
            is_prime[step * step // 2 :: step] = False
    return 2 * np.flatnonzero(is_prime)[1:] + 1


@njit
def sieve_segment(low, steps, segment):
    """Sieve one segment of odd numbers; `low` is the place of its first."""
    segment[:] = True
    for step in steps:
        first = step * step // 2 - low
        for i in range(first if first >= 0 else first % step, segment.size, step):
            segment[i] = False


@njit
def sieve_alone(root, is_prime):
    """Sieve in one piece on one thread, for limits that are not worth more."""
    sieve_segment(0, odd_primes(root), is_prime)
    is_prime[0] = False


@njit(parallel=True)
def sieve_parallel(root, is_prime):
    """Share the segments out among all threads."""
    steps = odd_primes(root)
    for k in prange((is_prime.size + SEGMENT - 1) // SEGMENT):
        sieve_segment(k * SEGMENT, steps, is_prime[k * SEGMENT : (k + 1) * SEGMENT])
    is_prime[0] = False
