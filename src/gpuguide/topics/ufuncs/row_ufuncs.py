"""A generalized ufunc: a function of whole rows, here the squared distance of two points."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import current_stream
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cpu_variant, kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.ufuncs.kernels_rows import (
    cpu_gufunc,
    distance_cpu_loop,
    distance_kernel,
    gpu_gufunc,
)
from gpuguide.topics.ufuncs.study import ALL_THREADS

THREADS_PER_BLOCK = 256
N_COORDINATES = 3
SIZES = (32**3, 128**3)


def squared_distance_reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the squared distance of each point of `a` to that of `b`.

    >>> squared_distance_reference(np.array([[0.0, 3.0]]), np.array([[4.0, 0.0]])).tolist()
    [25.0]
    """
    distances: np.ndarray = np.square(a - b).sum(axis=1)
    return distances


def distance_cpu(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call @guvectorize's ufunc on one CPU thread."""
    cpu_gufunc()(a, b, out=out)


def distance_gufunc(a: Any, b: Any, out: Any) -> None:
    """Call @guvectorize's ufunc on the GPU: each thread takes a row."""
    if checked_rows(a, b, out):
        gpu_gufunc()(a, b, out=out, stream=current_stream())


def distance(a: Any, b: Any, out: Any) -> None:
    """Launch a kernel of our own that does the same."""
    n = checked_rows(a, b, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        distance_kernel[blocks_per_grid, THREADS_PER_BLOCK](a, b, out)


distance_traffic = streaming_traffic(reads=2 * N_COORDINATES, writes=1, flops=3 * N_COORDINATES)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of generalized ufuncs on CPU and GPU with a loop and a kernel."""
    return Study(
        name="distance",
        title="Squared distance of two points",
        variants=(
            cpu_variant("cpu", distance_cpu, "CPU ufunc"),
            cpu_variant("cpu_loop", distance_cpu_loop, "CPU loop, threads", ALL_THREADS),
            kernel_variant(
                "gufunc",
                distance_gufunc,
                "generalized ufunc",
                traffic=distance_traffic,
                simulatable=False,
            ),
            kernel_variant("kernel", distance, "own kernel", traffic=distance_traffic),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=squared_distance_reference,
        output=lambda n, dtype: ((n,), dtype),
        tolerance=Tolerance(serial=N_COORDINATES, scale=_largest_square),
        size_name="pairs of points",
        input_note="uniform random coordinates; whole numbers from -9 to 9 for the exact check",
        baseline="cpu_loop",
        kernels=kernels,
    )


def _largest_square(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    largest: np.ndarray = np.square(abs(a) + abs(b)).sum(axis=1)
    return largest


def checked_rows(a: Any, b: Any, out: Any) -> int:
    """Return how many rows there are, once the arrays are seen to fit each other."""
    shape = launch.check(a=a, b=b, ndim=2, dtype="float32")
    n: int = launch.check(out=out, shape=shape[:1], dtype="float32")
    return n


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    def points() -> np.ndarray:
        count = n * N_COORDINATES
        drawn = (
            whole_numbers(rng, count, 10, dtype, low=-9)
            if exact
            else uniform(rng, count, dtype)
        )
        return drawn.reshape(n, N_COORDINATES)

    return points(), points()
