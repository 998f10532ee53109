"""What counts the turns of a loop: range in 64 bits, range in 32 bits, and a counter of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine import launch
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import kernel_variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.numba_types.kernels import (
    own_counter_kernel,
    range_int32_kernel,
    range_int64_kernel,
)
from gpuguide.topics.numba_types.study import DOSES, float32_traffic, level_reference

THREADS_PER_BLOCK = 256
SIZES = (2**24,)


def count_by_range_int64(kept: Any, doses: int, out: Any) -> None:
    """Count with range, as in Python."""
    launch_counter(range_int64_kernel, kept, doses, out)


def count_by_range_int32(kept: Any, doses: int, out: Any) -> None:
    """Count with range, and hand it 32 bits."""
    launch_counter(range_int32_kernel, kept, doses, out)


def count_by_own_counter(kept: Any, doses: int, out: Any) -> None:
    """Count by hand in a while loop, in 64 bits."""
    launch_counter(own_counter_kernel, kept, doses, out)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of three ways to count to 128."""
    return Study(
        name="counters",
        title="Three counters for the same loop",
        variants=(
            kernel_variant(
                "range_int64", count_by_range_int64, "range, int64", traffic=float32_traffic
            ),
            kernel_variant(
                "range_int32", count_by_range_int32, "range, int32", traffic=float32_traffic
            ),
            kernel_variant(
                "own_counter", count_by_own_counter, "own counter", traffic=float32_traffic
            ),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=lambda kept, doses: level_reference(kept),
        tolerance=Tolerance(c=2, serial=DOSES),
        dtype="float32",
        input_note="uniform random shares from 0 to 1, and 128; 0 and 1 for the exact check",
        baseline="range_int64",
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, int]:
    return (whole_numbers(rng, n, 2, dtype) if exact else uniform(rng, n, dtype)), DOSES


def launch_counter(kernel: Any, kept: Any, doses: int, out: Any) -> None:
    """Launch a thread for each element."""
    # `range_int32_kernel` counts in 32 bits.
    if not 0 <= doses < 2**31:
        raise ArgumentError(f"doses must be an integer from 0 to 2147483647; got {doses!r}.")
    n = launch.check(kept=kept, out=out, ndim=1, dtype="float32")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        kernel[blocks_per_grid, THREADS_PER_BLOCK](kept, doses, out)
