"""What benchmarks time, rightly and wrongly: the larger of two numbers, warm and cold, and roots in place."""

import math

import numpy as np

from gpuguide.machine.backends import array_module
from gpuguide.measure import Study, kernel, per_element, uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.benchmark_well import kernels
from gpuguide.topics.benchmark_well.kernels import CLOSE, MOST_STEPS

LARGEST = 2.0**40


def grid(n):
    """Give each element a thread."""
    return -(-n // 256), 256


def larger_reference(a, b):
    """Choose the larger of each pair by comparing."""
    return array_module(a).where(a > b, a, b)


def roots_reference(guess, number):
    """Return the square roots."""
    return np.sqrt(number)


def count_steps(guess, number):
    """Count on the host how many steps Newton's method makes for each number, 1 to `MOST_STEPS`."""
    x, steps = np.array(guess), np.zeros(len(guess), np.int64)
    is_open = np.ones(len(x), bool)
    for _ in range(MOST_STEPS):
        better = 0.5 * (x + number / x)
        steps += is_open
        is_open &= ~(np.abs(better - x) <= CLOSE * better)
        x = better
    return steps


def pairs(n, dtype, rng, exact):
    if exact:
        return tuple(whole_numbers(rng, n, 1000, dtype) for _ in range(2))
    return uniform(rng, n, dtype), uniform(rng, n, dtype)


def far_guesses(n, dtype, rng, exact):
    """Make numbers, and take each for the first guess of its own root."""
    if exact:
        # The root of a square of a whole number is exact.
        number = rng.integers(1, math.isqrt(int(LARGEST)), n).astype(dtype) ** 2
    else:
        number = 1 + (LARGEST - 1) * uniform(rng, n, dtype)
    return number.copy(), number


of_pairs = {
    "sizes": (2**16, 2**18, 2**20, 2**21, 2**24, 2**26),
    "inputs": pairs,
    "input_note": "uniform random numbers; whole numbers for the exact check",
    "reference": larger_reference,
    "equal": True,
    "traffic": per_element(reads=2, writes=1),  # a comparison is no FLOP
    "variants": (
        kernel(
            kernels.larger,
            "larger",
            grid,
            note="Take the larger of each pair, one element per thread.",
        ),
    ),
}
cold = Study(
    name="cold",
    title="The larger of two numbers, from a cold cache",
    cache="cold",
    **of_pairs,
)
warm = Study(
    name="warm",
    title="The larger of two numbers, from a warm cache",
    cache="warm",
    small=(257,),
    **of_pairs,
)
roots = Study(
    name="roots",
    title="Square roots in place",
    sizes=(2**12, 2**14, 2**16, 2**18, 2**20, 2**22),
    dtype="float64",
    inputs=far_guesses,
    input_note="random numbers from 1 to 2**40, each its own first guess; squares for the exact check",
    reference=roots_reference,
    tolerance=Tolerance(scale=roots_reference, threads=1),
    in_place=True,
    cache="cold",
    baseline="square_root",
    variants=(
        kernel(
            kernels.newton,
            "Newton's method",
            grid,
            # How many operations Newton's method takes depends on the guesses, so none is counted.
            traffic=per_element(reads=2, writes=1),
            note="Improve guesses of square roots in place, by Newton's method.",
        ),
        kernel(
            kernels.square_root,
            "math.sqrt",
            grid,
            traffic=per_element(reads=1, writes=1),
            note="Replace the guesses by what math.sqrt returns, without reading them.",
        ),
    ),
)
