"""Adding one to every element of a vector: a loop on the CPU, and the same loop shared out on the GPU."""

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
    by_hand,
    cpu_threads,
    grid,
    grid_stride,
    one_block,
    one_thread,
)

THREADS_PER_BLOCK = 256
# About eight for each multiprocessor of a large GPU.
MAX_BLOCKS = 1024
THREADS = int(get_num_threads())
SIZES = (2**10, 2**13, 2**16, 2**20, 2**24, 2**26)
# Beyond, a slow variant would take most of the recording's time, and its line is straight by then.
LARGEST = {"python_loop": 2**20, "one_thread": 2**20}
LARGEST |= dict.fromkeys(
    ("numpy", "cpu_threads", "one_block", "with_copies", "with_copies_pinned"), 2**24
)


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


def increment_one_thread(x: Any) -> None:
    """Launch a single thread, which loops over all elements."""
    if launch.check(x=x, ndim=1, dtype="float64"):
        one_thread[1, 1](x)


def increment_one_block(x: Any) -> None:
    """Launch one block of 256 threads, which share the loop."""
    if launch.check(x=x, ndim=1, dtype="float64"):
        one_block[1, THREADS_PER_BLOCK](x)


def increment_by_hand(x: Any) -> None:
    """Give each thread one element, found from threadIdx, blockIdx and blockDim."""
    n = launch.check(x=x, ndim=1, dtype="float64")
    if n:
        by_hand[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](x)


def increment_grid(x: Any) -> None:
    """Give each thread one element, found by cuda.grid(1)."""
    n = launch.check(x=x, ndim=1, dtype="float64")
    if n:
        grid[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](x)


def increment_grid_stride(x: Any) -> None:
    """Launch at most 1024 blocks, whose threads loop in steps of the grid."""
    n = launch.check(x=x, ndim=1, dtype="float64")
    if n:
        grid_stride[min(blocks_1d(n, THREADS_PER_BLOCK), MAX_BLOCKS), THREADS_PER_BLOCK](x)


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


def turns_alone(n: int) -> int:
    """Count the turns that a single thread's loop makes."""
    return n


def turns_in_block(n: int) -> int:
    """Count the turns that the loop of a block's first thread makes; no other makes more."""
    return len(range(0, n, THREADS_PER_BLOCK))


increment_traffic = streaming_traffic(reads=1, writes=1, flops=1, unit="fp64")


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison: three loops on the CPU, five kernels, and round trips with copies."""
    moved: dict[str, Any] = {"traffic": increment_traffic}
    return Study(
        name="increment",
        title="Adding one to every element of a vector",
        variants=(
            cpu_variant(
                "python_loop", increment_python, "Python loop", **moved, **_up_to("python_loop")
            ),
            cpu_variant(
                "numpy", increment_numpy, "NumPy, one thread", **moved, **_up_to("numpy")
            ),
            cpu_variant(
                "cpu_threads",
                cpu_threads,
                "CPU, all threads",
                THREADS,
                **moved,
                **_up_to("cpu_threads"),
            ),
            kernel_variant(
                "one_thread",
                increment_one_thread,
                "one thread",
                work={"turns": turns_alone},
                **moved,
                **_up_to("one_thread"),
            ),
            kernel_variant(
                "one_block",
                increment_one_block,
                "one block",
                work={"turns": turns_in_block},
                **moved,
                **_up_to("one_block"),
            ),
            kernel_variant(
                "by_hand", increment_by_hand, "grid, by hand", mutates=True, **moved
            ),
            kernel_variant("grid", increment_grid, "cuda.grid", mutates=True, **moved),
            kernel_variant(
                "grid_stride", increment_grid_stride, "grid-stride loop", mutates=True, **moved
            ),
            end_to_end_variant(
                "with_copies",
                increment_with_copies,
                "with pageable copies",
                **_up_to("with_copies"),
            ),
            end_to_end_variant(
                "with_copies_pinned",
                increment_with_copies_pinned,
                "with pinned copies",
                arrays="pinned",
                **_up_to("with_copies_pinned"),
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=increment_reference,
        equal=True,
        dtype="float64",
        size_name="numbers",
        input_note="uniform random numbers; whole numbers counting up for the exact check",
        baseline="numpy",
        kernels=kernels,
    )


def _up_to(name: str) -> dict[str, Any]:
    """Limit a variant that changes its input to its largest size."""
    why = f"left out above {LARGEST[name]} numbers to keep the run short"
    return {"mutates": True, "max_size": LARGEST[name], "max_size_reason": why}


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    # Counting up shows an element that ended up in the wrong place.
    return (np.arange(n, dtype=dtype) if exact else uniform(rng, n, dtype),)
