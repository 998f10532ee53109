"""Square roots by Newton's method, in place: how long a call takes depends on what it finds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import current_stream, numba_view
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.random_inputs import uniform
from gpuguide.results.records import Traffic
from gpuguide.topics.benchmark_well.kernels import (
    CLOSE,
    MOST_STEPS,
    improve_kernel,
    square_root_kernel,
)

THREADS_PER_BLOCK = 256
LARGEST = 2.0**40


def roots_reference(guess: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return the square roots.

    Parameters
    ----------
    guess : ndarray of float64, shape (n,)
        Not looked at.
    number : ndarray of float64, shape (n,)
        Above 0.

    Returns
    -------
    ndarray of float64, shape (n,)
        A new array.

    Examples
    --------
    >>> roots_reference(np.array([1.0, 1.0]), np.array([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
    roots: np.ndarray = np.sqrt(number)
    return roots


def improve(guess: Any, number: Any) -> None:
    """Improve guesses of square roots in place, by Newton's method.

    Parameters
    ----------
    guess : device array of float64, shape (n,)
        Above 0; becomes the roots. From a guess between 2**-60 and 2**60 roots it takes fewer steps
        than there may be.
    number : device array of float64, shape (n,)
        Above 0.

    Raises
    ------
    ArgumentError
        The arrays are not one-dimensional float64 of one length.

    Examples
    --------
    >>> try:
    ...     improve(np.ones(3), np.ones(4))
    ... except ValueError as error:
    ...     print(error)
    expected two float64 vectors of one length; got (3,) float64 and (4,) float64.
    """
    n = _checked_size(guess, number)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        improve_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(guess), numba_view(number)
        )


def square_root(guess: Any, number: Any) -> None:
    """Replace guesses by what math.sqrt says; they are not looked at.

    Parameters
    ----------
    guess, number : device array of float64, shape (n,)
        As for `improve`.

    Raises
    ------
    ArgumentError
        The arrays are not one-dimensional float64 of one length.

    Examples
    --------
    >>> try:
    ...     square_root(np.ones(3, np.float32), np.ones(3))
    ... except ValueError as error:
    ...     print(error)
    expected two float64 vectors of one length; got (3,) float32 and (3,) float64.
    """
    n = _checked_size(guess, number)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        square_root_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(guess), numba_view(number)
        )


def improve_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes. How many operations there are depends on the guesses, so none is counted.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Guesses and numbers read, guesses written.

    Examples
    --------
    >>> improve_traffic(1000, "float64").bytes_total
    24000
    """
    itemsize = np.dtype(dtype).itemsize
    return Traffic(bytes_read=2 * n * itemsize, bytes_written=n * itemsize)


def square_root_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes: a number is read, a root is written.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read and written.

    Examples
    --------
    >>> square_root_traffic(1000, "float64").bytes_total
    16000
    """
    itemsize = np.dtype(dtype).itemsize
    return Traffic(bytes_read=n * itemsize, bytes_written=n * itemsize)


def count_steps(guess: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Count on the host how many steps the kernel makes for each number.

    Parameters
    ----------
    guess, number : ndarray of float64, shape (n,)
        As for `improve`; neither is changed.

    Returns
    -------
    ndarray of int64, shape (n,)
        1 to `MOST_STEPS`.

    Examples
    --------
    >>> number = np.array([2.0**40])
    >>> count_steps(number, number).tolist(), count_steps(np.sqrt(number), number).tolist()
    ([26], [1])
    """
    x, steps = np.array(guess), np.zeros(len(guess), np.int64)
    is_open = np.ones(len(x), bool)
    for _ in range(MOST_STEPS):
        better = 0.5 * (x + number / x)
        steps += is_open
        is_open &= ~(np.abs(better - x) <= CLOSE * better)
        x = better
    return steps


def far_guesses(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Make numbers, and take each for the first guess of its own root.

    Parameters
    ----------
    n : int
        How many.
    dtype : numpy dtype
        Of the numbers, float64.
    rng : numpy.random.Generator
        Source of the numbers.
    exact : bool
        Squares of whole numbers, else any numbers.

    Returns
    -------
    tuple of two ndarrays, shape (n,)
        Guesses and numbers, from 1 to 2**40.

    Examples
    --------
    >>> guess, number = far_guesses(4, np.dtype("float64"), np.random.default_rng(0), True)
    >>> bool((guess == number).all()), (np.sqrt(number) % 1).tolist()
    (True, [0.0, 0.0, 0.0, 0.0])
    """
    if exact:
        number = rng.integers(1, math.isqrt(int(LARGEST)), n).astype(dtype) ** 2
    else:
        number = 1 + (LARGEST - 1) * uniform(rng, n, dtype)
    return number.copy(), number


def _checked_size(guess: Any, number: Any) -> int:
    if (
        guess.ndim != 1
        or guess.shape != number.shape
        or guess.dtype != np.float64
        or number.dtype != np.float64
    ):
        raise ArgumentError(
            "expected two float64 vectors of one length; "
            f"got {guess.shape} {guess.dtype} and {number.shape} {number.dtype}."
        )
    return int(guess.size)
