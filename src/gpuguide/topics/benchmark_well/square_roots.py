"""Square roots by Newton's method, in place: how long a call takes depends on what it finds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.plan import streaming_traffic
from gpuguide.measure.random_inputs import uniform
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

    >>> roots_reference(np.array([1.0, 1.0]), np.array([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
    roots: np.ndarray = np.sqrt(number)
    return roots


def improve(guess: Any, number: Any) -> None:
    """Improve guesses of square roots in place, by Newton's method."""
    n = launch.check(guess=guess, number=number, ndim=1, dtype="float64")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        improve_kernel[blocks_per_grid, THREADS_PER_BLOCK](guess, number)


def square_root(guess: Any, number: Any) -> None:
    """Replace guesses by what math.sqrt says; they are not looked at."""
    n = launch.check(guess=guess, number=number, ndim=1, dtype="float64")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        square_root_kernel[blocks_per_grid, THREADS_PER_BLOCK](guess, number)


# How many operations Newton's method takes depends on the guesses, so none is counted.
improve_traffic = streaming_traffic(reads=2, writes=1)
square_root_traffic = streaming_traffic(reads=1, writes=1)


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

    >>> guess, number = far_guesses(4, np.dtype("float64"), np.random.default_rng(0), True)
    >>> bool((guess == number).all()), (np.sqrt(number) % 1).tolist()
    (True, [0.0, 0.0, 0.0, 0.0])
    """
    if exact:
        # The root of a square of a whole number is exact.
        number = rng.integers(1, math.isqrt(int(LARGEST)), n).astype(dtype) ** 2
    else:
        number = 1 + (LARGEST - 1) * uniform(rng, n, dtype)
    return number.copy(), number
