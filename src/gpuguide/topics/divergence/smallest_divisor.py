"""The smallest divisor of each number: work that ends at once or late, dealt out in several orders."""

from __future__ import annotations

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
    one_number_kernel,
    regrouped_kernel,
)

THREADS_PER_BLOCK = 128
SIZES = (2**22,)


def divisors_reference(in_order: np.ndarray, *orders: np.ndarray) -> np.ndarray:
    """Walk over the multiples of each number, large ones first: the last to come by is the smallest divisor.

    >>> divisors_reference(np.arange(8)).tolist()
    [2, 3, 2, 5, 2, 7, 2, 3]
    """
    last = in_order.size + 1
    divisor = np.arange(last + 1, dtype=np.uint32)
    for step in range(isqrt(last), 1, -1):
        divisor[step * step :: step] = step
    return divisor[2:]


def divisions(n: int) -> np.ndarray:
    """Count how many odd divisors are tried for each number, one in each turn of the loop.

    Parameters
    ----------
    n : int
        How many numbers, from 2 on.

    Returns
    -------
    ndarray of int64, shape (n,)
        0 for even numbers; a prime needs all odd divisors up to its square root.

    Examples
    --------
    >>> divisions(24)[[0, 1, 7, 21, 23]].tolist()  # of 2, 3, 9, 23, 25
    [0, 0, 1, 1, 2]
    """
    numbers = np.arange(2, n + 2)
    divisor = divisors_reference(numbers).astype(np.int64)
    roots = np.sqrt(numbers).astype(np.int64)
    last = np.where(divisor == numbers, roots, divisor)
    return np.where(numbers % 2 == 0, 0, np.maximum(last - 1, 0) // 2)


def divisors_in_order(in_order: Any, shuffled: Any, by_cost: Any, out: Any) -> None:
    """Take the numbers one after the other: an even one beside a prime."""
    launch_divisors(out, in_order=in_order)


def divisors_shuffled(in_order: Any, shuffled: Any, by_cost: Any, out: Any) -> None:
    """Take the numbers in random order."""
    launch_divisors(out, shuffled=shuffled)


def divisors_by_cost(in_order: Any, shuffled: Any, by_cost: Any, out: Any) -> None:
    """Take the numbers with the most divisions first, as if that were known."""
    launch_divisors(out, by_cost=by_cost)


def divisors_regrouped(in_order: Any, shuffled: Any, by_cost: Any, out: Any) -> None:
    """Let each block share out anew what small divisors leave open."""
    dtypes = {"in_order": "int32", "out": "uint32"}
    n = launch.check(in_order=in_order, out=out, ndim=1, dtype=dtypes)
    if n:
        blocks_per_grid = -(-n // NUMBERS_PER_BLOCK)
        regrouped_kernel[blocks_per_grid, THREADS_PER_BLOCK](out)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of three orders, and of regrouping on the way."""
    return Study(
        name="divisors",
        title="The smallest divisor of each number",
        variants=(
            kernel_variant("in_order", divisors_in_order),
            kernel_variant("shuffled", divisors_shuffled),
            kernel_variant("by_cost", divisors_by_cost),
            kernel_variant("regrouped", divisors_regrouped),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=divisors_reference,
        output=lambda n, dtype: (n, np.uint32),
        dtype="int32",
        size_name="numbers",
        input_note="all numbers from 2 on, in three orders",
        baseline="in_order",
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    in_order = np.arange(n, dtype=dtype)
    by_cost = np.argsort(-divisions(n), kind="stable").astype(dtype)
    return in_order, rng.permutation(in_order), by_cost


def launch_divisors(out: Any, **order: Any) -> None:
    """Launch a thread for each number, which takes the one that the order names."""
    n = launch.check(
        **order, out=out, ndim=1, dtype=dict.fromkeys(order, "int32") | {"out": "uint32"}
    )
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        one_number_kernel[blocks_per_grid, THREADS_PER_BLOCK](*order.values(), out)
