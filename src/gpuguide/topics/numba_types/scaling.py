"""One multiplication for each eight bytes: a float64 by accident where memory sets the pace."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.numba_types.kernels import (
    scale_by_float32_kernel,
    scale_by_python_float_kernel,
)

THREADS_PER_BLOCK = 256
SIZES = (2**26,)
FACTOR = 2.1


def scale_reference(x: np.ndarray) -> np.ndarray:
    """Multiply by the float32 that is nearest to 2.1.

    >>> scale_reference(np.array([0.0, 10.0])).round(6).tolist()
    [0.0, 20.999999]
    """
    return x * float(np.float32(FACTOR))


def scale_by_python_float(x: Any, out: Any) -> None:
    """Multiply by 2.1 as it stands: in 64 bits."""
    _launch(scale_by_python_float_kernel, x, out)


def scale_by_float32(x: Any, out: Any) -> None:
    """Multiply in 32 bits."""
    _launch(scale_by_float32_kernel, x, out)


scale_traffic = streaming_traffic(reads=1, writes=1)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a multiplication in 64 bits with one in 32."""
    calls = {"python_float": scale_by_python_float, "float32": scale_by_float32}
    return Study(
        name="scale",
        title="One multiplication for each element",
        variants=tuple(
            kernel_variant(name, call, traffic=scale_traffic) for name, call in calls.items()
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=scale_reference,
        dtype="float32",
        input_note="uniform random numbers from 0 to 1; 0 and 1 for the exact check",
        baseline="python_float",
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (whole_numbers(rng, n, 2, dtype) if exact else uniform(rng, n, dtype),)


def _launch(kernel: Any, x: Any, out: Any) -> None:
    n = launch.check(x=x, out=out, ndim=1, dtype="float32")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        kernel[blocks_per_grid, THREADS_PER_BLOCK](x, out)
