"""What memory can do: one answer by writing, by copying and by reading two arrays; and reading alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cupy_variant, kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.know_your_gpu.kernels import copy, read, two_to_one, write

THREADS_PER_BLOCK = 256
ITEMS_PER_THREAD = 4
PATTERN = (
    2**24 - 1
)  # as the kernel `write` has it: whole numbers up to here are exact in float32
TILE = 4096  # elements that one block of the kernel `read` adds up
SIZES = tuple(2**power for power in (12, 16, 20, 23, 25, 27, 30))


def pattern_reference(a: Any, b: Any) -> Any:
    """Return the first array: all variants write the same numbers, by different ways.

    >>> pattern_reference(np.array([0.0, 1.0]), np.array([0.0, 0.5])).tolist()
    [0.0, 1.0]
    """
    return a.copy()


def launch_write(a: Any, b: Any, out: Any) -> None:
    """Write only: the numbers follow from their places."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        write[_blocks_per_grid(n), THREADS_PER_BLOCK](out)


def launch_copy(a: Any, b: Any, out: Any) -> None:
    """Read one array and write one."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        copy[_blocks_per_grid(n), THREADS_PER_BLOCK](a, out)


def launch_two_to_one(a: Any, b: Any, out: Any) -> None:
    """Read two arrays and write one: the larger of each pair."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        two_to_one[_blocks_per_grid(n), THREADS_PER_BLOCK](a, b, out)


def _blocks_per_grid(n: int) -> int:
    return blocks_1d(n, THREADS_PER_BLOCK * ITEMS_PER_THREAD)


def copy_cupy(a: Any, b: Any, out: Any) -> None:
    """Copy with cp.copyto, which asks the driver to copy."""
    cupy().copyto(out, a)


def launch_read(a: Any, out: Any) -> None:
    """Read only, but for one sum that each block of threads writes for its 4096 elements."""
    n_sums = -(-launch.check(a=a, ndim=1, dtype="float32") // TILE)
    launch.check(out=out, shape=(n_sums,), dtype="float32")
    if n_sums:
        read[n_sums, THREADS_PER_BLOCK](a, out)


def block_sums_reference(a: np.ndarray) -> np.ndarray:
    """Add up each run of 4096 elements.

    >>> block_sums_reference(np.ones(5000)).tolist()
    [4096.0, 904.0]
    """
    return np.add.reduceat(a, np.arange(0, a.size, TILE)) if a.size else np.empty(0, a.dtype)


def _bytes_traffic(reads: int) -> Callable[[int, Any], Traffic]:
    # The sizes are bytes of an array here, so that an element is one of them.
    count = streaming_traffic(reads=reads, writes=1)
    return lambda n_bytes, dtype: count(n_bytes, np.uint8)


write_traffic, copy_traffic, two_to_one_traffic = map(_bytes_traffic, (0, 1, 2))


def read_traffic(n_bytes: int, dtype: Any) -> Traffic:
    """Count the bytes of reading one array and writing a sum for every 4096 elements."""
    itemsize = np.dtype(dtype).itemsize
    n = n_bytes // itemsize
    return Traffic(bytes_read=n_bytes, bytes_written=-(-n // TILE) * itemsize, flops=n)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of three mixes of reading and writing, and of CuPy's copy."""
    return Study(
        name="mixes",
        title="Writing, copying, and reading two arrays",
        variants=(
            kernel_variant("write", launch_write, "write", traffic=write_traffic),
            kernel_variant("copy", launch_copy, "copy 1 : 1", traffic=copy_traffic),
            kernel_variant(
                "two_to_one",
                launch_two_to_one,
                "read two, write one",
                traffic=two_to_one_traffic,
            ),
            cupy_variant("copy_cupy", copy_cupy, "CuPy copyto", traffic=copy_traffic),
        ),
        sizes=SIZES,
        inputs=_pattern_inputs,
        reference=pattern_reference,
        equal=True,
        output=lambda n, dtype: ((n // np.dtype(dtype).itemsize,), dtype),
        dtype="float32",
        size_name="bytes per array",
        input_note="whole numbers counting up to 2**24 and starting again, and smaller random ones",
        baseline="copy",
        kernels=kernels,
    )


def reads_study(kernels: Kernels = None) -> Study:
    """Describe the measurement of reading alone."""
    return Study(
        name="reads",
        title="Reading alone",
        variants=(kernel_variant("read", launch_read, "read", traffic=read_traffic),),
        sizes=SIZES,
        inputs=_read_inputs,
        reference=block_sums_reference,
        output=lambda n, dtype: ((-(-(n // np.dtype(dtype).itemsize) // TILE),), dtype),
        dtype="float32",
        # As the kernel adds: sixteen one after the other, then a tree over 256 threads.
        tolerance=Tolerance(
            c=4, serial=16, scale=lambda a: block_sums_reference(np.abs(a)), threads=256
        ),
        size_name="bytes per array",
        input_note="uniform random numbers; -1, 0 and 1 for the exact check",
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


def _read_inputs(
    n_bytes: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    n = n_bytes // np.dtype(dtype).itemsize
    if exact:
        return (whole_numbers(rng, n, 2, dtype, low=-1),)
    return (uniform(rng, n, dtype),)
