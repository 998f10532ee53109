"""One thread for each element of a box: the axis of threadIdx.x among three."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import array_module, current_stream, numba_view
from gpuguide.machine.launch import grid_3d
from gpuguide.measure.equal_check import EqualCheck
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.grids_2d_3d.kernels import maximum_fast_kernel, maximum_slow_kernel
from gpuguide.topics.grids_2d_3d.study import block_label, block_note, matrix_shape

Block = tuple[int, int, int]

SIZES = (64**3, 256**3)
EXACT_BELOW = 2**24
"""Whole numbers up to here are exact in float32."""


def maximum_reference(a: Any, b: Any) -> Any:
    """Return the larger of two arrays, element by element, and `b` where one of them is NaN.

    Parameters
    ----------
    a, b : array of float32, shape (d, h, w)
        Any values.

    Returns
    -------
    array of float32, shape (d, h, w)
        A new array.

    Examples
    --------
    >>> maximum_reference(np.array([[[1.0, 5.0]]]), np.array([[[2.0, 3.0]]])).tolist()
    [[[2.0, 5.0]]]
    """
    return array_module(a).where(a > b, a, b)


def maximum_fast(a: Any, b: Any, out: Any, threads_per_block: Block = (32, 8, 1)) -> None:
    """Give each thread one element of a box, with threadIdx.x along the fast axis.

    Parameters
    ----------
    a, b : device array of float32, shape (d, h, w)
        Inputs.
    out : device array of float32, shape (d, h, w)
        Filled with the larger of the two; with `b` where one is NaN.
    threads_per_block : (int, int, int)
        Along x (the last axis), y and z (the first axis).

    Raises
    ------
    ArgumentError
        The arrays are not three-dimensional float32 of one shape, or the block does not fit.

    Examples
    --------
    >>> try:
    ...     maximum_fast(np.ones(4), np.ones(4), np.ones(4))
    ... except ValueError as error:
    ...     print(error)
    maximum takes three float32 arrays of one shape (d, h, w); got (4,) float64, (4,) float64, (4,) float64.
    """
    shape = _checked_box(a, b, out)
    blocks_per_grid = grid_3d(shape, threads_per_block)
    if out.size:
        maximum_fast_kernel[blocks_per_grid, threads_per_block, current_stream()](
            numba_view(a), numba_view(b), numba_view(out)
        )


def maximum_slow(a: Any, b: Any, out: Any, threads_per_block: Block = (32, 8, 1)) -> None:
    """Give each thread one element of a box, with threadIdx.x along the slow axis.

    Parameters
    ----------
    a, b : device array of float32, shape (d, h, w)
        Inputs.
    out : device array of float32, shape (d, h, w)
        Filled with the larger of the two; with `b` where one is NaN.
    threads_per_block : (int, int, int)
        Along x (the first axis), y and z (the last axis).

    Raises
    ------
    ArgumentError
        The arrays are not three-dimensional float32 of one shape, or the block does not fit.

    Examples
    --------
    >>> box = np.zeros((2, 3, 4), np.float32)
    >>> try:
    ...     maximum_slow(box, box, box, threads_per_block=(8, 8, 128))
    ... except ValueError as error:
    ...     print(error)
    threads_per_block[2] must be an integer from 1 to 64; got 128.
    """
    d, h, w = _checked_box(a, b, out)
    blocks_per_grid = grid_3d((w, h, d), threads_per_block)  # the other way round
    if out.size:
        maximum_slow_kernel[blocks_per_grid, threads_per_block, current_stream()](
            numba_view(a), numba_view(b), numba_view(out)
        )


def maximum_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes: two elements are read for each that is written.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read, bytes written; a comparison is not counted as an operation.

    Examples
    --------
    >>> maximum_traffic(256**3, "float32").bytes_total
    201326592
    """
    n_bytes = n * np.dtype(dtype).itemsize
    return Traffic(bytes_read=2 * n_bytes, bytes_written=n_bytes)


def box_shape(n: int) -> tuple[int, int, int]:
    """Return three lengths whose product is `n`, nearest to a cube, the shortest first.

    Parameters
    ----------
    n : int
        Number of elements.

    Returns
    -------
    (int, int, int)
        Lengths of the first, second and last axis.

    Examples
    --------
    >>> box_shape(256**3), box_shape(3 * 11 * 31)
    ((256, 256, 256), (3, 11, 31))
    """
    depth = next((d for d in range(round(n ** (1 / 3)), 0, -1) if n % d == 0), 0)
    return (depth, *matrix_shape(n // depth)) if depth else (0, 0, 0)


def study() -> Study:
    """Describe the comparison of both axes and two blocks on boxes.

    Returns
    -------
    Study
        Four variants at 64 x 64 x 64 and 256 x 256 x 256 float32.

    Examples
    --------
    >>> 256**3 in study().sizes
    True
    """
    return Study(
        name="box",
        title="The larger of two elements, in three dimensions",
        variants=(
            _in_box("fast_32x8x1", maximum_fast, (32, 8, 1)),
            _in_box("fast_8x8x8", maximum_fast, (8, 8, 8)),
            _in_box("slow_8x8x8", maximum_slow, (8, 8, 8)),
            _in_box("slow_32x8x1", maximum_slow, (32, 8, 1)),
        ),
        sizes=SIZES,
        inputs=_boxes,
        check=EqualCheck(maximum_reference),
        input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
        baseline="slow_8x8x8",
    )


def _in_box(name: str, call: Callable[..., None], block: Block) -> Variant:
    return Variant(
        name,
        partial(call, threads_per_block=block),
        label=block_label(name),
        note=block_note(name, "last axis"),
        arrays="numba",
        traffic=maximum_traffic,
    )


def _checked_box(a: Any, b: Any, out: Any) -> tuple[int, int, int]:
    arrays = (a, b, out)
    fits = all(x.ndim == 3 and x.shape == a.shape and x.dtype == np.float32 for x in arrays)
    if not fits:
        came = ", ".join(f"{x.shape} {x.dtype}" for x in arrays)
        raise ArgumentError(
            f"maximum takes three float32 arrays of one shape (d, h, w); got {came}."
        )
    d, h, w = out.shape
    return int(d), int(h), int(w)


def _boxes(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    def box() -> np.ndarray:
        values = whole_numbers(rng, n, EXACT_BELOW, dtype) if exact else uniform(rng, n, dtype)
        return values.reshape(box_shape(n))

    return box(), box()
