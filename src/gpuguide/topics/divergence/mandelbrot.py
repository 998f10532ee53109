"""Steps of the Mandelbrot set: work that varies from pixel to pixel, dealt out in several orders."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.cpu import in_threads
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import kernel_variant
from gpuguide.measure.study import Study
from gpuguide.topics.divergence.kernels import LEFT, SPAN, TOP, one_pixel

THREADS_PER_BLOCK = 128
SIZES = (1024**2,)
MOST_STEPS = 256
TILE_ROWS, TILE_COLS = 4, 8
_PART = 1 << 14


# The inputs need it for their order before the check does.
@lru_cache(maxsize=4)
def escape_reference(n: int) -> np.ndarray:
    """Let all pixels of a part take a step at a time; those that are out stay at 0 and count no more.

    >>> escape_reference(16).tolist()
    [1, 1, 2, 2, 1, 3, 4, 34, 1, 256, 256, 256, 1, 3, 4, 34]
    """
    steps = np.zeros(n, np.int32)
    in_threads(
        lambda start: _count(steps, np.arange(start, min(start + _PART, n))),
        range(0, n, _PART),
        8 * steps.nbytes,
    )
    # All callers get this one array, which the cache keeps.
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

    >>> width_of(1024**2), width_of(0)
    (1024, 1)
    """
    return max(1, isqrt(n))


def tile_order(n: int) -> np.ndarray:
    """List the pixels tile by tile, so that a warp has 8 columns of 4 rows.

    >>> tile_order(256)[:10].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 16, 17]
    """
    row, col = np.divmod(np.arange(n), width_of(n))
    # Any factor above the number of tiles in a row would do; n is.
    tile = row // TILE_ROWS * n + col // TILE_COLS
    return np.argsort(tile, kind="stable").astype(np.int32)


def escape_in_rows(rows: Any, tiles: Any, shuffled: Any, by_steps: Any, steps: Any) -> None:
    """Give a warp 32 neighbours of one row."""
    launch_escape(steps, rows=rows)


def escape_in_tiles(rows: Any, tiles: Any, shuffled: Any, by_steps: Any, steps: Any) -> None:
    """Give a warp 8 neighbours of each of 4 rows."""
    launch_escape(steps, tiles=tiles)


def escape_shuffled(rows: Any, tiles: Any, shuffled: Any, by_steps: Any, steps: Any) -> None:
    """Give a warp 32 pixels from anywhere."""
    launch_escape(steps, shuffled=shuffled)


def escape_by_steps(rows: Any, tiles: Any, shuffled: Any, by_steps: Any, steps: Any) -> None:
    """Give a warp 32 pixels of about the same steps, as if those were known."""
    launch_escape(steps, by_steps=by_steps)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of four orders of the pixels of one picture."""
    return Study(
        name="escape",
        title="Steps of the Mandelbrot set",
        variants=(
            kernel_variant("rows", escape_in_rows),
            kernel_variant("tiles", escape_in_tiles),
            kernel_variant("shuffled", escape_shuffled),
            kernel_variant("by_steps", escape_by_steps),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=lambda rows, *orders: escape_reference(rows.size),
        dtype="int32",
        size_name="pixels",
        input_note="all pixels, in four orders",
        baseline="rows",
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    rows = np.arange(n, dtype=dtype)
    by_steps = np.argsort(-escape_reference(n), kind="stable").astype(dtype)
    return rows, tile_order(n), rng.permutation(rows), by_steps


def launch_escape(steps: Any, **order: Any) -> None:
    """Launch a thread for each pixel, which takes the one that the order names."""
    n = launch.check(**order, steps=steps, ndim=1, dtype="int32")
    if n:
        one_pixel[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](
            *order.values(), width_of(n), steps
        )
