"""What every search for primes hands back: a bit for each odd number, and how many primes there are."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, cupy, has_gpu
from gpuguide.measure.buffers import first_difference
from gpuguide.results.records import Traffic

MAX_LIMIT = 2**30
"""Largest limit: the sieves then get along with 32-bit numbers and primes below 2**15."""

COUNTS = {10**4: 1229, 10**6: 78_498, 10**9: 50_847_534}
"""How many primes there are below some limits, as published: what the reference itself is held against."""


def n_words(limit: int) -> int:
    """Count the 32-bit words that have a bit for each odd number below a limit.

    >>> n_words(2), n_words(65), n_words(66), n_words(10**9)
    (1, 1, 2, 15625000)
    """
    return -(-(limit // 2) // 32)


def answer_spec(limit: int, dtype: Any = None) -> tuple[tuple[int], np.dtype[Any]]:
    """Return shape and dtype of an answer: the words, and a last one with the number of primes.

    >>> answer_spec(10**4)
    ((158,), dtype('uint32'))
    """
    return (n_words(limit) + 1,), np.dtype(np.uint32)


def checked_limit(limit: int, out: Any) -> int:
    """Return the limit, or say what does not fit."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit <= MAX_LIMIT:
        raise ArgumentError(
            f"The limit must be an integer from 0 to {MAX_LIMIT}; got {limit!r}."
        )
    shape, dtype = answer_spec(limit)
    launch.check(out=out, shape=shape, dtype=dtype.name)
    return limit


def store_primes(primes: Any, limit: int, out: np.ndarray) -> None:
    """Write a list of primes as an answer."""
    numbers = np.asarray(primes, np.int64)
    flags = np.zeros(32 * n_words(limit), np.uint8)
    flags[numbers[numbers > 2] // 2] = 1
    out[:-1] = np.packbits(flags, bitorder="little").view(np.uint32)
    out[-1] = numbers.size


def listed_primes(out: Any) -> np.ndarray:
    """Return the primes that an answer stands for."""
    host = out.get() if hasattr(out, "get") else np.asarray(out)
    odd = 2 * np.flatnonzero(np.unpackbits(host[:-1].view(np.uint8), bitorder="little")) + 1
    return np.concatenate([[2], odd])[: int(host[-1])]


def small_primes(upper: int) -> np.ndarray:
    """Return all primes below a number, by the sieve of Eratosthenes.

    Parameters
    ----------
    upper : int
        One more than the largest number that is looked at.

    Returns
    -------
    ndarray of int64, shape (k,)
        In increasing order.

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
    """Sieve with slices, a byte for each odd number: slow, and easy to see through.

    >>> primes_reference(10).tolist()
    [14, 4]
    """
    n_odds = limit // 2
    flags = xp.zeros(32 * n_words(limit), xp.uint8)
    flags[1:n_odds] = 1
    for p in small_primes(isqrt(max(limit - 1, 0)) + 1)[1:].tolist():
        flags[p * p // 2 : n_odds : p] = 0
    answer = xp.empty(n_words(limit) + 1, xp.uint32)
    answer[:-1] = xp.packbits(flags, bitorder="little").view(xp.uint32)
    answer[-1] = int(flags.sum(dtype=xp.int64)) + (limit > 2)
    return answer


class PrimesCheck:
    """Every bit and the number of primes equal those of a sieve with slices.

    That sieve runs on the GPU where there is one. Below 10**4, 10**6 and 10**9 it is itself held against
    the published number of primes.

    >>> check = PrimesCheck()
    >>> check.compare(np.array([14, 4], np.uint32), check.prepare((10,)))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> int:
        """Keep the limit."""
        (limit,) = inputs
        return int(limit)

    def expected(self, limit: int) -> Any:
        """Return the right answer."""
        return _expected(limit, has_gpu())

    def compare(self, output: Any, prepared: int) -> tuple[float, float]:
        """Compare bit for bit."""
        expected = self.expected(prepared)
        output = array_module(expected).asarray(output)
        if output.shape != expected.shape:
            raise MismatchError(
                f"The answer should have shape {expected.shape}; it has {output.shape}."
            )
        at = first_difference(output, expected)
        if at is None:
            return 0.0, 0.0
        got, right = int(output[at]), int(expected[at])
        if at == len(expected) - 1:
            raise MismatchError(
                f"It counts {got:,} primes below {prepared:,}; there are {right:,}."
            )
        # The lowest bit that differs.
        bit = ((got ^ right) & -(got ^ right)).bit_length() - 1
        number, verdict = 64 * at + 2 * bit + 1, "prime" if got >> bit & 1 else "not prime"
        raise MismatchError(f"It calls {number:,} {verdict}, which is wrong (word {at:,}).")


# Two, for the limit of a study and the smaller one of its exact check.
@lru_cache(maxsize=2)
def _expected(limit: int, on_gpu: bool) -> Any:
    answer = primes_reference(limit, cupy() if on_gpu else np)
    counted, published = int(answer[-1]), COUNTS.get(limit)
    if published not in (None, counted):
        raise MismatchError(
            f"The reference counts {counted:,} primes below {limit:,}; {published:,} are known."
        )
    return answer


def primes_traffic(limit: int, dtype: Any) -> Traffic:
    """Count the bytes that must move: the answer is written once, and nothing has to be read."""
    return Traffic(bytes_read=0, bytes_written=4 * (n_words(limit) + 1))
