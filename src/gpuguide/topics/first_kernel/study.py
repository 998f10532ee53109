"""Adding one to every element of a vector: a first kernel, and four ways to share out the work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import (
    cpu_variant,
    end_to_end_variant,
    kernel_variant,
    streaming_traffic,
)
from gpuguide.measure.random_inputs import uniform
from gpuguide.measure.study import Study
from gpuguide.topics.first_kernel.kernels import (
    increment_by_hand_kernel,
    increment_four_per_thread_kernel,
    increment_grid_kernel,
    increment_grid_stride_kernel,
    increment_threads,
)

THREADS_PER_BLOCK = 256
MAX_BLOCKS = 1024
ITEMS_PER_THREAD = 4
HOST_MAX_SIZE = 2**24
HOST_MAX_SIZE_REASON = "left out above 2**24 elements to keep the run short"
CPU_MAX_SIZE = 2**26
CPU_MAX_SIZE_REASON = (
    "left out above 2**26 elements, which no CPU's caches hold, to keep the run short"
)
THREADS = int(get_num_threads())
SIZES = (2**10, 2**13, 2**16, 2**20, 2**24, 2**26, 2**28)


def increment_reference(x: Any) -> Any:
    """Return ``x + 1``: the definition of correct."""
    return x + 1


def increment_python(x: np.ndarray) -> None:
    """Add one in a Python loop, one element at a time."""
    for i in range(len(x)):
        x[i] += 1


def increment_numpy(x: np.ndarray) -> None:
    """Add one with NumPy's x += 1: a compiled loop on one thread."""
    x += 1


def increment_by_hand(x: Any) -> None:
    """Give each thread one element, found from threadIdx, blockIdx and blockDim."""
    n = launch.check(x=x, ndim=1, dtype="float64")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        increment_by_hand_kernel[blocks_per_grid, THREADS_PER_BLOCK](x)


def increment_grid(x: Any) -> None:
    """Give each thread one element, found by cuda.grid(1)."""
    n = launch.check(x=x, ndim=1, dtype="float64")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        increment_grid_kernel[blocks_per_grid, THREADS_PER_BLOCK](x)


def increment_grid_stride(x: Any) -> None:
    """Launch at most 1024 blocks, whose threads loop over the vector in steps of the grid."""
    n = launch.check(x=x, ndim=1, dtype="float64")
    if n:
        blocks_per_grid = min(blocks_1d(n, THREADS_PER_BLOCK), MAX_BLOCKS)
        increment_grid_stride_kernel[blocks_per_grid, THREADS_PER_BLOCK](x)


def increment_four_per_thread(x: Any) -> None:
    """Give each thread four elements, a block's width apart."""
    n = launch.check(x=x, ndim=1, dtype="float64")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK * ITEMS_PER_THREAD)
        increment_four_per_thread_kernel[blocks_per_grid, THREADS_PER_BLOCK](x)


def increment_with_copies(x_host: np.ndarray) -> None:
    """Copy to the GPU, add one there, and copy back into the same host array."""
    x_device = cupy().asarray(x_host)
    increment_grid(x_device)
    x_device.get(out=x_host)


def increment_with_copies_pinned(x_host: np.ndarray) -> None:
    """Do the same with an array in pinned memory, which the GPU copies by itself."""
    x_device = cupy().empty(x_host.shape, x_host.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    stream = cupy().cuda.get_current_stream()
    x_device.set(x_host, stream=stream)
    increment_grid(x_device)
    x_device.get(out=x_host)


increment_traffic = streaming_traffic(reads=1, writes=1, flops=1, unit="fp64")


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of three host loops, four kernels and round trips with copies."""
    in_place: dict[str, Any] = {"mutates": True, "traffic": increment_traffic}
    short: dict[str, Any] = {"max_size": HOST_MAX_SIZE, "max_size_reason": HOST_MAX_SIZE_REASON}
    on_cpu: dict[str, Any] = {
        "max_size": CPU_MAX_SIZE,
        "max_size_reason": CPU_MAX_SIZE_REASON,
    }
    return Study(
        name="increment",
        title="Adding one to every element of a vector",
        variants=(
            cpu_variant("python_loop", increment_python, "Python loop", **in_place, **short),
            cpu_variant("numpy", increment_numpy, "NumPy, one thread", **in_place, **on_cpu),
            cpu_variant(
                "threads", increment_threads, "CPU, all threads", THREADS, **in_place, **on_cpu
            ),
            kernel_variant("by_hand", increment_by_hand, "by hand", **in_place),
            kernel_variant("grid", increment_grid, "cuda.grid", **in_place),
            kernel_variant("grid_stride", increment_grid_stride, "grid-stride", **in_place),
            kernel_variant(
                "four_per_thread", increment_four_per_thread, "four a thread", **in_place
            ),
            end_to_end_variant(
                "with_copies", increment_with_copies, "pageable copies", mutates=True, **short
            ),
            end_to_end_variant(
                "with_copies_pinned",
                increment_with_copies_pinned,
                "pinned copies",
                arrays="pinned",
                mutates=True,
                **short,
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=increment_reference,
        equal=True,
        dtype="float64",
        input_note="uniform random numbers; whole numbers counting up for the exact check",
        baseline="numpy",
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    # Counting up shows an element that ended up in the wrong place.
    return (np.arange(n, dtype=dtype) if exact else uniform(rng, n, dtype),)
