"""One thread for each element of a matrix: which axis threadIdx.x should walk along, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.launch import grid_2d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform
from gpuguide.measure.study import Study
from gpuguide.topics.grids_2d_3d.kernels import blocks_along_rows, fast_axis, slow_axis

Block = tuple[int, int]

SIZES = tuple(rows**2 for rows in (256, 512, 1024, 4096, 8192, 16_384))


def sectors_per_request(block: tuple[int, ...], strides: tuple[int, ...]) -> float:
    """Count the sectors that a warp touches; strides are bytes along x, y and z.

    >>> sectors_per_request((32, 8), strides=(8, 8192)), sectors_per_request((32, 8), strides=(8192, 8))
    (8.0, 32.0)
    """
    places = np.unravel_index(np.arange(np.prod(block)), block[::-1])[::-1]  # x counts fastest
    steps = [place * stride for place, stride in zip(places, strides, strict=True)]
    offsets = np.sum(steps, axis=0)
    warps = (offsets // 32).reshape(-1, 32)  # sectors of 32 bytes, warps of 32 threads
    return float(np.mean([len(set(sectors)) for sectors in warps.tolist()]))


def increment_reference(x: Any) -> Any:
    """Return ``x + 1``: the definition of correct."""
    return x + 1


def increment_fast(x: Any, threads_per_block: Block = (32, 8)) -> None:
    """Give each thread one element of a matrix, with threadIdx.x along the fast axis."""
    rows, cols = launch.check(x=x, ndim=2, dtype="float64")
    blocks_per_grid = grid_2d((rows, cols), threads_per_block)
    if rows and cols:
        fast_axis[blocks_per_grid, threads_per_block](x)


def increment_slow(x: Any, threads_per_block: Block = (32, 8)) -> None:
    """Give each thread one element of a matrix, with threadIdx.x along the slow axis."""
    rows, cols = launch.check(x=x, ndim=2, dtype="float64")
    blocks_per_grid = grid_2d((cols, rows), threads_per_block)  # the other way round
    if rows and cols:
        slow_axis[blocks_per_grid, threads_per_block](x)


def increment_blocks_along_rows(x: Any, threads_per_block: Block = (32, 8)) -> None:
    """Let threadIdx.x walk along the slow axis, and blockIdx.x along the fast one."""
    rows, cols = launch.check(x=x, ndim=2, dtype="float64")
    # A block is as wide as its threads along y, and as high as those along x.
    blocks_per_grid = grid_2d((rows, cols), threads_per_block[::-1])
    if rows and cols:
        blocks_along_rows[blocks_per_grid, threads_per_block](x)


increment_traffic = streaming_traffic(reads=1, writes=1, flops=1, unit="fp64")


def matrix_shape(n: int) -> tuple[int, int]:
    """Return the rows and columns of `n` elements that are nearest to a square, rows first.

    >>> matrix_shape(65_536), matrix_shape(781 * 1823), matrix_shape(31)
    ((256, 256), (781, 1823), (1, 31))
    """
    rows = next((rows for rows in range(isqrt(n), 0, -1) if n % rows == 0), 0)
    return (rows, n // rows) if rows else (0, 0)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of both axes, of blocks, and of the order of blocks on matrices."""
    return Study(
        name="matrix",
        title="Adding one to every element of a square matrix",
        variants=(
            _in_matrix("fast_32x8", increment_fast, (32, 8), "x along rows, 32x8"),
            _in_matrix("fast_16x16", increment_fast, (16, 16), "x along rows, 16x16"),
            _in_matrix("slow_16x16", increment_slow, (16, 16), "x down columns, 16x16"),
            _in_matrix("slow_32x8", increment_slow, (32, 8), "x down columns, 32x8"),
            _in_matrix("slow_32x32", increment_slow, (32, 32), "x down columns, 32x32"),
            _in_matrix(
                "blocks_along_rows",
                increment_blocks_along_rows,
                (32, 8),
                "x down columns, blocks along rows, 32x8",
            ),
        ),
        sizes=SIZES,
        inputs=_matrix,
        reference=increment_reference,
        equal=True,
        dtype="float64",
        size_name="matrix elements",
        input_note="uniform random numbers; whole numbers counting up for the exact check",
        baseline="fast_32x8",
        kernels=kernels,
    )


def _in_matrix(name: str, call: Callable[..., None], block: Block, label: str) -> Variant:
    return kernel_variant(
        name,
        partial(call, threads_per_block=block),
        label,
        mutates=True,
        traffic=increment_traffic,
    )


def _matrix(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    # Counting up shows an element that ended up in the wrong place.
    values = np.arange(n, dtype=dtype) if exact else uniform(rng, n, dtype)
    return (values.reshape(matrix_shape(n)),)
