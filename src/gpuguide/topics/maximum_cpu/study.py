"""The larger of two numbers on the CPU: interpreted, by NumPy and compiled, on one thread and on all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine import launch
from gpuguide.machine.cpu import thread_pool
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cpu_variant
from gpuguide.measure.study import Study
from gpuguide.topics.launch_sizes.maximum import (
    INPUT_NOTE,
    maximum_inputs,
    maximum_reference,
    maximum_traffic,
)
from gpuguide.topics.maximum_cpu.kernels import loops, parallel, python_loop, ufunc

SIDES = (8, 32, 64, 128, 256, 512)
"""At 512 the three arrays take 1.5 GiB, five times the last-level cache of the GPU build machine."""
SIZES = tuple(side**3 for side in SIDES)
THREADS = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # made at run time


def maximum_python(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Compare in three nested Python loops, one element at a time."""
    launch.check(a=a, b=b, out=out)
    python_loop(a, b, out)


def maximum_numpy(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call np.maximum with out=, which fills an array that exists: one thread, no BLAS."""
    np.maximum(a, b, out=out)


def maximum_numpy_new(a: np.ndarray, b: np.ndarray) -> Any:
    """Call np.maximum without out=, so that each call makes a new array.

    >>> maximum_numpy_new(np.float32([1, 4]), np.float32([2, 3])).tolist()
    [2.0, 4.0]
    """
    return np.maximum(a, b)


def maximum_ufunc(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call the compiled ufunc with out=, which fills an array that exists: one thread."""
    with np.errstate(invalid="ignore"):  # comparing with NaN sets a flag that ufuncs report
        ufunc(a, b, out)


def maximum_ufunc_new(a: np.ndarray, b: np.ndarray) -> Any:
    """Call the compiled ufunc without out=, so that each call makes a new array.

    >>> maximum_ufunc_new(np.float32([1, 4]), np.float32([2, 3])).tolist()
    [2.0, 4.0]
    """
    with np.errstate(invalid="ignore"):
        return ufunc(a, b)


def in_python_threads(
    call: Callable[..., Any], a: np.ndarray, b: np.ndarray, out: np.ndarray
) -> None:
    """Let each of Python's threads call a function for a part of the arrays."""
    launch.check(a=a, b=b, out=out)
    step = max(1, -(-len(out) // THREADS))
    parts = [slice(start, start + step) for start in range(0, len(out), step)]
    # map alone would neither wait for the threads nor raise their errors.
    list(thread_pool().map(lambda part: call(a[part], b[part], out[part]), parts))


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of a Python loop, NumPy and compiled code, on one thread and on all."""
    on_all = {"threads": THREADS}
    return Study(
        name="maximum_cpu",
        title="Element-wise maximum on the CPU",
        variants=(
            _variant("python_loop", maximum_python, "Python loop", up_to=64),
            _variant("numpy", maximum_numpy, "NumPy, one thread"),
            _variant(
                "numpy_new", maximum_numpy_new, "NumPy, new array", up_to=256, allocates=True
            ),
            _variant("loops", loops, "njit loops"),
            _variant("ufunc", maximum_ufunc, "vectorize", up_to=256),
            _variant(
                "ufunc_new",
                maximum_ufunc_new,
                "vectorize, new array",
                up_to=256,
                allocates=True,
            ),
            _variant("parallel", parallel, "njit parallel, all threads", **on_all),
            _variant(
                "numpy_threads",
                partial(in_python_threads, maximum_numpy),
                "NumPy, all threads",
                note="np.maximum on a part in each of Python's threads",
                **on_all,
            ),
            _variant(
                "loops_threads",
                partial(in_python_threads, loops),
                "njit loops, Python's threads",
                note="the compiled loops on a part in each of Python's threads",
                up_to=256,
                **on_all,
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


def _variant(
    name: str, call: Callable[..., Any], label: str, *, up_to: int | None = None, **options: Any
) -> Variant:
    if up_to:
        why = f"left out above {up_to}**3 elements to keep the run short"
        options |= {"max_size": up_to**3, "max_size_reason": why}
    return cpu_variant(name, call, label, traffic=maximum_traffic, **options)


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
