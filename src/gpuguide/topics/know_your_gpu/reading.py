"""Reading alone: each block of threads adds up 4096 neighbours and writes one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import kernel_variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.know_your_gpu.kernels import THREADS_PER_BLOCK, TILE, block_sums_kernel

SIZES = tuple(2**power for power in (12, 16, 20, 23, 25, 27, 30))


def block_sums(a: Any, out: Any) -> None:
    """Read only, but for one sum that each block of threads writes for its 4096 elements."""
    n_sums = -(-launch.check(a=a, ndim=1, dtype="float32") // TILE)
    launch.check(out=out, shape=(n_sums,), dtype="float32")
    if n_sums:
        block_sums_kernel[n_sums, THREADS_PER_BLOCK](a, out)


def block_sums_reference(a: np.ndarray) -> np.ndarray:
    """Add up each run of 4096 elements.

    >>> block_sums_reference(np.ones(5000)).tolist()
    [4096.0, 904.0]
    """
    return np.add.reduceat(a, np.arange(0, a.size, TILE)) if a.size else np.empty(0, a.dtype)


def block_sums_traffic(n_bytes: int, dtype: Any) -> Traffic:
    """Count the bytes of reading one array and writing a sum for every 4096 elements."""
    itemsize = np.dtype(dtype).itemsize
    n = n_bytes // itemsize
    return Traffic(bytes_read=n_bytes, bytes_written=-(-n // TILE) * itemsize, flops=n)


def study(kernels: Kernels = None) -> Study:
    """Describe the measurement of reading alone."""
    return Study(
        name="reads",
        title="Reading alone",
        variants=(kernel_variant("read", block_sums, "read", traffic=block_sums_traffic),),
        sizes=SIZES,
        inputs=_inputs,
        reference=block_sums_reference,
        output=lambda n, dtype: ((-(-(n // np.dtype(dtype).itemsize) // TILE),), dtype),
        dtype="float32",
        # As the kernel adds: sixteen one after the other, then a tree over 256 threads.
        tolerance=Tolerance(
            c=4, serial=16, scale=lambda a: block_sums_reference(np.abs(a)), threads=256
        ),
        size_name="bytes an array",
        input_note="uniform random numbers; -1, 0 and 1 for the exact check",
        baseline="read",
        kernels=kernels,
    )


def _inputs(
    n_bytes: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    n = n_bytes // np.dtype(dtype).itemsize
    if exact:
        return (whole_numbers(rng, n, 2, dtype, low=-1),)
    return (uniform(rng, n, dtype),)
