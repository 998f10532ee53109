"""The larger of two numbers, element by element: its kernels at any launch size."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine import device, launch
from gpuguide.machine.backends import array_module, cupy, simulated
from gpuguide.machine.launch import blocks_1d, grid_stride_blocks
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cupy_variant, kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.launch_sizes.kernels import (
    four_elements,
    four_grid_stride,
    grid_stride,
    one_element,
    two_elements,
)

# By the elements of a thread.
KERNELS = {1: one_element, 2: two_elements, 4: four_elements}
GRID_STRIDE_KERNELS = {1: grid_stride, 4: four_grid_stride}
THREADS_PER_BLOCK = 256
# Of 256 threads: as many as a multiprocessor of an NVIDIA H200 holds at once.
BLOCKS_PER_SM = 8
SIZES = (2**12, 2**16, 2**20, 2**24, 2**26, 2**28)
SIMULATED_MULTIPROCESSORS = 2


def maximum_reference(a: Any, b: Any) -> Any:
    """Choose the larger of each pair by comparisons alone; not a number (NaN) wins.

    >>> maximum_reference(np.array([1.0, np.nan, 5.0]), np.array([2.0, 3.0, 4.0])).tolist()
    [2.0, nan, 5.0]
    """
    xp = array_module(a)
    return xp.where((a > b) | xp.isnan(a), a, b)


def maximum(
    a: Any,
    b: Any,
    out: Any,
    items_per_thread: int = 4,
    threads_per_block: int = THREADS_PER_BLOCK,
) -> None:
    """Launch as many blocks as cover the arrays once."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    kernel = chosen_kernel(KERNELS, items_per_thread)
    if n:
        blocks_per_grid = blocks_covering(n, items_per_thread, threads_per_block)
        kernel[blocks_per_grid, threads_per_block](a, b, out)


def maximum_grid_stride(
    a: Any,
    b: Any,
    out: Any,
    items_per_thread: int = 1,
    threads_per_block: int = THREADS_PER_BLOCK,
    blocks_per_sm: int = BLOCKS_PER_SM,
) -> None:
    """Launch a fixed number of blocks per multiprocessor, whose threads loop over the arrays."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    kernel = chosen_kernel(GRID_STRIDE_KERNELS, items_per_thread)
    if n:
        n_items = -(-n // items_per_thread)
        blocks_per_grid = grid_stride_blocks(
            n_items, threads_per_block, multiprocessors(), blocks_per_sm
        )
        kernel[blocks_per_grid, threads_per_block](a, b, out)


def maximum_cupy(a: Any, b: Any, out: Any) -> None:
    """Call CuPy's ufunc, which launches a kernel that CuPy has generated."""
    cupy().maximum(a, b, out=out)


# A comparison is no FLOP.
maximum_traffic = streaming_traffic(reads=2, writes=1)


def blocks_covering(n: int, items_per_thread: int, threads_per_block: int) -> int:
    """Count the blocks that cover `n` elements once.

    >>> blocks_covering(2**28, 1, 128), blocks_covering(2**28, 4, 256)
    (2097152, 262144)
    """
    return blocks_1d(-(-n // items_per_thread), threads_per_block)


def study(kernels: Kernels = None) -> Study:
    """Describe the ladder from CuPy's shape of launch to one that the memory can keep up with."""
    return Study(
        name="maximum",
        title="Element-wise maximum of two vectors",
        variants=(
            cupy_variant("cupy", maximum_cupy, "CuPy maximum", traffic=maximum_traffic),
            _covering("one_element", "one element, blocks of 128", 1, 128),
            _covering("larger_blocks", "one element, blocks of 256", 1, 256),
            kernel_variant(
                "grid_stride", maximum_grid_stride, "grid-stride loop", traffic=maximum_traffic
            ),
            _covering("four_elements", "four elements, blocks of 256", 4, 256),
        ),
        sizes=SIZES,
        inputs=maximum_inputs,
        reference=maximum_reference,
        equal=True,
        dtype="float32",
        input_note=INPUT_NOTE,
        baseline="cupy",
        kernels=kernels,
    )


INPUT_NOTE = "uniform random numbers, three in a thousand places with NaN; whole numbers for the exact check"


def maximum_inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    """Make two vectors with NaN in the first, in the second and in both.

    >>> a, b = maximum_inputs(8, np.dtype("float32"), np.random.default_rng(0), True)
    >>> np.flatnonzero(np.isnan(a)).tolist(), np.flatnonzero(np.isnan(b)).tolist()
    ([5, 7], [6, 7])
    """
    pair = tuple(
        whole_numbers(rng, n, 1001, dtype, low=-1000) if exact else uniform(rng, n, dtype)
        for _ in range(2)
    )
    for x, place in zip(pair, (5, 6), strict=True):
        x[place::1000] = np.nan
        x[7::1000] = np.nan
    return pair


# Asked at each launch, so the answer is kept.
@functools.cache
def multiprocessors() -> int:
    """Count this GPU's multiprocessors; the simulator passes for a GPU with two."""
    return SIMULATED_MULTIPROCESSORS if simulated() else device.require_gpu().sm_count


def chosen_kernel(kernels: dict[int, Any], items_per_thread: int) -> Any:
    """Choose the kernel that gives a thread so many elements."""
    if items_per_thread not in kernels:
        *most, last = kernels
        known = f"{', '.join(map(str, most))} or {last}"
        raise ArgumentError(f"items_per_thread must be {known}; got {items_per_thread!r}.")
    return kernels[items_per_thread]


def _covering(name: str, label: str, items: int, threads: int) -> Variant:
    return kernel_variant(
        name,
        functools.partial(maximum, items_per_thread=items, threads_per_block=threads),
        label,
        traffic=maximum_traffic,
        note="As many blocks as cover the arrays once.",
    )
