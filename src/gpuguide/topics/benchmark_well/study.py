"""What benchmarks time, rightly and wrongly: the larger of two numbers, warm and cold, and roots in place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import array_module
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.benchmark_well.kernels import (
    CLOSE,
    MOST_STEPS,
    larger,
    newton,
    square_root,
)

THREADS_PER_BLOCK = 256
SIZES = (2**16, 2**18, 2**20, 2**21, 2**24, 2**26)
ROOT_SIZES = (2**12, 2**14, 2**16, 2**18, 2**20, 2**22)
LARGEST = 2.0**40


def larger_reference(a: Any, b: Any) -> Any:
    """Choose the larger of each pair by comparing.

    >>> larger_reference(np.array([1.0, 5.0]), np.array([2.0, 4.0])).tolist()
    [2.0, 5.0]
    """
    return array_module(a).where(a > b, a, b)


def launch_larger(a: Any, b: Any, out: Any) -> None:
    """Take the larger of each pair, one element per thread."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        larger[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, b, out)


def roots_reference(guess: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return the square roots.

    >>> roots_reference(np.array([1.0, 1.0]), np.array([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
    roots: np.ndarray = np.sqrt(number)
    return roots


def launch_newton(guess: Any, number: Any) -> None:
    """Improve guesses of square roots in place, by Newton's method."""
    n = launch.check(guess=guess, number=number, ndim=1, dtype="float64")
    if n:
        newton[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](guess, number)


def launch_square_root(guess: Any, number: Any) -> None:
    """Replace the guesses by what math.sqrt returns, without reading them."""
    n = launch.check(guess=guess, number=number, ndim=1, dtype="float64")
    if n:
        square_root[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](guess, number)


# A comparison is no FLOP.
larger_traffic = streaming_traffic(reads=2, writes=1)
# How many operations Newton's method takes depends on the guesses, so none is counted.
newton_traffic = streaming_traffic(reads=2, writes=1)
square_root_traffic = streaming_traffic(reads=1, writes=1)


def count_steps(guess: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Count on the host how many steps Newton's method makes for each number, 1 to `MOST_STEPS`.

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


def study(kernels: Kernels = None) -> Study:
    """Describe the larger of two vectors, found from a cold cache each time."""
    return _larger("cold", kernels)


def warm_study(kernels: Kernels = None) -> Study:
    """Describe the same, called again and again on the same arrays."""
    return _larger("warm", kernels)


def roots_study(kernels: Kernels = None) -> Study:
    """Describe square roots in place, with the first guesses put back before each call, from a cold cache."""
    return Study(
        name="roots",
        title="Square roots in place",
        variants=(
            kernel_variant(
                "newton", launch_newton, "Newton's method", mutates=True, traffic=newton_traffic
            ),
            kernel_variant(
                "square_root",
                launch_square_root,
                "math.sqrt",
                mutates=True,
                traffic=square_root_traffic,
            ),
        ),
        sizes=ROOT_SIZES,
        inputs=far_guesses,
        reference=roots_reference,
        dtype="float64",
        tolerance=Tolerance(scale=roots_reference, threads=1),
        cache="cold",
        input_note="random numbers from 1 to 2**40, each its own first guess; squares for the exact check",
        baseline="square_root",
        kernels=kernels,
    )


def _larger(cache: str, kernels: Kernels) -> Study:
    return Study(
        name=cache,
        title=f"The larger of two numbers, from a {cache} cache",
        variants=(kernel_variant("larger", launch_larger, "larger", traffic=larger_traffic),),
        sizes=SIZES,
        inputs=_pairs,
        reference=larger_reference,
        equal=True,
        dtype="float32",
        cache=cache,
        input_note="uniform random numbers; whole numbers for the exact check",
        kernels=kernels,
    )


def _pairs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:
        return tuple(whole_numbers(rng, n, 1000, dtype) for _ in range(2))
    return uniform(rng, n, dtype), uniform(rng, n, dtype)


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
