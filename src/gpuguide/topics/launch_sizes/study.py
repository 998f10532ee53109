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
from gpuguide.measure.plan import Variant, kernel_variant
from gpuguide.measure.study import Study
from gpuguide.topics.launch_sizes.kernels import empty
from gpuguide.topics.launch_sizes.maximum import (
    INPUT_NOTE,
    maximum,
    maximum_grid_stride,
    maximum_inputs,
    maximum_reference,
    maximum_traffic,
)

ELEMENTS = 2**26
# (threads per block, elements per thread): as many blocks as cover the vectors.
COVERING = tuple(
    (threads, items) for items in (1, 2, 4) for threads in (32, 64, 128, 256, 512, 1024)
)
# (threads per block, elements per iteration, blocks per multiprocessor): 128 to 2048 threads on each.
LOOPING = tuple(
    (threads, items, per_sm // threads)
    for items in (1, 4)
    for per_sm in (128, 256, 512, 1024, 2048)
    for threads in (64, 256, 1024)
    if threads <= per_sm
)
EMPTY_THREADS = (128, 256)
EMPTY_SIZES = (1, 2**6, 2**12, 2**16, 2**21, 2**24)


def shape_name(
    threads_per_block: int, items_per_thread: int, blocks_per_sm: int | None = None
) -> str:
    """Name a shape of launch, as the variants of `map_study` are named.

    >>> shape_name(128, 4, 2), shape_name(33, 1)
    ('t128_i4_b2', 't33_i1_all')
    """
    blocks = "all" if blocks_per_sm is None else f"b{blocks_per_sm}"
    return f"t{threads_per_block}_i{items_per_thread}_{blocks}"


def map_study(kernels: Kernels = None) -> Study:
    """Describe the shapes of launch that the page's two charts are made of."""
    covering = (_covering(threads, items) for threads, items in COVERING)
    looping = (_looping(threads, items, blocks) for threads, items, blocks in LOOPING)
    return _study("map", "One maximum in many shapes of launch", (*covering, *looping), kernels)


def shapes_study(kernels: Kernels = None) -> Study:
    """Describe the shapes that the text and the rules of thumb are about, each one of a kind."""
    named = {
        "full_warps": _looping(64, 1, 32),
        "a_lane_more": _looping(33, 1, 32),
        "threads_64": _covering(64, 1),
        "threads_128": _covering(128, 1),
        "blocks_of_1024": _covering(1024, 1),
        "blocks_that_stay": _looping(1024, 1, 2),
        "four_blocks": _looping(128, 1, 4),
        "sixteen_blocks": _looping(128, 1, 16),
        "half_the_threads": _looping(256, 4, 4),
    }
    variants = tuple(replace(variant, name=name) for name, variant in named.items())
    return _study("shapes", "Some shapes of launch", variants, kernels)


def _study(name: str, title: str, variants: tuple[Variant, ...], kernels: Kernels) -> Study:
    return Study(
        name=name,
        title=title,
        variants=variants,
        sizes=(ELEMENTS,),
        inputs=maximum_inputs,
        reference=maximum_reference,
        equal=True,
        dtype="float32",
        input_note=INPUT_NOTE,
        baseline=variants[0].name,
        kernels=kernels,
    )


def empty_grid(blocks_per_grid: int, out: Any, threads_per_block: int = 128) -> None:
    """Launch blocks that have nothing to do."""
    if blocks_per_grid < 1:
        raise ArgumentError(f"empty_grid expects at least one block; got {blocks_per_grid}.")
    launch.check(out=out, shape=(2,), dtype="int64")
    empty[blocks_per_grid, threads_per_block](out)


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
                f"blocks of {threads} threads",
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
        f"blocks of {threads}, {_elements(items)}",
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
        f"{blocks} block{'s' * (blocks > 1)} of {threads} per multiprocessor, "
        f"{_elements(items)} per iteration",
        "A fixed number of blocks, whose threads loop.",
    )


def _elements(items: int) -> str:
    return f"{items} element{'s' * (items > 1)}"


def _shape(name: str, call: Callable[..., None], label: str, note: str) -> Variant:
    return kernel_variant(name, call, label, traffic=maximum_traffic, note=note)
