"""The larger of two numbers on the CPU: interpreted, by NumPy and compiled, on one thread and on all."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine import launch
from gpuguide.machine.cpu import thread_pool
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cpu_variant
from gpuguide.measure.study import Study
from gpuguide.topics.launch_sizes.maximum import (
    INPUT_NOTE,
    maximum_inputs,
    maximum_reference,
    maximum_traffic,
)
from gpuguide.topics.maximum_cpu.kernels import (
    larger_ufunc,
    maximum_loops,
    maximum_parallel,
)

SIDES = (8, 16, 32, 64, 128, 256, 512)
"""At 512 the three arrays take 1.5 GiB, more than any CPU's caches hold."""
SIZES = tuple(side**3 for side in SIDES)
CACHED: dict[str, Any] = {
    "max_size": 256**3,
    "max_size_reason": "left out above 256**3 elements to keep the run short",
}
THREADS = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # made at run time


def maximum_python(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Compare in three nested Python loops, one element at a time."""
    launch.check(a=a, b=b, out=out)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                x, y = a[i, j, k], b[i, j, k]
                out[i, j, k] = x if x > y or math.isnan(x) else y


def maximum_numpy(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call np.maximum with out=, which fills an array that exists: one thread, no BLAS."""
    np.maximum(a, b, out=out)


def maximum_numpy_new(a: np.ndarray, b: np.ndarray) -> Any:
    """Call np.maximum without out=, so that each call makes a new array.

    >>> maximum_numpy_new(np.float32([1, 4]), np.float32([2, 3])).tolist()
    [2.0, 4.0]
    """
    return np.maximum(a, b)


def maximum_numpy_threads(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Give each thread a part; NumPy lets go of Python's lock inside its loops."""
    launch.check(a=a, b=b, out=out)
    if not (a.flags.c_contiguous and b.flags.c_contiguous and out.flags.c_contiguous):
        raise ArgumentError(
            "expected C-contiguous arrays, which can be cut into parts without copying; "
            "use np.ascontiguousarray(x)."
        )
    flat_a, flat_b, flat_out = a.reshape(-1), b.reshape(-1), out.reshape(-1)
    step = max(1, -(-out.size // THREADS))

    def one(start: int) -> None:
        part = slice(start, start + step)
        np.maximum(flat_a[part], flat_b[part], out=flat_out[part])

    # map alone would neither wait for the threads nor raise their errors.
    list(thread_pool().map(one, range(0, out.size, step)))


def maximum_vectorize(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call the compiled ufunc with out=, which fills an array that exists: one thread."""
    with np.errstate(invalid="ignore"):  # comparing with NaN sets a flag that ufuncs report
        larger_ufunc(a, b, out)


def maximum_vectorize_new(a: np.ndarray, b: np.ndarray) -> Any:
    """Call the compiled ufunc without out=, so that each call makes a new array.

    >>> maximum_vectorize_new(np.float32([1, 4]), np.float32([2, 3])).tolist()
    [2.0, 4.0]
    """
    with np.errstate(invalid="ignore"):
        return larger_ufunc(a, b)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a Python loop, NumPy and compiled code, on one thread and on all."""
    return Study(
        name="maximum_cpu",
        title="Element-wise maximum on the CPU",
        variants=(
            cpu_variant(
                "python", maximum_python, "Python loop", traffic=maximum_traffic, **CACHED
            ),
            cpu_variant("numpy", maximum_numpy, "NumPy, one thread", traffic=maximum_traffic),
            cpu_variant(
                "numpy_new",
                maximum_numpy_new,
                "NumPy, new array",
                allocates=True,
                traffic=maximum_traffic,
                **CACHED,
            ),
            cpu_variant(
                "numpy_threads",
                maximum_numpy_threads,
                "NumPy, all threads",
                threads=THREADS,
                traffic=maximum_traffic,
            ),
            cpu_variant(
                "loops", maximum_loops, "njit loops", traffic=maximum_traffic, **CACHED
            ),
            cpu_variant(
                "vectorize", maximum_vectorize, "vectorize", traffic=maximum_traffic, **CACHED
            ),
            cpu_variant(
                "vectorize_new",
                maximum_vectorize_new,
                "vectorize, new array",
                allocates=True,
                traffic=maximum_traffic,
                **CACHED,
            ),
            cpu_variant(
                "parallel",
                maximum_parallel,
                "njit parallel, all threads",
                threads=THREADS,
                traffic=maximum_traffic,
            ),
        ),
        sizes=SIZES,
        inputs=_cubes,
        reference=maximum_reference,
        equal=True,
        dtype="float32",
        input_note=INPUT_NOTE,
        baseline="numpy",
        kernels=kernels,
    )


def _cubes(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    side = round(n ** (1 / 3))
    if side**3 != n:
        raise ArgumentError(
            f"the arrays are cubes, of 8, 27, 64 ... elements; there is none of {n}."
        )
    a, b = maximum_inputs(n, dtype, rng, exact)
    return a.reshape(side, side, side), b.reshape(side, side, side)
