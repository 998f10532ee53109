"""One formula in 32 bits and in 64: kernels that differ in nothing but the types of their constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.cpu import in_threads
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.numba_types.kernels import (
    float32_only_kernel,
    one_left_kernel,
    python_floats_kernel,
    rounded_steps_kernel,
)

THREADS_PER_BLOCK = 256
DOSE = 2.5
DOSES = 128
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


def launch_level(kernel: Any, kept: Any, out: Any) -> None:
    """Look at the arrays, and launch a thread for each element."""
    # `wide_study` hands the same kernel arrays of float64.
    wide = getattr(kept, "dtype", None) == np.float64
    n = launch.check(kept=kept, out=out, ndim=1, dtype="float64" if wide else "float32")
    if n:
        blocks_per_grid = blocks_1d(n, THREADS_PER_BLOCK)
        kernel[blocks_per_grid, THREADS_PER_BLOCK](kept, out)


def level_python_floats(kept: Any, out: Any) -> None:
    """Write 0.0 and 2.5 as anybody would."""
    launch_level(python_floats_kernel, kept, out)


def level_rounded_steps(kept: Any, out: Any) -> None:
    """Round what comes out of the formula, and leave what goes in."""
    launch_level(rounded_steps_kernel, kept, out)


def level_one_left(kept: Any, out: Any) -> None:
    """Mend the formula, and forget the number that the level starts with."""
    launch_level(one_left_kernel, kept, out)


def level_float32_only(kept: Any, out: Any) -> None:
    """Write np.float32 around every constant."""
    launch_level(float32_only_kernel, kept, out)


float32_traffic = streaming_traffic(reads=1, writes=1, flops=2 * DOSES, unit="fp32")
# Done in 64 bits, whatever the elements have.
float64_traffic = streaming_traffic(reads=1, writes=1, flops=2 * DOSES, unit="fp64")


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of four kernels on the same arrays of float32."""
    variants = (
        kernel_variant(
            "python_floats", level_python_floats, "Python floats", traffic=float64_traffic
        ),
        kernel_variant(
            "rounded_steps", level_rounded_steps, "rounded steps", traffic=float64_traffic
        ),
        kernel_variant("one_left", level_one_left, "one left", traffic=float64_traffic),
        kernel_variant(
            "float32_only", level_float32_only, "float32 only", traffic=float32_traffic
        ),
    )
    title = "128 doses, and what is left of them"
    return _study("level", title, variants, SIZES, "float32", kernels)


def wide_study(kernels: Kernels = None) -> Study:
    """Describe the first of these kernels on arrays of float64."""
    variant = kernel_variant(
        "float64_arrays", level_python_floats, "float64 arrays", traffic=float64_traffic
    )
    title = "The same with float64 arrays"
    return _study("wide", title, (variant,), SIZES[-1:], "float64", kernels)


def _study(
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
        inputs=_inputs,
        reference=level_reference,
        tolerance=Tolerance(c=2, serial=DOSES),
        dtype=dtype,
        input_note="uniform random shares from 0 to 1; 0 and 1 for the exact check",
        baseline=variants[0].name,
        kernels=kernels,
    )


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    return (whole_numbers(rng, n, 2, dtype) if exact else uniform(rng, n, dtype),)
