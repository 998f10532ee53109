"""Sieves of Eratosthenes in Numba: in global memory, and a segment at a time in shared memory."""

from __future__ import annotations

from math import isqrt
from typing import Any

from gpuguide.machine.backends import current_stream, numba_view
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
    """Count the primes of an answer whose bits are there.

    Parameters
    ----------
    limit : int
        One more than the largest number that was looked at.
    out : device array of uint32
        Its last word is set.

    Examples
    --------
    >>> import numpy as np
    >>> from gpuguide.machine.backends import cupy, has_gpu
    >>> if has_gpu():
    ...     out = cupy().array([14, 0], np.uint32)
    ...     count(10, numba_view(out))
    ...     assert out.tolist() == [14, 4]
    """
    start_count_kernel[1, 1, current_stream()](limit, out)
    if out.size > 1:
        grid = min(blocks_1d(out.size - 1, THREADS_PER_BLOCK), COUNTING_BLOCKS)
        count_kernel[grid, THREADS_PER_BLOCK, current_stream()](out)


def n_steps_below(limit: int) -> int:
    """Count the odd numbers from 3 to the square root of the largest number below a limit.

    Parameters
    ----------
    limit : int
        At least 0.

    Returns
    -------
    int
        Steps 3, 5, 7, ... that a sieve of odd numbers has to walk.

    Examples
    --------
    >>> n_steps_below(9), n_steps_below(10), n_steps_below(10**9)
    (0, 1, 15810)
    """
    return max(isqrt(max(limit - 1, 0)) - 1, 0) // 2


def primes_sieve_global(limit: int, out: Any) -> None:
    """Cross off multiples in global memory, a row of blocks for each step.

    Parameters
    ----------
    limit : int
        One more than the largest number that is looked at.
    out : device array of uint32, shape (n_words(limit) + 1,)
        Filled with an answer, see `gpuguide.topics.primes.bits`.

    Raises
    ------
    ArgumentError
        The limit is out of range, or the array does not fit it.

    Examples
    --------
    >>> import numpy as np
    >>> try:
    ...     primes_sieve_global(2**31, np.zeros(1, np.uint32))
    ... except ValueError as error:
    ...     print(error)
    The limit must be an integer from 0 to 1073741824; got 2147483648.
    """
    n_steps = n_steps_below(checked_limit(limit, out))
    out, stream = numba_view(out), current_stream()
    all_odd_kernel[blocks_1d(out.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK, stream](
        limit, out
    )
    if n_steps:
        grid = (n_steps, BLOCKS_PER_STEP)
        cross_off_kernel[grid, THREADS_PER_BLOCK, stream](limit, out)
    count(limit, out)


def primes_sieve_shared(limit: int, out: Any) -> None:
    """Sieve up to the square root, then all segments by the primes found there.

    Parameters
    ----------
    limit : int
        One more than the largest number that is looked at.
    out : device array of uint32, shape (n_words(limit) + 1,)
        Filled.

    Raises
    ------
    ArgumentError
        The limit is out of range, or the array does not fit it.

    Examples
    --------
    >>> import numpy as np
    >>> try:
    ...     primes_sieve_shared(100, np.zeros(9, np.uint32))
    ... except ValueError as error:
    ...     print(error)
    primes below 100 take an answer of 3 uint32; got shape (9,), uint32.
    """
    n_steps = n_steps_below(checked_limit(limit, out))
    out, stream = numba_view(out), current_stream()
    if n_steps:
        root = 2 * n_steps + 2
        segment_kernel[1, THREADS_PER_BLOCK, stream](root, n_steps_below(root), False, out)
    if limit > 1:
        n_segments = -(-(limit // 2) // SEGMENT)
        segment_kernel[n_segments, THREADS_PER_BLOCK, stream](limit, n_steps, True, out)
    count(limit, out)
