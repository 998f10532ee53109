"""What CuPy hands to CUB and to cuTENSOR: sums and a contraction, with them and without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, cupy, has_gpu
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cupy_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.results.records import Traffic
from gpuguide.topics.kernel_families.study import TotalCheck, numbers, reduction, total_traffic

LENGTH = 10**8
ROWS = 2048
INNER = (16, 64)
"""The two axes that a contraction adds up."""


@contextmanager
def accelerators(*names: str) -> Iterator[None]:
    """Let CuPy use these libraries alone meanwhile."""
    core = cupy()._core
    before = core.get_routine_accelerators(), core.get_reduction_accelerators()
    core.set_routine_accelerators(names)
    core.set_reduction_accelerators(names)
    try:
        yield
    finally:
        core.set_routine_accelerators(before[0])
        core.set_reduction_accelerators(before[1])


def has_cutensor() -> bool:
    """Say whether CuPy finds cuTENSOR, which is a package of its own."""
    try:
        cupy()
        from cupyx import cutensor

        cutensor.check_availability("contraction")
    except (
        Exception
    ):  # without CuPy, without the library behind the module, or on a GPU that it does not know
        return False
    return True


def summed(x: Any, names: tuple[str, ...]) -> Any:
    """Call cp.sum."""
    launch.check(x=x, ndim=1, dtype="float32")
    with accelerators(*names):
        return cupy().sum(x)


def reduced(x: Any, names: tuple[str, ...]) -> Any:
    """Call a ReductionKernel."""
    launch.check(x=x, ndim=1, dtype="float32")
    with accelerators(*names):
        return reduction()(x)


def cumulative(x: Any, names: tuple[str, ...]) -> Any:
    """Add up everything before each element, and the element."""
    launch.check(x=x, ndim=1, dtype="int64")
    with accelerators(*names):
        return cupy().cumsum(x)


def contraction(a: Any, b: Any, names: tuple[str, ...]) -> Any:
    """Multiply two arrays of three axes, and add up over two of them."""
    with accelerators(*names):
        return cupy().einsum("ijk,jkl->il", a, b)


class CumulativeCheck:
    """Each element is larger than the one before it by what the input holds there."""

    def prepare(self, inputs: tuple[Any, ...]) -> Any:
        """Keep the input."""
        return inputs[0].copy()

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Take the differences, which are the input again."""
        if output.shape != prepared.shape:
            raise MismatchError(
                f"There should be {prepared.size} sums; the result has shape {output.shape}."
            )
        steps = output.copy()
        steps[1:] -= output[:-1]
        wrong = array_module(output).flatnonzero(steps != prepared)
        if wrong.size:
            first = int(wrong[0])
            raise MismatchError(
                f"{wrong.size} sums do not follow from the one before, the first at {first}."
            )
        return 0.0, 0.0


def contraction_reference(a: Any, b: Any) -> Any:
    """Multiply the arrays as matrices, which is the same.

    >>> contraction_reference(np.ones((2, 16, 64)), np.ones((16, 64, 1))).tolist()
    [[1024.0], [1024.0]]
    """
    inner = INNER[0] * INNER[1]
    return a.reshape(len(a), inner) @ b.reshape(inner, b.shape[2])


def contraction_traffic(n: int, dtype: Any) -> Traffic:
    """Count both arrays, the result, and a multiplication and an addition for each pair."""
    inner, itemsize = INNER[0] * INNER[1], np.dtype(dtype).itemsize
    return Traffic(
        bytes_read=2 * n * inner * itemsize,
        bytes_written=n * n * itemsize,
        flops=2 * n * n * inner,
    )


def switched_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of sums with CUB and without."""
    return Study(
        name="switched",
        title="A sum with CUB and without",
        variants=(
            *_both("sum", summed, "cp.sum", traffic=total_traffic),
            *_both("reduction", reduced, "ReductionKernel", traffic=total_traffic),
        ),
        sizes=_sizes(),
        inputs=numbers,
        check=TotalCheck(),
        output=lambda n, dtype: ((), dtype),
        dtype="float32",
        input_note="uniform random numbers from 0 to 1; -1, 0 and 1 for the exact check",
        baseline="sum_without",
        kernels=kernels,
    )


def cumulative_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of cumulative sums with CUB and without."""
    traffic = streaming_traffic(reads=1, writes=1)
    return Study(
        name="cumulative",
        title="A cumulative sum",
        variants=_both("cumsum", cumulative, "cp.cumsum", traffic=traffic),
        sizes=_sizes(),
        inputs=lambda n, dtype, rng, exact: (whole_numbers(rng, n, 1000, dtype),),
        check=CumulativeCheck(),
        dtype="int64",
        input_note="whole numbers from 0 to 999",
        baseline="cumsum_without",
        kernels=kernels,
    )


def contraction_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of contractions with CUB, without, and with cuTENSOR where it is installed."""
    variants = _both("einsum", contraction, "cp.einsum", traffic=contraction_traffic)
    if has_cutensor():
        call = partial(contraction, names=("cutensor",))
        options: dict[str, Any] = {"allocates": True, "traffic": contraction_traffic}
        variants += (cupy_variant("einsum_cutensor", call, "cp.einsum, cuTENSOR", **options),)
    return Study(
        name="contraction",
        title="A contraction over two axes",
        variants=variants,
        sizes=(ROWS,),
        inputs=_three_axes,
        reference=contraction_reference,
        output=lambda n, dtype: ((n, n), dtype),
        tolerance=Tolerance(serial=INNER[0] * INNER[1], threads=1, scale=_magnitudes),
        dtype="float32",
        size_name="rows",
        input_note="uniform random numbers; -1, 0 and 1 for the exact check",
        baseline="einsum_without",
        kernels=kernels,
    )


def _both(name: str, call: Any, label: str, **options: Any) -> tuple[Variant, ...]:
    def one(ending: str, words: str, *names: str) -> Variant:
        chosen = partial(call, names=names)
        return cupy_variant(
            f"{name}_{ending}", chosen, f"{label}, {words}", allocates=True, **options
        )

    return one("without", "without CUB"), one("cub", "with CUB", "cub")


def _sizes() -> tuple[int, ...]:
    """Return the size, or a smaller one if the GPU has no memory for it and for what checks it."""
    free = int(cupy().cuda.Device().mem_info[0]) if has_gpu() else 10**12
    return (LENGTH if free >= 60 * LENGTH else 10**6,)


def _magnitudes(a: Any, b: Any) -> Any:
    return contraction_reference(abs(a), abs(b))


def _three_axes(
    n: int, dtype: np.dtype[Any], rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    def numbers() -> np.ndarray:
        count = n * INNER[0] * INNER[1]
        return (
            whole_numbers(rng, count, 2, dtype, low=-1) if exact else uniform(rng, count, dtype)
        )

    return numbers().reshape(n, *INNER), numbers().reshape(*INNER, n)
