"""Where the memory of results comes from: the pool or the driver, new arrays or the old one."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numba
import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.machine.cpu import thread_pool
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cpu_variant, cupy_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study

THREADS = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # made at run time
POOL_SIZES = (2**10, 2**13, 2**16, 2**19, 2**22, 2**25)
SIZES = (2**15, 2**17, 2**19, 2**21, 2**23, 2**25)
ALONE_BELOW = 2**15  # numbers for which the threads cost more than they save
INPUT_NOTE = "uniform random numbers; whole numbers for the exact check"


# A result from the pool, or from the driver -----------------------------------------------------------------


def add_one_reference(x: np.ndarray) -> Any:
    """Return ``1 + x``.

    >>> add_one_reference(np.array([1.0])).tolist()
    [2.0]
    """
    return np.add(1, x)


def from_pool(x: Any) -> Any:
    """Add one; the memory of the result comes from CuPy's pool."""
    launch.check(x=x, ndim=1, dtype="float64")
    with cupy().cuda.using_allocator(cupy().get_default_memory_pool().malloc):
        return x + 1


def from_driver(x: Any) -> Any:
    """Add one; the memory of the result comes from the driver, and goes back there."""
    launch.check(x=x, ndim=1, dtype="float64")
    with cupy().cuda.using_allocator(None):
        return x + 1


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of results with and without the memory pool."""
    return Study(
        name="pool",
        title="A new array for each result",
        variants=(
            cupy_variant("from_pool", from_pool, "with the pool", allocates=True),
            cupy_variant("from_driver", from_driver, "without the pool", allocates=True),
        ),
        sizes=POOL_SIZES,
        inputs=_vector,
        reference=add_one_reference,
        dtype="float64",
        input_note=INPUT_NOTE,
        baseline="from_driver",
        kernels=kernels,
    )


# New arrays, or the old one ---------------------------------------------------------------------------------


def triple_square_reference(x: Any) -> Any:
    """Return the square of three times each number, with the two roundings that every variant makes.

    >>> triple_square_reference(np.array([2.0])).tolist()
    [36.0]
    """
    return np.square(np.multiply(3, x))


def in_place(x: Any) -> None:
    """Triple and square in place."""
    launch.check(x=x, ndim=1, dtype="float64")
    x *= 3
    x *= x


def new_arrays(x: Any) -> Any:
    """Triple and square, with a new array for each result."""
    launch.check(x=x, ndim=1, dtype="float64")
    y = x * 3
    return y * y


@cache
def triple_square() -> Any:
    """Compile both steps into one kernel."""
    return cupy().ElementwiseKernel(
        "float64 x", "float64 y", "double t = 3 * x; y = t * t", "triple_square"
    )


def one_kernel(x: Any) -> None:
    """Triple and square in place, in one pass."""
    launch.check(x=x, ndim=1, dtype="float64")
    triple_square()(x, x)


def in_place_threads(n_threads: int, x: np.ndarray) -> None:
    """Triple and square in place, a part on each thread."""
    n_threads = 1 if len(x) < ALONE_BELOW else n_threads
    step = max(1, -(-len(x) // n_threads))

    def some(start: int) -> None:
        part = x[start : start + step]
        part *= 3
        part *= part

    if n_threads == 1:
        some(0)
    else:
        list(thread_pool().map(some, range(0, len(x), step)))


def arithmetic_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of arithmetic in place with arithmetic that makes new arrays."""
    twice = streaming_traffic(reads=2, writes=2, flops=2, unit="fp64")
    once = streaming_traffic(reads=1, writes=1, flops=2, unit="fp64")
    return Study(
        name="arithmetic",
        title="x tripled and squared, in float64",
        variants=(
            cpu_variant(
                "numpy_new", new_arrays, "NumPy, one thread, new arrays", allocates=True
            ),
            cpu_variant(
                "numpy_in_place",
                partial(in_place_threads, 1),
                "NumPy, one thread, in place",
                mutates=True,
            ),
            cpu_variant(
                "numpy_threads",
                partial(in_place_threads, THREADS),
                "NumPy, all threads, in place",
                THREADS,
                mutates=True,
            ),
            cupy_variant(
                "new_arrays", new_arrays, "CuPy, new arrays", allocates=True, traffic=twice
            ),
            cupy_variant("in_place", in_place, "CuPy, in place", mutates=True, traffic=twice),
            cupy_variant(
                "one_kernel",
                one_kernel,
                "CuPy, in place, one kernel",
                mutates=True,
                traffic=once,
            ),
        ),
        sizes=SIZES,
        inputs=_vector,
        reference=triple_square_reference,
        equal=True,
        dtype="float64",
        input_note=INPUT_NOTE,
        baseline="numpy_threads",
        kernels=kernels,
    )


def _vector(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (whole_numbers(rng, n, 2**20, dtype) if exact else uniform(rng, n, dtype),)
