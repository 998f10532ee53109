"""What memory can do: one answer reached by writing alone, by copying and by reading two arrays.

Reading alone is the module `reading`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cupy_variant, kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.know_your_gpu.kernels import (
    ITEMS_PER_THREAD,
    PATTERN,
    THREADS_PER_BLOCK,
    copy_kernel,
    two_to_one_kernel,
    write_kernel,
)

SIZES = tuple(2**power for power in (12, 16, 20, 23, 25, 27, 30))


def pattern_reference(a: Any, b: Any) -> Any:
    """Return the first array: all variants write the same numbers, by different ways.

    >>> pattern_reference(np.array([0.0, 1.0]), np.array([0.0, 0.5])).tolist()
    [0.0, 1.0]
    """
    return a.copy()


def write(a: Any, b: Any, out: Any) -> None:
    """Write only: the numbers follow from their places."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK * ITEMS_PER_THREAD)
        write_kernel[blocks_per_grid, THREADS_PER_BLOCK](out)


def copy(a: Any, b: Any, out: Any) -> None:
    """Read one array and write one."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK * ITEMS_PER_THREAD)
        copy_kernel[blocks_per_grid, THREADS_PER_BLOCK](a, out)


def two_to_one(a: Any, b: Any, out: Any) -> None:
    """Read two arrays and write one: the larger of each pair."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK * ITEMS_PER_THREAD)
        two_to_one_kernel[blocks_per_grid, THREADS_PER_BLOCK](a, b, out)


def copy_cupy(a: Any, b: Any, out: Any) -> None:
    """Copy with cp.copyto, which asks the driver to copy."""
    cupy().copyto(out, a)


def _bytes_traffic(reads: int) -> Callable[[int, Any], Traffic]:
    # The sizes are bytes of an array here, so that an element is one of them.
    count = streaming_traffic(reads=reads, writes=1)
    return lambda n_bytes, dtype: count(n_bytes, np.uint8)


write_traffic, copy_traffic, two_to_one_traffic = map(_bytes_traffic, (0, 1, 2))


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of three mixes of reading and writing, and of CuPy's copy."""
    return Study(
        name="mixes",
        title="Writing, copying, and reading two arrays",
        variants=(
            kernel_variant("write", write, "write", traffic=write_traffic),
            kernel_variant("copy", copy, "copy 1 : 1", traffic=copy_traffic),
            kernel_variant(
                "two_to_one", two_to_one, "read two, write one", traffic=two_to_one_traffic
            ),
            cupy_variant("copy_cupy", copy_cupy, "CuPy copyto", traffic=copy_traffic),
        ),
        sizes=SIZES,
        inputs=_pattern_inputs,
        reference=pattern_reference,
        equal=True,
        output=lambda n, dtype: ((n // np.dtype(dtype).itemsize,), dtype),
        dtype="float32",
        size_name="bytes an array",
        input_note="whole numbers counting up to 2**24 and starting again, and smaller random ones",
        baseline="copy",
        kernels=kernels,
    )


def _pattern_inputs(
    n_bytes: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    n = n_bytes // np.dtype(dtype).itemsize
    a = np.resize(np.arange(PATTERN + 1, dtype=dtype), n)
    b = uniform(rng, n, dtype)
    # Nowhere larger than a, so that the larger of the two is a, as the other variants write it.
    b *= a
    return a, np.floor(b, out=b) if exact else b
