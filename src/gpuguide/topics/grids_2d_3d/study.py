"""One thread for each element of a matrix: which axis threadIdx.x should walk along."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import current_stream, numba_view
from gpuguide.machine.launch import grid_2d
from gpuguide.measure.equal_check import EqualCheck
from gpuguide.measure.plan import Variant
from gpuguide.measure.random_inputs import uniform
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.grids_2d_3d.kernels import increment_fast_kernel, increment_slow_kernel

Block = tuple[int, int]

SIZES = tuple(rows**2 for rows in (256, 512, 1024, 4096, 8192, 16_384))


def increment_reference(x: Any) -> Any:
    """Return ``x + 1``: the definition of correct.

    Parameters
    ----------
    x : array of float64, shape (rows, cols)
        Any values.

    Returns
    -------
    array of float64, shape (rows, cols)
        A new array.

    Examples
    --------
    >>> increment_reference(np.zeros((1, 2))).tolist()
    [[1.0, 1.0]]
    """
    return x + 1


def increment_fast(x: Any, threads_per_block: Block = (32, 8)) -> None:
    """Give each thread one element of a matrix, with threadIdx.x along the fast axis.

    Parameters
    ----------
    x : device array of float64, shape (rows, cols)
        Changed in place.
    threads_per_block : (int, int)
        Along x, which are columns, and along y, which are rows.

    Raises
    ------
    ArgumentError
        `x` is not a float64 matrix, or the block does not fit.

    Examples
    --------
    >>> try:
    ...     increment_fast(np.ones((2, 2), np.float32))
    ... except ValueError as error:
    ...     print(error)
    increment takes a float64 matrix; got shape (2, 2), float32. Use x.astype("float64").
    """
    rows, cols = _checked_matrix(x)
    blocks_per_grid = grid_2d((rows, cols), threads_per_block)
    if rows and cols:
        increment_fast_kernel[blocks_per_grid, threads_per_block, current_stream()](
            numba_view(x)
        )


def increment_slow(x: Any, threads_per_block: Block = (32, 8)) -> None:
    """Give each thread one element of a matrix, with threadIdx.x along the slow axis.

    Parameters
    ----------
    x : device array of float64, shape (rows, cols)
        Changed in place.
    threads_per_block : (int, int)
        Along x, which are rows, and along y, which are columns.

    Raises
    ------
    ArgumentError
        `x` is not a float64 matrix, or the block does not fit.

    Examples
    --------
    >>> try:
    ...     increment_slow(np.ones(4))
    ... except ValueError as error:
    ...     print(error)
    increment takes a float64 matrix; got shape (4,), float64. Use x.reshape(rows, cols).
    """
    rows, cols = _checked_matrix(x)
    blocks_per_grid = grid_2d((cols, rows), threads_per_block)  # the other way round
    if rows and cols:
        increment_slow_kernel[blocks_per_grid, threads_per_block, current_stream()](
            numba_view(x)
        )


def increment_traffic(n: int, dtype: Any) -> Traffic:
    """Count the unique bytes and operations: each element is read once and written once.

    Parameters
    ----------
    n : int
        Number of elements.
    dtype : dtype
        Type of the elements.

    Returns
    -------
    Traffic
        Bytes read, bytes written, additions.

    Examples
    --------
    >>> increment_traffic(256 * 256, "float64").bytes_total
    1048576
    """
    n_bytes = n * np.dtype(dtype).itemsize
    return Traffic(bytes_read=n_bytes, bytes_written=n_bytes, flops=n, unit="fp64")


def matrix_shape(n: int) -> tuple[int, int]:
    """Return the rows and columns of `n` elements that are nearest to a square, rows first.

    Parameters
    ----------
    n : int
        Number of elements.

    Returns
    -------
    (int, int)
        Rows, at most as many as the columns.

    Examples
    --------
    >>> matrix_shape(65_536), matrix_shape(781 * 1823), matrix_shape(31)
    ((256, 256), (781, 1823), (1, 31))
    """
    rows = next((rows for rows in range(isqrt(n), 0, -1) if n % rows == 0), 0)
    return (rows, n // rows) if rows else (0, 0)


def study() -> Study:
    """Describe the comparison of both axes and two blocks on matrices.

    Returns
    -------
    Study
        Four variants from 256 x 256 to 16 384 x 16 384 float64.

    Examples
    --------
    >>> study().names
    ('fast_32x8', 'fast_16x16', 'slow_16x16', 'slow_32x8')
    """
    return Study(
        name="matrix",
        title="Adding one to every element of a square matrix",
        variants=(
            _in_matrix("fast_32x8", increment_fast, (32, 8)),
            _in_matrix("fast_16x16", increment_fast, (16, 16)),
            _in_matrix("slow_16x16", increment_slow, (16, 16)),
            _in_matrix("slow_32x8", increment_slow, (32, 8)),
        ),
        sizes=SIZES,
        inputs=_matrix,
        check=EqualCheck(increment_reference),
        dtype="float64",
        input_note="uniform random numbers; whole numbers counting up for the exact check",
        baseline="slow_16x16",
    )


def _in_matrix(name: str, call: Callable[..., None], block: Block) -> Variant:
    return Variant(
        name,
        partial(call, threads_per_block=block),
        label=block_label(name),
        note=block_note(name, "rows"),
        arrays="numba",
        mutates=True,
        traffic=increment_traffic,
    )


def block_label(name: str) -> str:
    """Return what charts call a variant that is named by its axis and its block.

    Parameters
    ----------
    name : str
        Such as ``"fast_32x8"``.

    Returns
    -------
    str
        The two words, with a comma.

    Examples
    --------
    >>> block_label("fast_32x8")
    'fast, 32x8'
    """
    axis, block = name.split("_")
    return f"{axis}, {block}"


def block_note(name: str, fast: str) -> str:
    """Return a sentence on a variant that is named by its axis and its block.

    Parameters
    ----------
    name : str
        Such as ``"fast_32x8"``.
    fast : str
        What neighbours in memory are neighbours in.

    Returns
    -------
    str
        One sentence.

    Examples
    --------
    >>> block_note("slow_16x16", "rows")
    'Blocks of 16 x 16 threads, x across the rows.'
    """
    axis, block = name.split("_")
    way = f"along the {fast}" if axis == "fast" else f"across the {fast}"
    return f"Blocks of {block.replace('x', ' x ')} threads, x {way}."


def _checked_matrix(x: Any) -> tuple[int, int]:
    if x.ndim != 2 or x.dtype != np.float64:
        cure = "x.reshape(rows, cols)" if x.ndim != 2 else 'x.astype("float64")'
        raise ArgumentError(
            f"increment takes a float64 matrix; got shape {x.shape}, {x.dtype}. Use {cure}."
        )
    rows, cols = x.shape
    return int(rows), int(cols)


def _matrix(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    # Counting up shows an element that ended up in the wrong place.
    values = np.arange(n, dtype=dtype) if exact else uniform(rng, n, dtype)
    return (values.reshape(matrix_shape(n)),)
