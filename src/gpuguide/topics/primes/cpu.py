"""The CPU's side of the sieve: segments in the L1 cache, on all threads; and primesieve, where it is."""

from __future__ import annotations

import ctypes
from ctypes.util import find_library
from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange

from gpuguide.errors import BackendError
from gpuguide.topics.primes.bits import checked_limit

THREADS = int(get_num_threads())
SEGMENT = 2**18
"""Odd numbers of a segment: their bits take 32 KiB, which fits into the L1 cache of a core."""
WHEEL_WORDS = 3 * 5 * 7 * 11
# No size of the study: both of its checks must call, and compile, the same loop.
ALONE_BELOW = 50_000
NO_PRIMESIEVE = "primesieve is not installed; on Debian: apt install libprimesieve-dev"


@njit
def odd_primes(least: int, root: int) -> np.ndarray:
    """List the odd primes from one number to another, by a small sieve."""
    is_prime = np.ones(root // 2 + 1, np.bool_)
    for step in range(3, root + 1, 2):
        if step * step <= root and is_prime[step // 2]:
            is_prime[step * step // 2 :: step] = False
    odd = 2 * np.flatnonzero(is_prime[: (root + 1) // 2]) + 1
    return odd[odd >= least].astype(np.uint64)


@njit
def sieve_words(low: int, n_odds: int, primes: np.ndarray, words: np.ndarray) -> int:
    """Cross off in the words of one segment; return how many primes are left."""
    end = np.uint64(min(n_odds - low, 32 * words.size))  # unsigned: no test for below 0
    for p in primes:
        first = np.int64(p * p) // 2 - low
        if first < 0:
            first %= np.int64(p)
        i = np.uint64(first)
        while i < end:
            words[i >> np.uint64(5)] &= ~np.uint32(np.uint64(1) << (i & np.uint64(31)))
            i += p
    if end < np.uint64(32 * words.size):
        words[-1] &= np.uint32((1 << (n_odds & 31)) - 1)
    found = 0
    for word in words:
        x = word - ((word >> np.uint32(1)) & np.uint32(0x55555555))
        x = (x & np.uint32(0x33333333)) + ((x >> np.uint32(2)) & np.uint32(0x33333333))
        x = (x + (x >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
        found += int(np.uint32(x * np.uint32(0x01010101)) >> np.uint32(24))
    return found


@njit
def sieve_alone(limit: int, root: int, out: np.ndarray) -> None:
    """Sieve in one piece on one thread, for limits that are not worth more."""
    words = out[:-1]
    words[:] = np.uint32(0xFFFFFFFF)
    words[0] = np.uint32(0xFFFFFFFE)  # 1 is no prime
    out[-1] = 1 + sieve_words(0, limit // 2, odd_primes(3, root), words)


@njit(parallel=True)
def sieve_parallel(limit: int, root: int, out: np.ndarray) -> None:
    """Share the segments out among all threads; each begins as a copy of the wheel."""
    primes = odd_primes(13, root)
    wheel = np.full(WHEEL_WORDS, 0xFFFFFFFF, np.uint32)
    period = 32 * WHEEL_WORDS
    sieve_words(period, 2 * period, odd_primes(3, 11), wheel)
    n_segments = (limit // 2 + SEGMENT - 1) // SEGMENT
    found = 1
    for k in prange(n_segments):
        words = out[k * SEGMENT // 32 : min((k + 1) * SEGMENT // 32, out.size - 1)]
        for w in range(words.size):
            words[w] = wheel[(k * SEGMENT // 32 + w) % WHEEL_WORDS]
        if k == 0:
            words[0] = (words[0] | np.uint32(0x2E)) & np.uint32(0xFFFFFFFE)
        found += sieve_words(k * SEGMENT, limit // 2, primes, words)
    out[-1] = found


def primes_cpu(limit: int, out: np.ndarray) -> None:
    """Sieve segments on all CPU threads, a bit for each odd number, and count them.

    Parameters
    ----------
    limit : int
        One more than the largest number that is looked at.
    out : ndarray of uint32, shape (n_words(limit) + 1,)
        Filled with an answer, see `gpuguide.topics.primes.bits`.

    Raises
    ------
    ArgumentError
        The limit is out of range, or the array does not fit it.

    Examples
    --------
    >>> out = np.zeros(2, np.uint32)
    >>> primes_cpu(10, out)
    >>> out.tolist()
    [14, 4]
    """
    if checked_limit(limit, out) < 3:
        out[:] = 0
        return
    sieve = sieve_alone if limit < ALONE_BELOW else sieve_parallel
    sieve(limit, isqrt(limit - 1), out)


@lru_cache(maxsize=1)
def primesieve() -> Any:
    """Load the library primesieve by Kim Walisch, if it is installed.

    Returns
    -------
    ctypes.CDLL or None
        None where it is missing.

    Examples
    --------
    >>> library = primesieve()
    >>> library is None or library.primesieve_count_primes(0, 100) == 25
    True
    """
    path = find_library("primesieve")
    if path is None:
        return None
    library = ctypes.CDLL(path)
    library.primesieve_count_primes.argtypes = (ctypes.c_uint64, ctypes.c_uint64)
    library.primesieve_count_primes.restype = ctypes.c_uint64
    library.primesieve_set_num_threads.argtypes = (ctypes.c_int,)
    return library


def count_by_primesieve(limit: int, out: np.ndarray) -> None:
    """Count with primesieve on all threads; it keeps no list.

    Parameters
    ----------
    limit : int
        One more than the largest number that is looked at; at least 1.
    out : ndarray of uint32, shape (1,)
        How many primes there are.

    Raises
    ------
    BackendError
        primesieve is not installed.

    Examples
    --------
    >>> out = np.zeros(1, np.uint32)
    >>> if primesieve() is not None:
    ...     count_by_primesieve(100, out)
    """
    out[0] = _library(THREADS).primesieve_count_primes(0, limit - 1)


def count_by_primesieve_alone(limit: int, out: np.ndarray) -> None:
    """Count with primesieve on one thread.

    Parameters
    ----------
    limit, out
        As for `count_by_primesieve`.

    Raises
    ------
    BackendError
        primesieve is not installed.

    Examples
    --------
    >>> out = np.zeros(1, np.uint32)
    >>> if primesieve() is not None:
    ...     count_by_primesieve_alone(100, out)
    """
    out[0] = _library(1).primesieve_count_primes(0, limit - 1)


def _library(threads: int) -> Any:
    library = primesieve()
    if library is None:
        raise BackendError(f"{NO_PRIMESIEVE}.")
    library.primesieve_set_num_threads(threads)
    return library
