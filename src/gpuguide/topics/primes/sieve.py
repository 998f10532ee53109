"""Sieves of Eratosthenes in Numba: in global memory, and a segment at a time in shared memory."""

from __future__ import annotations

from math import isqrt
from typing import Any

from gpuguide.machine.launch import blocks_1d
from gpuguide.topics.primes.bits import checked_limit
from gpuguide.topics.primes.kernels import (
    SEGMENT,
    all_odd_kernel,
    count_kernel,
    cross_off_kernel,
    segment_kernel,
    start_count_kernel,
)

THREADS_PER_BLOCK = 512
BLOCKS_PER_STEP = 16
COUNTING_BLOCKS = 1024


def count(limit: int, out: Any) -> None:
    """Count the primes of an answer whose bits are there."""
    start_count_kernel[1, 1](limit, out)
    if out.size > 1:
        grid = min(blocks_1d(out.size - 1, THREADS_PER_BLOCK), COUNTING_BLOCKS)
        count_kernel[grid, THREADS_PER_BLOCK](out)


def n_steps_below(limit: int) -> int:
    """Count the odd numbers from 3 to the square root of the largest number below a limit.

    >>> n_steps_below(9), n_steps_below(10), n_steps_below(10**9)
    (0, 1, 15810)
    """
    return max(isqrt(max(limit - 1, 0)) - 1, 0) // 2


def primes_sieve_global(limit: int, out: Any) -> None:
    """Cross off multiples in global memory, a row of blocks for each step."""
    n_steps = n_steps_below(checked_limit(limit, out))
    all_odd_kernel[blocks_1d(out.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](limit, out)
    if n_steps:
        grid = (n_steps, BLOCKS_PER_STEP)
        cross_off_kernel[grid, THREADS_PER_BLOCK](limit, out)
    count(limit, out)


def primes_sieve_shared(limit: int, out: Any) -> None:
    """Sieve up to the square root, then all segments by the primes found there."""
    n_steps = n_steps_below(checked_limit(limit, out))
    if n_steps:
        root = 2 * n_steps + 2
        segment_kernel[1, THREADS_PER_BLOCK](root, n_steps_below(root), False, out)
    if limit > 1:
        n_segments = -(-(limit // 2) // SEGMENT)
        # The first block writes bits that others read as steps: what they hold already.
        segment_kernel[n_segments, THREADS_PER_BLOCK](limit, n_steps, True, out)
    count(limit, out)
