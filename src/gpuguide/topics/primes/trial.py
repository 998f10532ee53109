"""Primes by trial division: on the host, with a launch a number, and with a thread a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.machine.backends import cupy, current_stream, numba_view
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
    """Try all divisors up to half of each number, in Python.

    Parameters
    ----------
    limit : int
        One more than the largest number that is looked at.
    out : ndarray of uint32, shape (n_words(limit) + 1,)
        Filled with an answer, see `gpuguide.topics.primes.bits`.

    Examples
    --------
    >>> out = np.zeros(2, np.uint32)
    >>> primes_python(10, out)
    >>> out.tolist()
    [14, 4]
    """
    store_primes(find_primes(limit), limit, out)


def primes_njit(limit: int, out: np.ndarray) -> None:
    """Run the same loops after @njit has compiled them, before the clock starts.

    Parameters
    ----------
    limit : int
        One more than the largest number that is looked at.
    out : ndarray of uint32, shape (n_words(limit) + 1,)
        Filled.

    Examples
    --------
    >>> out = np.zeros(2, np.uint32)
    >>> primes_njit(10, out)
    >>> out.tolist()
    [14, 4]
    """
    store_primes(compiled_find_primes()(limit), limit, out)


def primes_one_launch(limit: int, out: np.ndarray) -> None:
    """Launch one thread for each number, and fetch its result before the next.

    Parameters
    ----------
    limit : int
        One more than the largest number that is looked at.
    out : ndarray of uint32, shape (n_words(limit) + 1,)
        In host memory; filled.

    Raises
    ------
    BackendError
        CuPy is missing.

    Examples
    --------
    >>> from gpuguide.machine.backends import has_gpu
    >>> if has_gpu():
    ...     out = np.zeros(2, np.uint32)
    ...     primes_one_launch(10, out)
    ...     assert out.tolist() == [14, 4]
    """
    cp, primes = cupy(), []
    for number in range(2, limit):
        result = cp.asarray(np.zeros(1, np.int32))
        check_prime_kernel[1, 1, current_stream()](number, numba_view(result))
        if result.get()[0] > 0:
            primes.append(number)
    store_primes(primes, limit, out)


def primes_ufunc(limit: int, out: np.ndarray) -> None:
    """Call the ufunc on all numbers at once, and filter on the host.

    Parameters
    ----------
    limit : int
        One more than the largest number that is looked at; at least 1.
    out : ndarray of uint32, shape (n_words(limit) + 1,)
        In host memory; filled.
    """
    numbers = check_prime_ufunc()(np.arange(limit, dtype=np.int32))
    store_primes(numbers[numbers != 0], limit, out)


def clear(out: Any) -> None:
    """Set an answer to zero: no primes.

    Parameters
    ----------
    out : device array of uint32
        Changed in place.

    Examples
    --------
    >>> from gpuguide.machine.backends import has_gpu
    >>> if has_gpu():
    ...     out = cupy().full(2, 14, np.uint32)
    ...     clear(out)
    ...     assert out.tolist() == [0, 0]
    """
    grid = blocks_1d(out.size, THREADS_PER_BLOCK)
    clear_kernel[grid, THREADS_PER_BLOCK, current_stream()](numba_view(out))


def primes_thread_a_number(limit: int, out: Any) -> None:
    """Give each number a thread, in a single launch.

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
    ...     primes_thread_a_number(-1, np.zeros(1, np.uint32))
    ... except ValueError as error:
    ...     print(error)
    The limit must be an integer from 0 to 1073741824; got -1.
    """
    clear_and_launch(thread_a_number_kernel, checked_limit(limit, out), limit, out)


def clear_and_launch(kernel: Any, n_threads: int, limit: int, out: Any) -> None:
    """Clear an answer and launch a kernel that fills it.

    Parameters
    ----------
    kernel : numba.cuda.dispatcher.CUDADispatcher
        Takes the limit and the answer.
    n_threads : int
        How many threads it needs; with none it is not launched.
    limit : int
        One more than the largest number that is looked at.
    out : device array of uint32
        The answer.

    Examples
    --------
    >>> from gpuguide.machine.backends import has_gpu
    >>> if has_gpu():
    ...     out = cupy().zeros(2, np.uint32)
    ...     clear_and_launch(thread_a_number_kernel, 10, 10, out)
    ...     assert out.tolist() == [14, 4]
    """
    clear(out)
    if n_threads:
        blocks_per_grid = blocks_1d(n_threads, THREADS_PER_BLOCK)
        kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](limit, numba_view(out))


def primes_odd_candidates(limit: int, out: Any) -> None:
    """Leave out even numbers and even divisors.

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
    ...     primes_odd_candidates(10, np.zeros(1, np.uint32))
    ... except ValueError as error:
    ...     print(error)
    primes below 10 take an answer of 2 uint32; got shape (1,), uint32.
    """
    clear_and_launch(odd_candidates_kernel, (checked_limit(limit, out) + 1) // 2, limit, out)


def primes_to_square_root(limit: int, out: Any) -> None:
    """Try divisors up to the square root only.

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
    ...     primes_to_square_root(10, np.zeros(2, np.int32))
    ... except ValueError as error:
    ...     print(error)
    primes below 10 take an answer of 2 uint32; got shape (2,), int32.
    """
    clear_and_launch(to_square_root_kernel, (checked_limit(limit, out) + 1) // 2, limit, out)
