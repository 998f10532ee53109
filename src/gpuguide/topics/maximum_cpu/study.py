"""The larger of two numbers on the CPU: interpreted, by NumPy and compiled, on one thread and on all."""

from functools import partial

import numba
import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.cpu import thread_pool
from gpuguide.measure import Study, cpu, per_element
from gpuguide.topics.launch_sizes.maximum import (
    INPUT_NOTE,
    maximum_inputs,
    maximum_reference,
)
from gpuguide.topics.maximum_cpu import kernels

THREADS = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # made at run time


def numpy(a, b, out):
    """Call np.maximum with out=, which fills an array that exists: one thread, no BLAS."""
    np.maximum(a, b, out=out)


def numpy_new(a, b):
    """Call np.maximum without out=, so that each call makes a new array."""
    return np.maximum(a, b)


def ufunc(a, b, out):
    """Call the compiled ufunc with out=, which fills an array that exists: one thread."""
    with np.errstate(invalid="ignore"):  # comparing with NaN sets a flag that ufuncs report
        kernels.ufunc(a, b, out)


def ufunc_new(a, b):
    """Call the compiled ufunc without out=, so that each call makes a new array."""
    with np.errstate(invalid="ignore"):
        return kernels.ufunc(a, b)


def in_python_threads(call, a, b, out):
    """Let each of Python's threads call a function for a part of the arrays."""
    step = max(1, -(-len(out) // THREADS))
    parts = [slice(start, start + step) for start in range(0, len(out), step)]
    # map alone would neither wait for the threads nor raise their errors.
    list(thread_pool().map(lambda part: call(a[part], b[part], out[part]), parts))


def cubes(n, dtype, rng, exact):
    side = round(n ** (1 / 3))
    if side**3 != n:
        raise ArgumentError(
            f"the arrays are cubes, of 8, 27, 64 ... elements; there is none of {n}."
        )
    return tuple(x.reshape(side, side, side) for x in maximum_inputs(n, dtype, rng, exact))


maximum_cpu = Study(
    name="maximum_cpu",
    title="Element-wise maximum on the CPU",
    # At 512 the three arrays take 1.5 GiB, five times the last-level cache of the GPU build machine.
    sizes=tuple(side**3 for side in (8, 32, 64, 128, 256, 512)),
    inputs=cubes,
    input_note=INPUT_NOTE,
    reference=maximum_reference,
    equal=True,
    traffic=per_element(reads=2, writes=1),  # a comparison is no FLOP
    small=(0, 1, 8, 27, 11**3, 32**3),
    baseline="numpy",
    variants=(
        cpu(kernels.python_loop, "Python loop", up_to=64**3),
        cpu(numpy, "NumPy, one thread"),
        cpu(numpy_new, "NumPy, new array", allocates=True, up_to=256**3),
        cpu(kernels.loops, "njit loops"),
        cpu(ufunc, "vectorize", up_to=256**3),
        cpu(ufunc_new, "vectorize, new array", allocates=True, up_to=256**3),
        cpu(kernels.parallel, "njit parallel, all threads", "all"),
        cpu(
            partial(in_python_threads, numpy),
            "NumPy, all threads",
            "all",
            name="numpy_threads",
            note="np.maximum on a part in each of Python's threads",
        ),
        cpu(
            partial(in_python_threads, kernels.loops),
            "njit loops, Python's threads",
            "all",
            name="loops_threads",
            note="the compiled loops on a part in each of Python's threads",
            up_to=256**3,
        ),
    ),
)
