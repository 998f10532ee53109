"""One thread for each element of a matrix: which axis threadIdx.x should walk along."""

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
from gpuguide.topics.grids_2d_3d.kernels import increment_fast_kernel, increment_slow_kernel

Block = tuple[int, int]

SIZES = tuple(rows**2 for rows in (256, 512, 1024, 4096, 8192, 16_384))


def increment_reference(x: Any) -> Any:
    """Return ``x + 1``: the definition of correct."""
    return x + 1


def increment_fast(x: Any, threads_per_block: Block = (32, 8)) -> None:
    """Give each thread one element of a matrix, with threadIdx.x along the fast axis."""
    rows, cols = launch.check(x=x, ndim=2, dtype="float64")
    blocks_per_grid = grid_2d((rows, cols), threads_per_block)
    if rows and cols:
        increment_fast_kernel[blocks_per_grid, threads_per_block](x)


def increment_slow(x: Any, threads_per_block: Block = (32, 8)) -> None:
    """Give each thread one element of a matrix, with threadIdx.x along the slow axis."""
    rows, cols = launch.check(x=x, ndim=2, dtype="float64")
    blocks_per_grid = grid_2d((cols, rows), threads_per_block)  # the other way round
    if rows and cols:
        increment_slow_kernel[blocks_per_grid, threads_per_block](x)


increment_traffic = streaming_traffic(reads=1, writes=1, flops=1, unit="fp64")


def matrix_shape(n: int) -> tuple[int, int]:
    """Return the rows and columns of `n` elements that are nearest to a square, rows first.

    >>> matrix_shape(65_536), matrix_shape(781 * 1823), matrix_shape(31)
    ((256, 256), (781, 1823), (1, 31))
    """
    rows = next((rows for rows in range(isqrt(n), 0, -1) if n % rows == 0), 0)
    return (rows, n // rows) if rows else (0, 0)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of both axes and two blocks on matrices."""
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
        reference=increment_reference,
        equal=True,
        dtype="float64",
        input_note="uniform random numbers; whole numbers counting up for the exact check",
        baseline="slow_16x16",
        kernels=kernels,
    )


def _in_matrix(name: str, call: Callable[..., None], block: Block) -> Variant:
    return kernel_variant(
        name,
        partial(call, threads_per_block=block),
        block_label(name),
        note=block_note(name, "rows"),
        mutates=True,
        traffic=increment_traffic,
    )


def block_label(name: str) -> str:
    """Return what charts call a variant that is named by its axis and its block.

    >>> block_label("fast_32x8")
    'fast, 32x8'
    """
    axis, block = name.split("_")
    return f"{axis}, {block}"


def block_note(name: str, fast: str) -> str:
    """Return a sentence on a variant that is named by its axis and its block.

    >>> block_note("slow_16x16", "rows")
    'Blocks of 16 x 16 threads, x across the rows.'
    """
    axis, block = name.split("_")
    way = f"along the {fast}" if axis == "fast" else f"across the {fast}"
    return f"Blocks of {block.replace('x', ' x ')} threads, x {way}."


def _matrix(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    # Counting up shows an element that ended up in the wrong place.
    values = np.arange(n, dtype=dtype) if exact else uniform(rng, n, dtype)
    return (values.reshape(matrix_shape(n)),)
