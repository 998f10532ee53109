"""One formula in 32 bits and in 64: kernels that differ in nothing but the types of their numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine import launch
from gpuguide.machine.cpu import in_threads
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.numba_types.kernels import (
    float32_only,
    one_left,
    own_counter,
    python_floats,
    range_int32,
    range_int64,
    rounded_steps,
    scale_float32,
    scale_python_float,
)

THREADS_PER_BLOCK = 256
DOSE = 2.5
DOSES = 128
FACTOR = 2.1
SIZES = (2**12, 2**15, 2**18, 2**21, 2**24, 2**26)
_PART = 1 << 18


def level_reference(kept: np.ndarray) -> np.ndarray:
    """Add up what is left of each dose, in pairs: 1 + x, times 1 + x**2, times 1 + x**4 and so on.

    >>> level_reference(np.array([0.0, 0.5, 1.0])).tolist()
    [0.0, 2.5, 320.0]
    """
    out = np.empty(kept.size)

    def one(start: int) -> None:
        power = kept[start : start + _PART].astype(np.float64)
        sums = DOSE * power
        for _ in range(DOSES.bit_length() - 1):
            sums *= 1 + power
            power *= power
        out[start : start + _PART] = sums

    in_threads(one, range(0, kept.size, _PART), out.nbytes)
    return out


def give_doses(kernel: Any, kept: Any, level: Any) -> None:
    """Launch a thread for each patient."""
    # `wide_study` hands the same kernel arrays of float64.
    wide = getattr(kept, "dtype", None) == np.float64
    n = launch.check(kept=kept, level=level, ndim=1, dtype="float64" if wide else "float32")
    if n:
        kernel[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](kept, level)


def give_as_told(kernel: Any, kept: Any, doses: int, level: Any) -> None:
    """Launch a thread for each patient, and tell it how many doses to give."""
    # `range_int32` counts in 32 bits.
    if not 0 <= doses < 2**31:
        raise ArgumentError(f"doses must be an integer from 0 to 2147483647; got {doses!r}.")
    n = launch.check(kept=kept, level=level, ndim=1, dtype="float32")
    if n:
        kernel[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](kept, doses, level)


def scale(kernel: Any, x: Any, out: Any) -> None:
    """Launch a thread for each element."""
    n = launch.check(x=x, out=out, ndim=1, dtype="float32")
    if n:
        kernel[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](x, out)


float32_traffic = streaming_traffic(reads=1, writes=1, flops=2 * DOSES, unit="fp32")
# Done in 64 bits, whatever the elements have.
float64_traffic = streaming_traffic(reads=1, writes=1, flops=2 * DOSES, unit="fp64")
scale_traffic = streaming_traffic(reads=1, writes=1)


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of four kernels on the same arrays of float32."""
    variants = (
        kernel_variant(
            "python_floats",
            partial(give_doses, python_floats),
            "Python floats",
            note="0.0 and 2.5 as in Python",
            traffic=float64_traffic,
        ),
        kernel_variant(
            "rounded_steps",
            partial(give_doses, rounded_steps),
            "rounded steps",
            note="np.float32 around each result",
            traffic=float64_traffic,
        ),
        kernel_variant(
            "one_left",
            partial(give_doses, one_left),
            "one left",
            note="np.float32 around 2.5, and not around 0.0",
            traffic=float64_traffic,
        ),
        kernel_variant(
            "float32_only",
            partial(give_doses, float32_only),
            "float32 only",
            note="np.float32 around both constants",
            traffic=float32_traffic,
        ),
    )
    title = "128 doses, and what is left of them"
    return _of_levels("level", title, variants, SIZES, "float32", kernels)


def wide_study(kernels: Kernels = None) -> Study:
    """Describe the first of these kernels on arrays of float64."""
    variant = kernel_variant(
        "float64_arrays",
        partial(give_doses, python_floats),
        "float64 arrays",
        note="0.0 and 2.5 as in Python, on arrays of float64",
        traffic=float64_traffic,
    )
    title = "The same with float64 arrays"
    return _of_levels("wide", title, (variant,), SIZES[-1:], "float64", kernels)


def counters_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of three ways to count to 128."""
    counters = (
        ("range_int64", range_int64, "range, int64", "range of a Python int"),
        ("range_int32", range_int32, "range, int32", "range of an np.int32"),
        ("own_counter", own_counter, "own counter", "while, with a counter of 64 bits"),
    )
    return Study(
        name="counters",
        title="Three counters for the same loop",
        variants=tuple(
            kernel_variant(
                name, partial(give_as_told, kernel), label, note=note, traffic=float32_traffic
            )
            for name, kernel, label, note in counters
        ),
        sizes=(2**24,),
        inputs=lambda n, dtype, rng, exact: (*_shares(n, dtype, rng, exact), DOSES),
        reference=lambda kept, doses: level_reference(kept),
        tolerance=Tolerance(c=2, serial=DOSES),
        dtype="float32",
        size_name="patients",
        input_note="uniform random shares from 0 to 1, and 128; 0 and 1 for the exact check",
        baseline="range_int64",
        kernels=kernels,
    )


def scale_reference(x: np.ndarray) -> np.ndarray:
    """Multiply by the float32 that is nearest to 2.1.

    >>> scale_reference(np.array([0.0, 10.0])).round(6).tolist()
    [0.0, 20.999999]
    """
    return x * float(np.float32(FACTOR))


def scale_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of one multiplication in 64 bits with one in 32."""
    factors = (
        ("scale_python_float", scale_python_float, "Python float", "times 2.1, as in Python"),
        ("scale_float32", scale_float32, "float32", "times np.float32(2.1)"),
    )
    return Study(
        name="scale",
        title="One multiplication for each element",
        variants=tuple(
            kernel_variant(
                name, partial(scale, kernel), label, note=note, traffic=scale_traffic
            )
            for name, kernel, label, note in factors
        ),
        sizes=SIZES[-1:],
        inputs=_shares,
        reference=scale_reference,
        dtype="float32",
        input_note="uniform random numbers from 0 to 1; 0 and 1 for the exact check",
        baseline="scale_python_float",
        kernels=kernels,
    )


def _of_levels(
    name: str,
    title: str,
    variants: tuple[Variant, ...],
    sizes: tuple[int, ...],
    dtype: str,
    kernels: Kernels,
) -> Study:
    return Study(
        name=name,
        title=title,
        variants=variants,
        sizes=sizes,
        inputs=_shares,
        reference=level_reference,
        tolerance=Tolerance(c=2, serial=DOSES),
        dtype=dtype,
        size_name="patients",
        input_note="uniform random shares from 0 to 1; 0 and 1 for the exact check",
        baseline=variants[0].name,
        kernels=kernels,
    )


def _shares(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (whole_numbers(rng, n, 2, dtype) if exact else uniform(rng, n, dtype),)
