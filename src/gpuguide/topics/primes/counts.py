"""How much work each rung does, counted exactly on the host."""

from math import isqrt

import numpy as np

from gpuguide.topics.primes.kernels import SEGMENT
from gpuguide.topics.primes.reference import small_primes


def smallest_divisors(limit):
    """Return the smallest prime that divides each number below a limit; 0 for primes, for 0 and for 1.

    >>> smallest_divisors(10).tolist()
    [0, 0, 0, 0, 2, 0, 2, 0, 2, 3]
    """
    smallest = np.zeros(limit, np.int32)
    # Downwards, so that the smallest one has the last word.
    for p in small_primes(isqrt(max(limit - 1, 0)) + 1)[::-1].tolist():
        smallest[p * p :: p] = p
    return smallest


def turns_thread_per_number(limit):
    """Count the divisions of each thread: up to a divisor, or to half of a prime."""
    numbers, divisor = np.arange(limit), smallest_divisors(limit)
    return np.where(divisor > 0, divisor - 1, np.maximum(numbers // 2 - 1, 0))


def turns_odd_numbers(limit):
    """Count the divisions of each thread, by odd divisors of odd numbers."""
    odd, divisor = np.arange(1, limit, 2), smallest_divisors(limit)[1::2]
    return np.where(divisor > 0, divisor // 2, np.maximum((odd // 2 - 1) // 2, 0))


def turns_to_square_root(limit):
    """Count the divisions of each thread when it stops at the square root."""
    odd, divisor = np.arange(1, limit, 2), smallest_divisors(limit)[1::2]
    return np.where(divisor > 0, divisor // 2, (np.sqrt(odd).astype(np.int64) - 1) // 2)


def divisions(turns):
    """Add up the divisions of all threads."""
    return int(turns.sum())


def warp_steps(turns):
    """Add up the turns of each warp's slowest thread: the warp is busy until that one is done."""
    warps = np.pad(turns, (0, -turns.size % 32)).reshape(-1, 32)
    return int(warps.max(axis=1).sum())


def marks(limit):
    """Count the multiples that all primes up to the square root cross off, each from its square on."""
    steps = small_primes(isqrt(max(limit - 1, 0)) + 1)[1:]
    return int(((limit // 2 - steps * steps // 2 + steps - 1) // steps).sum())


def segments(limit):
    """Count the segments, each of which has a block."""
    return -(-(limit // 2) // SEGMENT)
