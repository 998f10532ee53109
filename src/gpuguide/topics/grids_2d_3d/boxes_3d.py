"""One thread for each element of a box: the axis of threadIdx.x among three."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import array_module
from gpuguide.machine.launch import grid_3d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.grids_2d_3d.kernels import maximum_fast_kernel, maximum_slow_kernel
from gpuguide.topics.grids_2d_3d.study import matrix_shape

Block = tuple[int, int, int]

SIZES = (64**3, 256**3)
EXACT_BELOW = 2**24
"""Whole numbers up to here are exact in float32."""


def maximum_reference(a: Any, b: Any) -> Any:
    """Return the larger of two arrays, element by element, and `b` where one of them is NaN.

    >>> maximum_reference(np.array([[[1.0, 5.0]]]), np.array([[[2.0, 3.0]]])).tolist()
    [[[2.0, 5.0]]]
    """
    return array_module(a).where(a > b, a, b)


def maximum_fast(a: Any, b: Any, out: Any, threads_per_block: Block = (32, 8, 1)) -> None:
    """Give each thread one element of a box, with threadIdx.x along the fast axis."""
    shape = launch.check(a=a, b=b, out=out, ndim=3, dtype="float32")
    blocks_per_grid = grid_3d(shape, threads_per_block)
    if out.size:
        maximum_fast_kernel[blocks_per_grid, threads_per_block](a, b, out)


def maximum_slow(a: Any, b: Any, out: Any, threads_per_block: Block = (32, 8, 1)) -> None:
    """Give each thread one element of a box, with threadIdx.x along the slow axis."""
    d, h, w = launch.check(a=a, b=b, out=out, ndim=3, dtype="float32")
    blocks_per_grid = grid_3d((w, h, d), threads_per_block)  # the other way round
    if out.size:
        maximum_slow_kernel[blocks_per_grid, threads_per_block](a, b, out)


maximum_traffic = streaming_traffic(reads=2, writes=1)


def box_shape(n: int) -> tuple[int, int, int]:
    """Return three lengths whose product is `n`, nearest to a cube, the shortest first.

    >>> box_shape(256**3), box_shape(3 * 11 * 31)
    ((256, 256, 256), (3, 11, 31))
    """
    depth = next((d for d in range(round(n ** (1 / 3)), 0, -1) if n % d == 0), 0)
    return (depth, *matrix_shape(n // depth)) if depth else (0, 0, 0)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of both axes and two blocks on boxes."""
    return Study(
        name="box",
        title="The larger of two elements, in three dimensions",
        variants=(
            _in_box("fast_8x8x8", maximum_fast, (8, 8, 8), "x along the last axis, 8x8x8"),
            _in_box("slow_8x8x8", maximum_slow, (8, 8, 8), "x along the first axis, 8x8x8"),
            _in_box("fast_32x8x1", maximum_fast, (32, 8, 1), "x along the last axis, 32x8x1"),
            _in_box("slow_32x8x1", maximum_slow, (32, 8, 1), "x along the first axis, 32x8x1"),
        ),
        sizes=SIZES,
        inputs=_boxes,
        reference=maximum_reference,
        equal=True,
        input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
        baseline="slow_8x8x8",
        kernels=kernels,
    )


def _in_box(name: str, call: Callable[..., None], block: Block, label: str) -> Variant:
    return kernel_variant(
        name, partial(call, threads_per_block=block), label, traffic=maximum_traffic
    )


def _boxes(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    def box() -> np.ndarray:
        values = whole_numbers(rng, n, EXACT_BELOW, dtype) if exact else uniform(rng, n, dtype)
        return values.reshape(box_shape(n))

    return box(), box()
