"""The larger of two elements by every short way there is, and the squared distance of points."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, cupy, current_stream
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import (
    cpu_variant,
    cupy_variant,
    end_to_end_variant,
    kernel_variant,
    streaming_traffic,
)
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.ufuncs.functions import (
    LAYOUT,
    ROW_SIGNATURES,
    SIGNATURES,
    larger,
    squared_distance,
)
from gpuguide.topics.ufuncs.kernels import distance_kernel, own_kernel
from gpuguide.topics.ufuncs.kernels_cpu import THREADS, maximum_cpu, maximum_cpu_loop

THREADS_PER_BLOCK = 256
N_COORDINATES = 3
SIZES = tuple(edge**3 for edge in (16, 32, 64, 128, 256, 512))
SHORT: dict[str, Any] = {
    "max_size": 256**3,
    "max_size_reason": "left out above 256 * 256 * 256 elements to keep the run short",
}


@cache
def gpu_ufunc(function: Any) -> Any:
    """Make a ufunc for the GPU; its kernel is compiled at the first call."""
    from numba import vectorize

    return vectorize(SIGNATURES, target="cuda")(function)


@cache
def gpu_row_ufunc() -> Any:
    """Make a ufunc of rows for the GPU; compiled when this is called."""
    from numba import guvectorize

    return guvectorize(ROW_SIGNATURES, LAYOUT, target="cuda")(squared_distance)


def maximum_reference(a: Any, b: Any) -> Any:
    """Return the larger of two arrays, element by element, and `b` where one of them is NaN.

    >>> maximum_reference(np.array([1.0, 5.0]), np.array([2.0, 3.0])).tolist()
    [2.0, 5.0]
    """
    return array_module(a).where(a > b, a, b)


def maximum_from_numpy(a_host: np.ndarray, b_host: np.ndarray) -> np.ndarray:
    """Call the GPU's ufunc on NumPy arrays: it copies them there, and the result back."""
    result: np.ndarray = gpu_ufunc(larger)(a_host, b_host)
    return result


def maximum_from_pinned(a_host: np.ndarray, b_host: np.ndarray, out_host: np.ndarray) -> None:
    """Do the same between arrays in pinned memory, which the GPU copies by itself."""
    gpu_ufunc(larger)(a_host, b_host, out=out_host, stream=current_stream())


def maximum_ufunc(a: Any, b: Any, out: Any) -> None:
    """Call the GPU's ufunc on arrays that lie on the GPU."""
    if launch.check(a=a, b=b, out=out, ndim=1, dtype="float32"):
        # Unlike CuPy's, Numba's ufuncs do not follow CuPy's current stream.
        gpu_ufunc(larger)(a, b, out=out, stream=current_stream())


def maximum(a: Any, b: Any, out: Any, threads_per_block: int = THREADS_PER_BLOCK) -> None:
    """Launch a kernel of our own that does the same."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        own_kernel[blocks_1d(n, threads_per_block), threads_per_block](a, b, out)


def maximum_cupy(a: Any, b: Any, out: Any) -> None:
    """Call cp.maximum, which has been compiled with CuPy's own rule for NaN."""
    cupy().maximum(a, b, out=out)


@cache
def fused_larger() -> Any:
    """Make one kernel of two operations of CuPy; compiled when it is first called."""
    cp = cupy()

    @cp.fuse
    def larger_fused(a: Any, b: Any) -> Any:
        return cp.where(a > b, a, b)

    return larger_fused


def maximum_fused(a: Any, b: Any) -> Any:
    """Call a function of two operations that cp.fuse has made one kernel of."""
    return fused_larger()(a, b)


@cache
def elementwise_larger() -> Any:
    """Describe the operation on one pair in a line of CUDA C++; compiled when it is first called."""
    arguments = "float32 a, float32 b", "float32 out", "out = a > b ? a : b"
    return cupy().ElementwiseKernel(*arguments, "elementwise_larger")


def maximum_elementwise(a: Any, b: Any, out: Any) -> None:
    """Call a cp.ElementwiseKernel of one line of CUDA C++."""
    elementwise_larger()(a, b, out)


# A comparison is not counted as an operation.
maximum_traffic = streaming_traffic(reads=2, writes=1)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a ufunc on host and GPU arrays with loops, a kernel and CuPy's ways."""
    moved: dict[str, Any] = {"traffic": maximum_traffic}
    return Study(
        name="maximum",
        title="The larger of two elements",
        variants=(
            cpu_variant("cpu", maximum_cpu, "CPU ufunc, one thread", **SHORT),
            cpu_variant(
                "cpu_loop", maximum_cpu_loop, "CPU loop, all threads", THREADS, **SHORT
            ),
            end_to_end_variant(
                "from_numpy",
                maximum_from_numpy,
                "GPU ufunc, pageable copies",
                allocates=True,
                **SHORT,
            ),
            end_to_end_variant(
                "from_pinned",
                maximum_from_pinned,
                "GPU ufunc, pinned copies",
                arrays="pinned",
                **SHORT,
            ),
            kernel_variant("ufunc", maximum_ufunc, "@vectorize", simulatable=False, **moved),
            kernel_variant("own_kernel", maximum, "@cuda.jit, 256 threads", **moved),
            kernel_variant(
                "own_kernel_1024",
                partial(maximum, threads_per_block=1024),
                "@cuda.jit, 1024 threads",
                **moved,
            ),
            cupy_variant("cupy_maximum", maximum_cupy, "cupy.maximum", **moved),
            cupy_variant("fused", maximum_fused, "cupy.fuse", allocates=True, **moved),
            cupy_variant("elementwise", maximum_elementwise, "ElementwiseKernel", **moved),
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
    if exact:  # whole numbers that float32 still holds
        return whole_numbers(rng, n, 2**24, dtype), whole_numbers(rng, n, 2**24, dtype)
    return uniform(rng, n, dtype), uniform(rng, n, dtype)


def squared_distance_reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the squared distance of each point of `a` to that of `b`.

    >>> squared_distance_reference(np.array([[0.0, 3.0]]), np.array([[4.0, 0.0]])).tolist()
    [25.0]
    """
    distances: np.ndarray = np.square(a - b).sum(axis=1)
    return distances


def distance_ufunc(a: Any, b: Any, out: Any) -> None:
    """Call @guvectorize's ufunc on the GPU: each thread takes a row."""
    if checked_rows(a, b, out):
        gpu_row_ufunc()(a, b, out=out, stream=current_stream())


def distance(a: Any, b: Any, out: Any) -> None:
    """Launch a kernel of our own that does the same."""
    n = checked_rows(a, b, out)
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        distance_kernel[blocks_per_grid, THREADS_PER_BLOCK](a, b, out)


distance_traffic = streaming_traffic(reads=2 * N_COORDINATES, writes=1, flops=3 * N_COORDINATES)


def distance_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a ufunc of rows with a kernel."""
    return Study(
        name="distance",
        title="Squared distance of two points",
        variants=(
            kernel_variant(
                "row_ufunc",
                distance_ufunc,
                "@guvectorize",
                traffic=distance_traffic,
                simulatable=False,
            ),
            kernel_variant("distance_kernel", distance, "@cuda.jit", traffic=distance_traffic),
        ),
        sizes=(128**3,),
        inputs=_points,
        reference=squared_distance_reference,
        output=lambda n, dtype: ((n,), dtype),
        tolerance=Tolerance(serial=N_COORDINATES, scale=_largest_square),
        size_name="pairs of points",
        input_note="uniform random coordinates; whole numbers from -9 to 9 for the exact check",
        baseline="distance_kernel",
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


def _points(
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
