"""What counts the turns of a loop: range in 64 bits, range in 32 bits, and a counter of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import current_stream, numba_view
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.numba_types.kernels import (
    own_counter_kernel,
    range_int32_kernel,
    range_int64_kernel,
)
from gpuguide.topics.numba_types.study import DOSES, float32_traffic, level_reference

THREADS_PER_BLOCK = 256
SIZES = (2**24,)


def count_by_range_int64(kept: Any, doses: int, out: Any) -> None:
    """Count with range, as in Python.

    Parameters
    ----------
    kept : device array of float32, shape (n,)
        Share that each element keeps from one dose to the next.
    doses : int
        Number of doses, from 0 to 2**31 - 1.
    out : device array of float32, shape (n,)
        Filled.

    Raises
    ------
    ArgumentError
        The arrays do not fit, or the number is out of range.

    Examples
    --------
    >>> x = np.ones(2, np.float32)
    >>> try:
    ...     count_by_range_int64(x, 2**31, x)
    ... except ArgumentError as error:
    ...     print(error)
    doses must be an integer from 0 to 2147483647; got 2147483648.
    """
    _launch(range_int64_kernel, kept, doses, out)


def count_by_range_int32(kept: Any, doses: int, out: Any) -> None:
    """Count with range, and hand it 32 bits.

    Parameters
    ----------
    kept : device array of float32, shape (n,)
        Share that each element keeps from one dose to the next.
    doses : int
        Number of doses, from 0 to 2**31 - 1.
    out : device array of float32, shape (n,)
        Filled.

    Raises
    ------
    ArgumentError
        The arrays do not fit, or the number is out of range.

    Examples
    --------
    >>> try:
    ...     count_by_range_int32(np.ones(2), 1, np.ones(2))
    ... except ArgumentError as error:
    ...     print(error)
    counting takes two float32 vectors of one length; got (2,) float64 and (2,) float64.
    """
    _launch(range_int32_kernel, kept, doses, out)


def count_by_own_counter(kept: Any, doses: int, out: Any) -> None:
    """Count by hand in a while loop, in 64 bits.

    Parameters
    ----------
    kept : device array of float32, shape (n,)
        Share that each element keeps from one dose to the next.
    doses : int
        Number of doses, from 0 to 2**31 - 1.
    out : device array of float32, shape (n,)
        Filled.

    Raises
    ------
    ArgumentError
        The arrays do not fit, or the number is out of range.

    Examples
    --------
    >>> x = np.ones(2, np.float32)
    >>> try:
    ...     count_by_own_counter(x, -1, x)
    ... except ArgumentError as error:
    ...     print(error)
    doses must be an integer from 0 to 2147483647; got -1.
    """
    _launch(own_counter_kernel, kept, doses, out)


def study() -> Study:
    """Describe the comparison of three ways to count to 128.

    Returns
    -------
    Study
        At 2**24 float32.

    Examples
    --------
    >>> [variant.name for variant in study().variants]
    ['range_int64', 'range_int32', 'own_counter']
    """
    return Study(
        name="counters",
        title="Three counters for the same loop",
        variants=(
            _variant("range_int64", count_by_range_int64, "range, int64"),
            _variant("range_int32", count_by_range_int32, "range, int32"),
            _variant("own_counter", count_by_own_counter, "own counter"),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=lambda kept, doses: level_reference(kept),
        tolerance=Tolerance(c=2, serial=DOSES),
        dtype="float32",
        input_note="uniform random shares from 0 to 1, and 128; 0 and 1 for the exact check",
        baseline="range_int64",
    )


def _variant(name: str, call: Callable[[Any, int, Any], None], label: str) -> Variant:
    return Variant(name, call, label=label, arrays="numba", traffic=float32_traffic)


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, int]:
    return (whole_numbers(rng, n, 2, dtype) if exact else uniform(rng, n, dtype)), DOSES


def _launch(kernel: Any, kept: Any, doses: int, out: Any) -> None:
    if not 0 <= doses < 2**31:
        raise ArgumentError(f"doses must be an integer from 0 to 2147483647; got {doses!r}.")
    if kept.ndim != 1 or kept.shape != out.shape or not kept.dtype == out.dtype == np.float32:
        raise ArgumentError(
            "counting takes two float32 vectors of one length; "
            f"got {kept.shape} {kept.dtype} and {out.shape} {out.dtype}."
        )
    if kept.size:
        blocks_per_grid = blocks_1d(kept.size, THREADS_PER_BLOCK)
        kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(kept), doses, numba_view(out)
        )
