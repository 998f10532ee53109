"""The smallest divisor of each number: work that ends at once or late, dealt out to warps in several ways."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import kernel_variant
from gpuguide.measure.study import Study
from gpuguide.topics.divergence.kernels import (
    NUMBERS_PER_BLOCK,
    by_cost,
    in_order,
    regrouped,
    regrouped_often,
)
from gpuguide.topics.divergence.warp_steps import warp_steps

THREADS_PER_BLOCK = 128
SIZES = (2**12, 2**14, 2**16, 2**18, 2**20, 2**22)


def divisors_reference(shuffled: np.ndarray, *orders: np.ndarray) -> np.ndarray:
    """Walk over the multiples of each number, large ones first: the last to come by is the smallest divisor.

    >>> divisors_reference(np.arange(8)).tolist()
    [2, 3, 2, 5, 2, 7, 2, 3]
    """
    last = shuffled.size + 1
    divisor = np.arange(last + 1, dtype=np.uint32)
    for step in range(isqrt(last), 1, -1):
        divisor[step * step :: step] = step
    return divisor[2:]


# Inputs, counts of work and facts ask for the same few sizes.
@lru_cache(maxsize=8)
def divisions(n: int) -> np.ndarray:
    """Count how many odd divisors are tried for each of n numbers from 2 on, one in each turn of the loop.

    >>> divisions(24)[[0, 1, 7, 21, 23]].tolist()  # of 2, 3, 9, 23, 25
    [0, 0, 1, 1, 2]
    """
    numbers = np.arange(2, n + 2)
    divisor = divisors_reference(numbers).astype(np.int64)
    roots = np.sqrt(numbers).astype(np.int64)
    last = np.where(divisor == numbers, roots, divisor)
    counts = np.where(numbers % 2 == 0, 0, np.maximum(last - 1, 0) // 2)
    # All callers get this one array, which the cache keeps.
    counts.flags.writeable = False
    return counts


def steps_in_order(n: int) -> int:
    """Count the warps' steps when threads take the numbers one after the other.

    >>> steps_in_order(64)
    5
    """
    return warp_steps(divisions(n))


def steps_by_cost(n: int) -> int:
    """Count the warps' steps when threads take the numbers with the most divisions first.

    >>> steps_by_cost(64)
    3
    """
    return warp_steps(np.sort(divisions(n))[::-1])


def divisors_in_order(shuffled: Any, costly_first: Any, divisors: Any) -> None:
    """Take the numbers one after the other: an even one beside a prime."""
    n = launch.check(divisors=divisors, ndim=1, dtype="uint32")
    if n:
        in_order[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](divisors)


def divisors_shuffled(shuffled: Any, costly_first: Any, divisors: Any) -> None:
    """Take the numbers in random order."""
    launch_listed(shuffled, divisors)


def divisors_by_cost(shuffled: Any, costly_first: Any, divisors: Any) -> None:
    """Take the numbers with the most divisions first, as if that were known."""
    launch_listed(costly_first, divisors)


def divisors_regrouped(shuffled: Any, costly_first: Any, divisors: Any) -> None:
    """Let each block deal out anew what small divisors leave open."""
    n = launch.check(divisors=divisors, ndim=1, dtype="uint32")
    if n:
        regrouped[-(-n // NUMBERS_PER_BLOCK), THREADS_PER_BLOCK](divisors)


def divisors_regrouped_often(shuffled: Any, costly_first: Any, divisors: Any) -> None:
    """Let each block deal out anew what is open, at every stage."""
    n = launch.check(divisors=divisors, ndim=1, dtype="uint32")
    if n:
        regrouped_often[-(-n // NUMBERS_PER_BLOCK), THREADS_PER_BLOCK](divisors)


def launch_listed(order: Any, divisors: Any) -> None:
    """Launch a thread for each number of a list."""
    dtypes = {"order": "int32", "divisors": "uint32"}
    n = launch.check(order=order, divisors=divisors, ndim=1, dtype=dtypes)
    if n:
        by_cost[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](order, divisors)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of three orders, and of regrouping on the way."""
    return Study(
        name="divisors",
        title="The smallest divisor of each number",
        variants=(
            kernel_variant("shuffled", divisors_shuffled, "shuffled"),
            kernel_variant(
                "in_order", divisors_in_order, "in order", work={"warp_steps": steps_in_order}
            ),
            kernel_variant("regrouped", divisors_regrouped, "regrouped once"),
            kernel_variant(
                "regrouped_often", divisors_regrouped_often, "regrouped at each stage"
            ),
            kernel_variant(
                "by_cost",
                divisors_by_cost,
                "sorted by cost",
                work={"warp_steps": steps_by_cost},
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=divisors_reference,
        output=lambda n, dtype: (n, np.uint32),
        dtype="int32",
        size_name="numbers",
        input_note="all numbers from 2 on; two lists that name them in other orders",
        baseline="in_order",
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    costly_first = np.argsort(-divisions(n), kind="stable").astype(dtype)
    return rng.permutation(n).astype(dtype), costly_first
