"""The search for primes as Numba compiles it for the CPU: trial division, and a sieve in segments."""

from functools import cache

import numpy as np
from numba import njit, prange

SEGMENT = 2**18
"""Odd numbers of a segment: their bits take 32 KiB, which fits into the L1 cache of a core."""
# After so many words the multiples of 3, 5, 7 and 11 fall on the same bits again.
WHEEL_WORDS = 3 * 5 * 7 * 11


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
def odd_primes(least, root):
    """List the odd primes from one number to another, by a small sieve."""
    is_prime = np.ones(root // 2 + 1, np.bool_)
    for step in range(3, root + 1, 2):
        if step * step <= root and is_prime[step // 2]:
            is_prime[step * step // 2 :: step] = False
    odd = 2 * np.flatnonzero(is_prime[: (root + 1) // 2]) + 1
    return odd[odd >= least].astype(np.uint64)


@njit
def sieve_words(low, n_odds, primes, words):
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
        # Count the bits by pairs, by fours and by bytes, and add up the bytes.
        x = word - ((word >> np.uint32(1)) & np.uint32(0x55555555))
        x = (x & np.uint32(0x33333333)) + ((x >> np.uint32(2)) & np.uint32(0x33333333))
        x = (x + (x >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
        found += int(np.uint32(x * np.uint32(0x01010101)) >> np.uint32(24))
    return found


@njit
def sieve_alone(limit, root, out):
    """Sieve in one piece on one thread, for limits that are not worth more."""
    words = out[:-1]
    words[:] = np.uint32(0xFFFFFFFF)
    words[0] = np.uint32(0xFFFFFFFE)  # 1 is no prime
    out[-1] = 1 + sieve_words(0, limit // 2, odd_primes(3, root), words)


@njit(parallel=True)
def sieve_parallel(limit, root, out):
    """Share the segments out among all threads; each begins as a copy of the wheel."""
    primes = odd_primes(13, root)
    wheel = np.full(WHEEL_WORDS, 0xFFFFFFFF, np.uint32)
    period = 32 * WHEEL_WORDS
    # The second period: in the first, multiples below p * p would be left out.
    sieve_words(period, 2 * period, odd_primes(3, 11), wheel)
    n_segments = (limit // 2 + SEGMENT - 1) // SEGMENT
    found = 1
    for k in prange(n_segments):
        words = out[k * SEGMENT // 32 : min((k + 1) * SEGMENT // 32, out.size - 1)]
        for w in range(words.size):
            words[w] = wheel[(k * SEGMENT // 32 + w) % WHEEL_WORDS]
        if k == 0:
            # The wheel also crosses off 3, 5, 7 and 11 themselves, and 1 is no prime.
            words[0] = (words[0] | np.uint32(0x2E)) & np.uint32(0xFFFFFFFE)
        found += sieve_words(k * SEGMENT, limit // 2, primes, words)
    out[-1] = found
