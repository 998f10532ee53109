"""One formula in 32 bits and in 64: kernels that differ in nothing but the types of their constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import current_stream, numba_view
from gpuguide.machine.cpu import in_threads
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.numba_types.kernels import (
    float32_only_kernel,
    one_left_kernel,
    python_floats_kernel,
    rounded_steps_kernel,
)

THREADS_PER_BLOCK = 256
DOSE = 2.5
DOSES = 128
SIZES = (2**12, 2**15, 2**18, 2**21, 2**24, 2**26)
_PART = 1 << 18


def level_reference(kept: np.ndarray) -> np.ndarray:
    """Add up what is left of each dose, in pairs: 1 + x, times 1 + x**2, times 1 + x**4 and so on.

    Parameters
    ----------
    kept : ndarray, shape (n,)
        Share of the drug that is kept from one dose to the next.

    Returns
    -------
    ndarray of float64, shape (n,)
        What is left of 128 doses of 2.5 when the next one is due.

    Examples
    --------
    >>> level_reference(np.array([0.0, 0.5, 1.0])).tolist()
    [0.0, 2.5, 320.0]
    """
    out = np.empty(kept.size)

    def one(start: int) -> None:
        power = kept[start : start + _PART].astype(np.float64)
        sums = DOSE * power
        for _ in range(DOSES.bit_length() - 1):
            sums *= 1 + power
            power *= power
        out[start : start + _PART] = sums

    in_threads(one, range(0, kept.size, _PART), out.nbytes)
    return out


def launch_level(kernel: Any, kept: Any, out: Any) -> None:
    """Look at the arrays, and launch a thread for each element.

    Parameters
    ----------
    kernel : numba.cuda.dispatcher.CUDADispatcher
        One of the four.
    kept, out : device array of float32 or float64, shape (n,)
        Input, and the array that is filled.

    Raises
    ------
    ArgumentError
        They are not one-dimensional, of one length and of one of these dtypes.

    Examples
    --------
    >>> launch_level(float32_only_kernel, np.empty(0), np.empty(0))
    """
    same = kept.ndim == 1 and kept.shape == out.shape and kept.dtype == out.dtype
    if not same or kept.dtype not in (np.float32, np.float64):
        raise ArgumentError(
            "level takes two vectors, both float32 or both float64; "
            f"got {kept.shape} {kept.dtype} and {out.shape} {out.dtype}."
        )
    if kept.size:
        blocks_per_grid = blocks_1d(kept.size, THREADS_PER_BLOCK)
        kernel[blocks_per_grid, THREADS_PER_BLOCK, current_stream()](
            numba_view(kept), numba_view(out)
        )


def level_python_floats(kept: Any, out: Any) -> None:
    """Write 0.0 and 2.5 as anybody would.

    Parameters
    ----------
    kept, out : device array of float32 or float64, shape (n,)
        Input, and the array that is filled.

    Raises
    ------
    ArgumentError
        They are not one-dimensional, of one length and of one of these dtypes.

    Examples
    --------
    >>> try:
    ...     level_python_floats(np.ones(2), np.ones(3))
    ... except ArgumentError as error:
    ...     print(error)
    level takes two vectors, both float32 or both float64; got (2,) float64 and (3,) float64.
    """
    launch_level(python_floats_kernel, kept, out)


def level_rounded_steps(kept: Any, out: Any) -> None:
    """Round what comes out of the formula, and leave what goes in.

    Parameters
    ----------
    kept, out : device array of float32, shape (n,)
        Input, and the array that is filled.

    Raises
    ------
    ArgumentError
        As for `level_python_floats`.

    Examples
    --------
    >>> try:
    ...     level_rounded_steps(np.ones(2, np.int32), np.ones(2, np.int32))
    ... except ArgumentError as error:
    ...     print(error)
    level takes two vectors, both float32 or both float64; got (2,) int32 and (2,) int32.
    """
    launch_level(rounded_steps_kernel, kept, out)


def level_one_left(kept: Any, out: Any) -> None:
    """Mend the formula, and forget the number that the level starts with.

    Parameters
    ----------
    kept, out : device array of float32, shape (n,)
        Input, and the array that is filled.

    Raises
    ------
    ArgumentError
        As for `level_python_floats`.

    Examples
    --------
    >>> try:
    ...     level_one_left(np.ones((2, 2)), np.ones((2, 2)))
    ... except ArgumentError as error:
    ...     print(error)
    level takes two vectors, both float32 or both float64; got (2, 2) float64 and (2, 2) float64.
    """
    launch_level(one_left_kernel, kept, out)


def level_float32_only(kept: Any, out: Any) -> None:
    """Write np.float32 around every constant.

    Parameters
    ----------
    kept, out : device array of float32, shape (n,)
        Input, and the array that is filled.

    Raises
    ------
    ArgumentError
        As for `level_python_floats`.

    Examples
    --------
    >>> try:
    ...     level_float32_only(np.ones(2, np.float32), np.ones(2))
    ... except ArgumentError as error:
    ...     print(error)
    level takes two vectors, both float32 or both float64; got (2,) float32 and (2,) float64.
    """
    launch_level(float32_only_kernel, kept, out)


def float32_traffic(n: int, dtype: Any) -> Traffic:
    """Count unique bytes, and for each dose an addition and a multiplication in 32 bits.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read and written, operations.

    Examples
    --------
    >>> float32_traffic(1000, "float32").flops
    256000
    """
    return _traffic(n, dtype, "fp32")


def float64_traffic(n: int, dtype: Any) -> Traffic:
    """Count the same bytes and operations, done in 64 bits whatever the elements have.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read and written, operations.

    Examples
    --------
    >>> float64_traffic(1000, "float32").bytes_total, float64_traffic(1000, "float32").unit
    (8000, 'fp64')
    """
    return _traffic(n, dtype, "fp64")


def study() -> Study:
    """Describe the comparison of four kernels on the same arrays of float32.

    Returns
    -------
    Study
        From 2**12 to 2**26 elements.

    Examples
    --------
    >>> [variant.name for variant in study().variants]
    ['python_floats', 'rounded_steps', 'one_left', 'float32_only']
    """
    variants = (
        _variant("python_floats", level_python_floats, "Python floats", float64_traffic),
        _variant("rounded_steps", level_rounded_steps, "rounded steps", float64_traffic),
        _variant("one_left", level_one_left, "one left", float64_traffic),
        _variant("float32_only", level_float32_only, "float32 only", float32_traffic),
    )
    return _study("level", "128 doses, and what is left of them", variants, SIZES, "float32")


def wide_study() -> Study:
    """Describe the first of these kernels on arrays of float64.

    Returns
    -------
    Study
        One variant, at the largest size.

    Examples
    --------
    >>> wide_study().dtype, wide_study().sizes == SIZES[-1:]
    ('float64', True)
    """
    variant = _variant("float64_arrays", level_python_floats, "float64 arrays", float64_traffic)
    return _study("wide", "The same with float64 arrays", (variant,), SIZES[-1:], "float64")


def _study(
    name: str, title: str, variants: tuple[Variant, ...], sizes: tuple[int, ...], dtype: str
) -> Study:
    return Study(
        name=name,
        title=title,
        variants=variants,
        sizes=sizes,
        inputs=_inputs,
        reference=level_reference,
        tolerance=Tolerance(c=2, serial=DOSES),
        dtype=dtype,
        input_note="uniform random shares from 0 to 1; 0 and 1 for the exact check",
        baseline=variants[0].name,
    )


def _variant(
    name: str,
    call: Callable[[Any, Any], None],
    label: str,
    traffic: Callable[[int, Any], Traffic],
) -> Variant:
    return Variant(name, call, label=label, arrays="numba", traffic=traffic)


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (whole_numbers(rng, n, 2, dtype) if exact else uniform(rng, n, dtype),)


def _traffic(n: int, dtype: Any, unit: str) -> Traffic:
    n_bytes = n * np.dtype(dtype).itemsize
    return Traffic(bytes_read=n_bytes, bytes_written=n_bytes, flops=2 * DOSES * n, unit=unit)
