"""Primes by trial division: on the host, with a launch a number, and with a thread a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.machine.backends import cupy
from gpuguide.machine.launch import blocks_1d
from gpuguide.topics.primes.bits import checked_limit, store_primes
from gpuguide.topics.primes.kernels import (
    check_prime_kernel,
    check_prime_ufunc,
    clear_kernel,
    odd_candidates_kernel,
    thread_a_number_kernel,
    to_square_root_kernel,
)
from gpuguide.topics.primes.kernels_cpu import compiled_find_primes, find_primes

THREADS_PER_BLOCK = 128


def primes_python(limit: int, out: np.ndarray) -> None:
    """Try all divisors up to half of each number, in Python."""
    store_primes(find_primes(limit), limit, out)


def primes_njit(limit: int, out: np.ndarray) -> None:
    """Run the same loops after @njit has compiled them, before the clock starts."""
    store_primes(compiled_find_primes()(limit), limit, out)


def primes_one_launch(limit: int, out: np.ndarray) -> None:
    """Launch one thread for each number, and fetch its result before the next."""
    cp, primes = cupy(), []
    for number in range(2, limit):
        result = cp.asarray(np.zeros(1, np.int32))
        check_prime_kernel[1, 1](number, result)
        if result.get()[0] > 0:
            primes.append(number)
    store_primes(primes, limit, out)


def primes_ufunc(limit: int, out: np.ndarray) -> None:
    """Call the ufunc on all numbers at once, and filter on the host."""
    numbers = check_prime_ufunc()(np.arange(limit, dtype=np.int32))
    store_primes(numbers[numbers != 0], limit, out)


def clear(out: Any) -> None:
    """Set an answer to zero: no primes."""
    grid = blocks_1d(out.size, THREADS_PER_BLOCK)
    clear_kernel[grid, THREADS_PER_BLOCK](out)


def primes_thread_a_number(limit: int, out: Any) -> None:
    """Give each number a thread, in a single launch."""
    clear_and_launch(thread_a_number_kernel, checked_limit(limit, out), limit, out)


def clear_and_launch(kernel: Any, n_threads: int, limit: int, out: Any) -> None:
    """Clear an answer and launch a kernel that fills it."""
    clear(out)
    if n_threads:
        blocks_per_grid = blocks_1d(n_threads, THREADS_PER_BLOCK)
        kernel[blocks_per_grid, THREADS_PER_BLOCK](limit, out)


def primes_odd_candidates(limit: int, out: Any) -> None:
    """Leave out even numbers and even divisors."""
    clear_and_launch(odd_candidates_kernel, (checked_limit(limit, out) + 1) // 2, limit, out)


def primes_to_square_root(limit: int, out: Any) -> None:
    """Try divisors up to the square root only."""
    clear_and_launch(to_square_root_kernel, (checked_limit(limit, out) + 1) // 2, limit, out)
