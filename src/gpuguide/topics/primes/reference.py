"""What the answers are compared with: a sieve made of slices, and published numbers of primes."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine.backends import array_module, cupy, has_gpu
from gpuguide.measure.buffers import first_difference

MAX_LIMIT = 2**30
"""Largest limit; primes below 2**15 are then enough to sieve with."""

COUNTS = {10**4: 1229, 10**6: 78_498, 10**9: 50_847_534}
"""How many primes there are below some limits, as published; they check the reference itself."""


def checked_limit(limit: int) -> int:
    """Return the limit, or say which ones there are."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit <= MAX_LIMIT:
        raise ArgumentError(
            f"The limit must be an integer from 0 to {MAX_LIMIT}; got {limit!r}."
        )
    return limit


def small_primes(upper: int) -> np.ndarray:
    """Return all primes below a number, by the sieve of Eratosthenes.

    Examples
    --------
    >>> small_primes(12).tolist()
    [2, 3, 5, 7, 11]
    """
    is_prime = np.ones(max(upper, 2), bool)
    is_prime[:2] = False
    for number in range(2, upper):
        if is_prime[number]:
            is_prime[number * number :: number] = False
    return np.flatnonzero(is_prime[: max(upper, 0)]).astype(np.int64)


def primes_reference(limit: int, xp: Any = np) -> Any:
    """Say of each odd number below a limit whether it is prime: slow, and easy to see through.

    >>> primes_reference(12).tolist()
    [False, True, True, True, False, True]
    """
    n_odd = limit // 2
    is_prime = xp.ones(n_odd, bool)
    is_prime[:1] = False
    for p in small_primes(isqrt(max(limit - 1, 0)) + 1)[1:].tolist():
        is_prime[p * p // 2 :: p] = False
    return is_prime


class PrimesCheck:
    """Every byte equals that of a sieve with slices, which is checked by the published numbers of primes.

    An answer has a byte for each odd number below the limit, or one for each number.

    >>> check = PrimesCheck()
    >>> check.compare(np.array([False, True, True, True, False]), check.prepare((10,)))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> int:
        """Keep the limit."""
        (limit,) = inputs
        return int(limit)

    def compare(self, output: Any, prepared: int) -> tuple[float, float]:
        """Compare byte for byte, on the GPU where there is one."""
        right = expected(prepared, has_gpu())
        xp = array_module(right)
        # As bytes: an element that nobody wrote would pass for true.
        output = xp.asarray(output).view(xp.uint8)
        if output.size == prepared:
            right = all_numbers(right, prepared, xp)
        if output.shape != right.shape:
            raise MismatchError(
                f"The answer should have shape {right.shape}; it has {output.shape}."
            )
        at = first_difference(output, right.view(xp.uint8))
        if at is None:
            return 0.0, 0.0
        number = at if output.size == prepared else 2 * at + 1
        verdict = {0: "not prime", 1: "prime"}.get(
            int(output[at]), "neither prime nor not prime"
        )
        raise MismatchError(f"It calls {number:,} {verdict}, which is wrong (byte {at:,}).")


def all_numbers(odd: Any, limit: int, xp: Any = np) -> Any:
    """Put the even numbers between the odd ones.

    >>> all_numbers(np.array([False, True]), 5).tolist()
    [False, False, True, True, False]
    """
    is_prime = xp.zeros(limit, bool)
    is_prime[1::2] = odd
    is_prime[2:3] = True
    return is_prime


# Two, for the limit of a study and the smaller one of its exact check.
@lru_cache(maxsize=2)
def expected(limit: int, on_gpu: bool) -> Any:
    """Return the right answer, once its primes were counted."""
    answer = primes_reference(limit, cupy() if on_gpu else np)
    counted, published = int(answer.sum()) + (limit > 2), COUNTS.get(limit)
    if published not in (None, counted):
        raise MismatchError(
            f"The reference counts {counted:,} primes below {limit:,}; {published:,} are known."
        )
    return answer
