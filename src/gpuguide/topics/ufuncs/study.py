"""The larger of two elements as a ufunc: on the CPU, on the GPU, and against a kernel of one's own."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, current_stream
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import (
    cpu_variant,
    end_to_end_variant,
    kernel_variant,
    streaming_traffic,
)
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.ufuncs.kernels import (
    cpu_threads_ufunc,
    cpu_ufunc,
    gpu_ufunc,
    maximum_cpu_loop,
    maximum_kernel,
)

THREADS_PER_BLOCK = 256
ALL_THREADS = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # made at run time
"""As many as Numba's parallel ufuncs and loops take."""
SIZES = tuple(edge**3 for edge in (16, 32, 64, 128, 256, 512))
EXACT_BELOW = 2**24
"""Whole numbers up to here are exact in float32."""


def maximum_reference(a: Any, b: Any) -> Any:
    """Return the larger of two arrays, element by element, and `b` where one of them is NaN.

    >>> maximum_reference(np.array([1.0, 5.0]), np.array([2.0, 3.0])).tolist()
    [2.0, 5.0]
    """
    return array_module(a).where(a > b, a, b)


def maximum_cpu(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call the ufunc on one CPU thread, into an array that exists already."""
    cpu_ufunc()(a, b, out=out)


def maximum_cpu_threads(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call the ufunc of target="parallel" on all CPU threads."""
    cpu_threads_ufunc()(a, b, out=out)


def maximum_ufunc(a: Any, b: Any, out: Any) -> None:
    """Call the GPU's ufunc on arrays that lie on the GPU."""
    if launch.check(a=a, b=b, out=out, ndim=1, dtype="float32"):
        # Unlike CuPy's, Numba's ufuncs do not follow CuPy's current stream.
        gpu_ufunc()(a, b, out=out, stream=current_stream())


def maximum_from_numpy(a_host: np.ndarray, b_host: np.ndarray) -> np.ndarray:
    """Call the GPU's ufunc on NumPy arrays: it copies them there, and the result back."""
    result: np.ndarray = gpu_ufunc()(a_host, b_host)
    return result


def maximum_from_pinned(a_host: np.ndarray, b_host: np.ndarray, out_host: np.ndarray) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    gpu_ufunc()(a_host, b_host, out=out_host, stream=current_stream())


def maximum(a: Any, b: Any, out: Any) -> None:
    """Launch a kernel of our own that does the same."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        maximum_kernel[blocks_per_grid, THREADS_PER_BLOCK](a, b, out)


# A comparison is not counted as an operation.
maximum_traffic = streaming_traffic(reads=2, writes=1)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of ufuncs and a loop on the CPU with a ufunc and a kernel on the GPU."""
    return Study(
        name="maximum",
        title="The larger of two elements",
        variants=(
            cpu_variant("cpu", maximum_cpu, "CPU ufunc"),
            cpu_variant("cpu_threads", maximum_cpu_threads, "CPU ufunc, threads", ALL_THREADS),
            cpu_variant("cpu_loop", maximum_cpu_loop, "CPU loop, threads", ALL_THREADS),
            end_to_end_variant(
                "from_numpy", maximum_from_numpy, "NumPy arrays, pageable", allocates=True
            ),
            end_to_end_variant(
                "from_pinned", maximum_from_pinned, "NumPy arrays, pinned", arrays="pinned"
            ),
            kernel_variant(
                "ufunc", maximum_ufunc, "GPU arrays", traffic=maximum_traffic, simulatable=False
            ),
            kernel_variant("kernel", maximum, "own kernel", traffic=maximum_traffic),
        ),
        sizes=SIZES,
        inputs=_inputs,
        reference=maximum_reference,
        equal=True,
        input_note="uniform random numbers; whole numbers below 2**24 for the exact check",
        baseline="cpu_loop",
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:
        a, b = (whole_numbers(rng, n, EXACT_BELOW, dtype) for _ in range(2))
    else:
        a, b = uniform(rng, n, dtype), uniform(rng, n, dtype)
    return a, b
