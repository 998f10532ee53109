"""Steps of the Mandelbrot set: work that varies from pixel to pixel, dealt out in several orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import current_stream, numba_view
from gpuguide.machine.cpu import in_threads
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.plan import Variant
from gpuguide.measure.study import Study
from gpuguide.topics.divergence.kernels import LEFT, SPAN, TOP, one_pixel_kernel

THREADS_PER_BLOCK = 128
SIZES = (1024**2,)
MOST_STEPS = 256
TILE_ROWS, TILE_COLS = 4, 8
_PART = 1 << 14


@lru_cache(maxsize=4)
def escape_reference(n: int) -> np.ndarray:
    """Let all pixels of a part take a step at a time; those that are out stay at 0 and count no more.

    Parameters
    ----------
    n : int
        How many pixels; as many rows as columns, if that goes.

    Returns
    -------
    ndarray of int32, shape (n,)
        Steps until a pixel's number leaves the circle of radius 2, at most 256; not to be written to.

    Examples
    --------
    >>> escape_reference(16).tolist()
    [1, 1, 2, 2, 1, 3, 4, 34, 1, 256, 256, 256, 1, 3, 4, 34]
    """
    steps = np.zeros(n, np.int32)
    in_threads(
        lambda start: _count(steps, np.arange(start, min(start + _PART, n))),
        range(0, n, _PART),
        8 * steps.nbytes,
    )
    steps.flags.writeable = False
    return steps


def _count(steps: np.ndarray, pixel: np.ndarray) -> None:
    width = width_of(steps.size)
    re = LEFT + pixel % width * (SPAN // width)
    im = TOP + pixel // width * (SPAN // width)
    x, y, inside = np.zeros_like(re), np.zeros_like(re), np.ones(re.size, bool)
    for turn in range(MOST_STEPS):
        xx, yy = x * x >> 20, y * y >> 20
        inside &= xx + yy <= 4 << 20
        steps[pixel] += inside
        x, y = (xx - yy + re) * inside, ((2 * x * y >> 20) + im) * inside
        if turn % 8 == 7:  # drop them only now and then: that takes longer than a step
            pixel, re, im, x, y = (each[inside] for each in (pixel, re, im, x, y))
            inside = inside[inside]


def width_of(n: int) -> int:
    """Return the columns of a picture that is as nearly square as whole numbers allow.

    Parameters
    ----------
    n : int
        How many pixels.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> width_of(1024**2), width_of(0)
    (1024, 1)
    """
    return max(1, isqrt(n))


def tile_order(n: int) -> np.ndarray:
    """List the pixels tile by tile, so that a warp has 8 columns of 4 rows.

    Parameters
    ----------
    n : int
        How many pixels.

    Returns
    -------
    ndarray of int32, shape (n,)
        Each pixel once.

    Examples
    --------
    >>> tile_order(256)[:10].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 16, 17]
    """
    row, col = np.divmod(np.arange(n), width_of(n))
    tile = row // TILE_ROWS * n + col // TILE_COLS
    return np.argsort(tile, kind="stable").astype(np.int32)


def escape_in_rows(rows: Any, tiles: Any, shuffled: Any, by_steps: Any, out: Any) -> None:
    """Give a warp 32 neighbours of one row.

    Parameters
    ----------
    rows, tiles, shuffled, by_steps : device array of int32, shape (n,)
        Four orders: which pixel each thread takes.
    out : device array of int32, shape (n,)
        Filled with the steps of each pixel.

    Raises
    ------
    ArgumentError
        An array has another shape or dtype.

    Examples
    --------
    >>> order = np.arange(3, dtype=np.int32)
    >>> try:
    ...     escape_in_rows(order, order, order, order, np.empty(3))
    ... except ArgumentError as error:
    ...     print(error)
    expected two vectors of int32 of one length; got (3,) int32 and (3,) float64.
    """
    _launch(rows, out)


def escape_in_tiles(rows: Any, tiles: Any, shuffled: Any, by_steps: Any, out: Any) -> None:
    """Give a warp 8 neighbours of each of 4 rows.

    Parameters
    ----------
    rows, tiles, shuffled, by_steps, out : device array of int32, shape (n,)
        As for `escape_in_rows`.

    Raises
    ------
    ArgumentError
        As for `escape_in_rows`.

    Examples
    --------
    >>> order = np.arange(3, dtype=np.int32)
    >>> try:
    ...     escape_in_tiles(order, order[:2], order, order, order)
    ... except ArgumentError as error:
    ...     print(error)
    expected two vectors of int32 of one length; got (2,) int32 and (3,) int32.
    """
    _launch(tiles, out)


def escape_shuffled(rows: Any, tiles: Any, shuffled: Any, by_steps: Any, out: Any) -> None:
    """Give a warp 32 pixels from anywhere.

    Parameters
    ----------
    rows, tiles, shuffled, by_steps, out : device array of int32, shape (n,)
        As for `escape_in_rows`.

    Raises
    ------
    ArgumentError
        As for `escape_in_rows`.

    Examples
    --------
    >>> order = np.arange(3, dtype=np.int32)
    >>> try:
    ...     escape_shuffled(order, order, np.arange(3), order, order)
    ... except ArgumentError as error:
    ...     print(error)
    expected two vectors of int32 of one length; got (3,) int64 and (3,) int32.
    """
    _launch(shuffled, out)


def escape_by_steps(rows: Any, tiles: Any, shuffled: Any, by_steps: Any, out: Any) -> None:
    """Give a warp 32 pixels of about the same steps, as if those were known.

    Parameters
    ----------
    rows, tiles, shuffled, by_steps, out : device array of int32, shape (n,)
        As for `escape_in_rows`.

    Raises
    ------
    ArgumentError
        As for `escape_in_rows`.

    Examples
    --------
    >>> order = np.arange(3, dtype=np.int32)
    >>> try:
    ...     escape_by_steps(order, order, order, order[:, None], order)
    ... except ArgumentError as error:
    ...     print(error)
    expected two vectors of int32 of one length; got (3, 1) int32 and (3,) int32.
    """
    _launch(by_steps, out)


def study() -> Study:
    """Describe the comparison of four orders of the pixels of one picture.

    Returns
    -------
    Study
        For a picture of 1024 by 1024 pixels.

    Examples
    --------
    >>> [variant.name for variant in study().variants]
    ['rows', 'tiles', 'shuffled', 'by_steps']
    """
    return Study(
        name="escape",
        title="Steps of the Mandelbrot set",
        variants=(
            _variant("rows", escape_in_rows),
            _variant("tiles", escape_in_tiles),
            _variant("shuffled", escape_shuffled),
            _variant("by_steps", escape_by_steps),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=lambda rows, *orders: escape_reference(rows.size),
        dtype="int32",
        size_name="pixels",
        input_note="all pixels, in four orders",
        baseline="rows",
    )


def _variant(name: str, call: Callable[..., None]) -> Variant:
    return Variant(name, call, arrays="numba")


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    rows = np.arange(n, dtype=dtype)
    by_steps = np.argsort(-escape_reference(n), kind="stable").astype(dtype)
    return rows, tile_order(n), rng.permutation(rows), by_steps


def _launch(order: Any, out: Any) -> None:
    if order.ndim != 1 or order.shape != out.shape or not order.dtype == out.dtype == np.int32:
        raise ArgumentError(
            "expected two vectors of int32 of one length; "
            f"got {order.shape} {order.dtype} and {out.shape} {out.dtype}."
        )
    n = int(out.size)
    if n:
        one_pixel_kernel[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK, current_stream()](
            numba_view(order), width_of(n), numba_view(out)
        )
