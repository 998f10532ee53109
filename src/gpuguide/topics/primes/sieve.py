"""Sieves of Eratosthenes in Numba: in global memory, and a segment at a time in shared memory."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from gpuguide.machine.backends import cuda, current_stream, jit, numba_view
from gpuguide.machine.launch import blocks_1d
from gpuguide.topics.primes.bits import checked_limit

THREADS_PER_BLOCK = 512
BLOCKS_PER_STEP = 16
COUNTING_BLOCKS = 1024
SEGMENT = 32_768
SHORT_STEPS = 128
"""That many steps are walked by all threads of a block together; each longer one has a thread of its own."""


@jit
def all_odd_kernel(limit: int, out: Any) -> None:
    """Each thread fills one word: every odd number from 3 up to the limit may be a prime."""
    word = cuda.grid(1)
    if word < out.size - 1:
        left = min(limit // 2 - 32 * word, 32)  # bits of this word that stand for numbers
        out[word] = ((1 << left) - 1) & (-2 if word == 0 else -1)


@jit
def cross_off_kernel(limit: int, out: Any) -> None:
    """Each row of blocks crosses off the multiples of an odd number that still stands."""
    step = 2 * cuda.blockIdx.x + 3
    # If another block crosses this number off too late, the work is in vain, but no harm.
    if out[step >> 6] >> ((step >> 1) & 31) & 1 == 0:
        return
    first = cuda.threadIdx.x + cuda.blockIdx.y * cuda.blockDim.x
    stride = cuda.blockDim.x * cuda.gridDim.y
    for i in range((step * step >> 1) + step * first, limit // 2, step * stride):
        cuda.atomic.and_(out, i >> 5, np.uint32(0xFFFFFFFF ^ (1 << (i & 31))))


@jit
def start_count_kernel(limit: int, out: Any) -> None:
    """One thread sets the number of primes to what the bits leave out: 2."""
    out[out.size - 1] = 1 if limit > 2 else 0


@jit
def count_kernel(out: Any) -> None:
    """Each thread counts the bits of some words, and adds them to the number of primes."""
    found = 0
    for word in range(cuda.grid(1), out.size - 1, cuda.gridsize(1)):
        found += cuda.popc(out[word])
    cuda.atomic.add(out, out.size - 1, found)


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


@jit(device=True)
def first_multiple(step: int, low: int) -> int:
    """Find where a step first lands in a segment; it need not begin below its own square."""
    first = (step * step >> 1) - low
    return first if first >= 0 else first % step


@jit(device=True)
def packed_word(crossed: Any, word: int, left: int) -> int:
    """Make a word of 32 bytes; each thread begins with another, for another bank."""
    bits = 0
    for k in range(32):
        bit = (k + cuda.threadIdx.x) & 31
        if bit < left and crossed[32 * word + bit] == 0:
            bits |= 1 << bit
    return bits


@jit
def segment_kernel(limit: int, n_steps: int, steps_known: bool, out: Any) -> None:
    """Each block sieves its own segment: a byte for each odd number, in shared memory."""
    crossed = cuda.shared.array(SEGMENT, np.uint8)
    thread, width = cuda.threadIdx.x, cuda.blockDim.x
    low = cuda.blockIdx.x * SEGMENT
    for i in range(thread, SEGMENT, width):
        crossed[i] = 1 if low + i == 0 else 0  # 1 is no prime
    cuda.syncthreads()
    for k in range(1, min(n_steps, SHORT_STEPS) + 1):
        if not steps_known or out[k >> 5] >> (k & 31) & 1:
            step = 2 * k + 1
            i = first_multiple(step, low) + step * thread
            while i < SEGMENT:
                crossed[i] = 1  # several threads may write it: all write the same
                i += step * width
    for k in range(SHORT_STEPS + 1 + thread, n_steps + 1, width):
        if not steps_known or out[k >> 5] >> (k & 31) & 1:
            step = 2 * k + 1
            i = first_multiple(step, low)
            while i < SEGMENT:
                crossed[i] = 1
                i += step
    cuda.syncthreads()
    for word in range(thread, SEGMENT // 32, width):
        left = limit // 2 - low - 32 * word
        if left > 0:
            out[(low >> 5) + word] = packed_word(crossed, word, left)


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
