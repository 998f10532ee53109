"""Launch sizes: one maximum in many shapes of launch, and grids of 1 to 2**24 blocks that do nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine import launch
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cupy_variant, kernel_variant
from gpuguide.measure.study import Study
from gpuguide.topics.launch_sizes.kernels import empty_kernel
from gpuguide.topics.launch_sizes.maximum import (
    INPUT_NOTE,
    maximum,
    maximum_cupy,
    maximum_grid_stride,
    maximum_inputs,
    maximum_reference,
    maximum_traffic,
)

ELEMENTS = 2**26
ITEMS = (1, 2, 4, 8)
# 33 threads take two warps, of which the second has 31 threads without work.
COVERING_THREADS = (32, 33, 64, 128, 256, 512, 1024)
LOOPING_THREADS = (32, 64, 128, 256, 512, 1024)
LOOPING_ITEMS = (1, 4)
BLOCKS_PER_SM = (1, 2, 4, 8, 16, 32, 64)
EMPTY_THREADS = (128, 1024)
EMPTY_SIZES = (1, 2**6, 2**12, 2**16, 2**21, 2**24)


def shape_name(
    threads_per_block: int, items_per_thread: int, blocks_per_sm: int | None = None
) -> str:
    """Name a shape of launch, as the variants of `shapes_study` are named.

    >>> shape_name(128, 4, 2), shape_name(33, 1)
    ('t128_i4_b2', 't33_i1_all')
    """
    blocks = "all" if blocks_per_sm is None else f"b{blocks_per_sm}"
    return f"t{threads_per_block}_i{items_per_thread}_{blocks}"


def shapes_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of launch shapes for one maximum, and of CuPy's ufunc."""
    covering = (_covering(t, i) for t in COVERING_THREADS for i in ITEMS)
    looping = (
        _looping(t, i, b) for i in LOOPING_ITEMS for t in LOOPING_THREADS for b in BLOCKS_PER_SM
    )
    cupy = cupy_variant("cupy", maximum_cupy, "CuPy maximum", traffic=maximum_traffic)
    return Study(
        name="shapes",
        title="One maximum in many shapes of launch",
        variants=(cupy, *covering, *looping),
        sizes=(ELEMENTS,),
        inputs=maximum_inputs,
        reference=maximum_reference,
        equal=True,
        dtype="float32",
        input_note=INPUT_NOTE,
        baseline="cupy",
        kernels=kernels,
    )


def rules_study(kernels: Kernels = None) -> Study:
    """Describe four shapes that rules of thumb are about, and CuPy's, one element a thread in each."""
    renamed = {
        "threads_33": _covering(33, 1),
        "threads_64": _covering(64, 1),
        "threads_128": _covering(128, 1),
        "blocks_4": _looping(128, 1, 4),
        "blocks_16": _looping(128, 1, 16),
    }
    shapes = shapes_study()
    return replace(
        shapes,
        name="rules",
        title="Rules of thumb, one element a thread",
        variants=(
            shapes.variant("cupy"),
            *(replace(variant, name=name) for name, variant in renamed.items()),
        ),
        kernels=kernels,
    )


def empty_grid(blocks_per_grid: int, out: Any, threads_per_block: int = 128) -> None:
    """Launch blocks that have nothing to do."""
    if blocks_per_grid < 1:
        raise ArgumentError(f"empty_grid expects at least one block; got {blocks_per_grid}.")
    launch.check(out=out, shape=(2,), dtype="int64")
    empty_kernel[blocks_per_grid, threads_per_block](out)


def empty_reference(blocks_per_grid: int) -> np.ndarray:
    """Return the receipt of a grid: the index of its last block, and the number of its blocks.

    >>> empty_reference(16).tolist()
    [15, 16]
    """
    return np.array([blocks_per_grid - 1, blocks_per_grid])


def empty_study(kernels: Kernels = None) -> Study:
    """Describe the timing of grids that do nothing, by the number of their blocks."""
    return Study(
        name="empty",
        title="Grids that do nothing",
        variants=tuple(
            kernel_variant(
                f"t{threads}",
                functools.partial(empty_grid, threads_per_block=threads),
                f"{threads} threads a block",
                note=f"Blocks of {threads} threads, of which one in the whole grid writes a receipt.",
            )
            for threads in EMPTY_THREADS
        ),
        sizes=EMPTY_SIZES,
        inputs=lambda n, dtype, rng, exact: (n,),
        reference=empty_reference,
        output=lambda n, dtype: ((2,), dtype),
        dtype="int64",
        size_name="blocks",
        input_note="none",
        kernels=kernels,
    )


def _covering(threads: int, items: int) -> Variant:
    return _shape(
        shape_name(threads, items),
        functools.partial(maximum, items_per_thread=items, threads_per_block=threads),
        f"{threads} threads, {items} a thread",
        "As many blocks as cover the arrays once.",
    )


def _looping(threads: int, items: int, blocks: int) -> Variant:
    return _shape(
        shape_name(threads, items, blocks),
        functools.partial(
            maximum_grid_stride,
            items_per_thread=items,
            threads_per_block=threads,
            blocks_per_sm=blocks,
        ),
        f"{threads} threads, {items} a thread, {blocks} block{'s' * (blocks > 1)} a multiprocessor",
        "A fixed number of blocks, whose threads loop.",
    )


def _shape(name: str, call: Callable[..., None], label: str, note: str) -> Variant:
    return kernel_variant(name, call, label, traffic=maximum_traffic, note=note)
