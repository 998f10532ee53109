"""What the answers are compared with: a sieve made of slices, and published numbers of primes."""

from functools import lru_cache
from math import isqrt

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine.backends import array_module, has_gpu
from gpuguide.measure import cp
from gpuguide.measure.buffers import first_difference

# Largest limit; primes below 2**15 are then enough to sieve with.
MAX_LIMIT = 2**30
# How many primes there are below some limits, as published; they check the reference itself.
COUNTS = {10**4: 1229, 10**6: 78_498, 10**9: 50_847_534}


def checked_limit(limit):
    """Return the limit, or say which ones there are."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit <= MAX_LIMIT:
        raise ArgumentError(
            f"The limit must be an integer from 0 to {MAX_LIMIT}; got {limit!r}."
        )
    return limit


def small_primes(upper):
    """Return all primes below a number, by the sieve of Eratosthenes."""
    is_prime = np.ones(max(upper, 2), bool)
    is_prime[:2] = False
    for number in range(2, upper):
        if is_prime[number]:
            is_prime[number * number :: number] = False
    return np.flatnonzero(is_prime[: max(upper, 0)]).astype(np.int64)


def primes_reference(limit, xp=np):
    """Say of each odd number below a limit whether it is prime: slow, and easy to see through."""
    n_odd = limit // 2
    is_prime = xp.ones(n_odd, bool)
    is_prime[:1] = False
    for p in small_primes(isqrt(max(limit - 1, 0)) + 1)[1:].tolist():
        is_prime[p * p // 2 :: p] = False
    return is_prime


class PrimesCheck:
    """Every byte equals that of a sieve with slices, which is checked by the published numbers of primes."""

    def prepare(self, inputs):
        return int(inputs[0])

    def compare(self, output, prepared):
        right = expected(prepared, has_gpu())
        xp = array_module(right)
        # As bytes: an element that nobody wrote would pass for true.
        output = xp.asarray(output).view(xp.uint8)
        if output.size == prepared:  # a byte for each number, and not only for odd ones
            right = all_numbers(right, prepared, xp)
        at = first_difference(output, right.view(xp.uint8))
        if at is None:
            return 0.0, 0.0
        number = at if output.size == prepared else 2 * at + 1
        verdict = {0: "not prime", 1: "prime"}.get(
            int(output[at]), "neither prime nor not prime"
        )
        raise MismatchError(f"It calls {number:,} {verdict}, which is wrong (byte {at:,}).")


def all_numbers(odd, limit, xp=np):
    """Put the even numbers between the odd ones."""
    is_prime = xp.zeros(limit, bool)
    is_prime[1::2] = odd
    is_prime[2:3] = True
    return is_prime


# Two, for the limit of a study and the smaller one of its exact check.
@lru_cache(maxsize=2)
def expected(limit, on_gpu):
    """Return the right answer, once its primes were counted."""
    answer = primes_reference(limit, cp if on_gpu else np)
    counted, published = int(answer.sum()) + (limit > 2), COUNTS.get(limit)
    if published not in (None, counted):
        raise MismatchError(
            f"The reference counts {counted:,} primes below {limit:,}; {published:,} are known."
        )
    return answer
