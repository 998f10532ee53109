"""The smallest divisor of each number: work that ends at once or late, dealt out in several orders."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import current_stream, numba_view
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.plan import Variant
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

    Parameters
    ----------
    in_order, *orders : ndarray of int32, shape (n,)
        Only their length is looked at.

    Returns
    -------
    ndarray of uint32, shape (n,)
        Of the numbers from 2 on; a prime has itself.

    Examples
    --------
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
    """Take the numbers one after the other: an even one beside a prime.

    Parameters
    ----------
    in_order, shuffled, by_cost : device array of int32, shape (n,)
        Three orders: which number, less 2, each thread takes.
    out : device array of uint32, shape (n,)
        Filled with the smallest divisors of the numbers from 2 on.

    Raises
    ------
    ArgumentError
        An array has another shape or dtype.

    Examples
    --------
    >>> order, out = np.arange(3, dtype=np.int32), np.empty(3, np.uint32)
    >>> try:
    ...     divisors_in_order(order[:2], order, order, out)
    ... except ArgumentError as error:
    ...     print(error)
    expected an order of 3 int32 and an output of uint32; got (2,) int32 and uint32.
    """
    _launch(in_order, out)


def divisors_shuffled(in_order: Any, shuffled: Any, by_cost: Any, out: Any) -> None:
    """Take the numbers in random order.

    Parameters
    ----------
    in_order, shuffled, by_cost, out : device array, shape (n,)
        As for `divisors_in_order`.

    Raises
    ------
    ArgumentError
        As for `divisors_in_order`.

    Examples
    --------
    >>> order, out = np.arange(3), np.empty(3, np.uint32)
    >>> try:
    ...     divisors_shuffled(order, order, order, out)
    ... except ArgumentError as error:
    ...     print(error)
    expected an order of 3 int32 and an output of uint32; got (3,) int64 and uint32.
    """
    _launch(shuffled, out)


def divisors_by_cost(in_order: Any, shuffled: Any, by_cost: Any, out: Any) -> None:
    """Take the numbers with the most divisions first, as if that were known.

    Parameters
    ----------
    in_order, shuffled, by_cost, out : device array, shape (n,)
        As for `divisors_in_order`.

    Raises
    ------
    ArgumentError
        As for `divisors_in_order`.

    Examples
    --------
    >>> order = np.arange(3, dtype=np.int32)
    >>> try:
    ...     divisors_by_cost(order, order, order, order)
    ... except ArgumentError as error:
    ...     print(error)
    expected an order of 3 int32 and an output of uint32; got (3,) int32 and int32.
    """
    _launch(by_cost, out)


def divisors_regrouped(in_order: Any, shuffled: Any, by_cost: Any, out: Any) -> None:
    """Let each block share out anew what small divisors leave open.

    Parameters
    ----------
    in_order, shuffled, by_cost, out : device array, shape (n,)
        As for `divisors_in_order`.

    Raises
    ------
    ArgumentError
        As for `divisors_in_order`.

    Examples
    --------
    >>> order = np.arange(3, dtype=np.int32)
    >>> try:
    ...     divisors_regrouped(order, order, order, np.empty((3, 1), np.uint32))
    ... except ArgumentError as error:
    ...     print(error)
    expected an order of 3 int32 and an output of uint32; got (3,) int32 and uint32.
    """
    n = _checked_size(in_order, out)
    if n:
        blocks_per_grid = -(-n // NUMBERS_PER_BLOCK)
        regrouped_kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](numba_view(out))


def study() -> Study:
    """Describe the comparison of three orders, and of regrouping on the way.

    Returns
    -------
    Study
        For the numbers from 2 to 2**22 + 1.

    Examples
    --------
    >>> [variant.name for variant in study().variants]
    ['in_order', 'shuffled', 'by_cost', 'regrouped']
    """
    return Study(
        name="divisors",
        title="The smallest divisor of each number",
        variants=(
            _variant("in_order", divisors_in_order),
            _variant("shuffled", divisors_shuffled),
            _variant("by_cost", divisors_by_cost),
            _variant("regrouped", divisors_regrouped),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=divisors_reference,
        output=lambda n, dtype: (n, np.uint32),
        dtype="int32",
        size_name="numbers",
        input_note="all numbers from 2 on, in three orders",
        baseline="in_order",
    )


def _variant(name: str, call: Callable[[Any, Any, Any, Any], None]) -> Variant:
    return Variant(name, call, arrays="numba")


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    in_order = np.arange(n, dtype=dtype)
    by_cost = np.argsort(-divisions(n), kind="stable").astype(dtype)
    return in_order, rng.permutation(in_order), by_cost


def _checked_size(order: Any, out: Any) -> int:
    if order.shape != out.shape or order.dtype != np.int32 or out.dtype != np.uint32:
        raise ArgumentError(
            f"expected an order of {len(out)} int32 and an output of uint32; "
            f"got {order.shape} {order.dtype} and {out.dtype}."
        )
    return int(out.size)


def _launch(order: Any, out: Any) -> None:
    n = _checked_size(order, out)
    if n:
        one_number_kernel[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK, current_stream()](
            numba_view(order), numba_view(out)
        )
