"""What CuPy hands to CUB: sums, and a contraction that it does not, with CUB and without."""

from functools import partial

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module
from gpuguide.measure import Study, cp, gpu, per_element, uniform, whole_numbers
from gpuguide.measure.plan import first_line
from gpuguide.measure.reference import Tolerance
from gpuguide.results.records import Traffic
from gpuguide.topics.kernel_families.study import sum_cupy, sum_reduction, sums

LENGTH = 10**8
ROWS = 2048
INNER = (16, 64)  # the two axes that a contraction adds up


def using(names, call, *arrays):
    """Call a function while CuPy uses these libraries alone."""
    core = cp._core
    before = core.get_routine_accelerators(), core.get_reduction_accelerators()
    core.set_routine_accelerators(names)
    core.set_reduction_accelerators(names)
    try:
        return call(*arrays)
    finally:
        core.set_routine_accelerators(before[0])
        core.set_reduction_accelerators(before[1])


def cumulative_sum(x):
    """Add up everything before each element, and the element."""
    return cp.cumsum(x)


def in_place(x):
    """Let CUB add up in the array itself, which it reads and writes once."""
    from cupy.cuda import cub

    cub.device_scan(x, cub.CUPY_CUB_CUMSUM)


def contracted(a, b):
    """Multiply two arrays of three axes, and add up over two of them."""
    return cp.einsum("ijk,jkl->il", a, b)


def variant(name, call, label, *names, **options):
    """Return a variant that uses these libraries alone."""
    options = {"allocates": True, "note": first_line(call), **options}
    return gpu(partial(using, names, call), label, name=name, **options)


def both(name, call, label, **options):
    """Return a variant without CUB and one with it."""
    return (
        variant(f"{name}_without", call, f"{label}, without CUB", **options),
        variant(f"{name}_cub", call, f"{label}, with CUB", "cub", **options),
    )


switched = Study(
    name="switched",
    title="A sum with CUB and without",
    sizes=(LENGTH,),
    output=lambda n, dtype: ((), dtype),
    baseline="sum_without",
    variants=(
        *both("sum", sum_cupy, "cp.sum", note="Call cp.sum."),
        *both("reduction", sum_reduction, "ReductionKernel", note="Call a ReductionKernel."),
    ),
    **sums(),
)


class CumulativeCheck:
    """Each element is larger than the one before it by what the input holds there."""

    def prepare(self, inputs):
        """Keep the input."""
        return inputs[0].copy()

    def compare(self, output, prepared):
        """Take the differences, which are the input again."""
        steps = output.copy()
        steps[1:] -= output[:-1]
        wrong = array_module(output).flatnonzero(steps != prepared)
        if wrong.size:
            raise MismatchError(
                f"{wrong.size} sums do not follow from the one before, the first at {wrong[0]}."
            )
        return 0.0, 0.0


cumulative = Study(
    name="cumulative",
    title="A cumulative sum",
    sizes=(LENGTH,),
    dtype="int64",
    inputs=lambda n, dtype, rng, exact: (whole_numbers(rng, n, 1000, dtype),),
    input_note="whole numbers from 0 to 999",
    check=CumulativeCheck(),
    answer=np.cumsum,
    traffic=per_element(reads=1, writes=1),
    baseline="cumsum_without",
    variants=(
        *both("cumsum", cumulative_sum, "cp.cumsum"),
        variant(
            "cumsum_in_place",
            in_place,
            "CUB's scan in place",
            "cub",
            allocates=False,
            mutates=True,
        ),
    ),
)


def contraction_reference(a, b):
    """Multiply the arrays as matrices, which is the same."""
    inner = INNER[0] * INNER[1]
    return a.reshape(len(a), inner) @ b.reshape(inner, b.shape[2])


def magnitudes(a, b):
    """Add up how large the products are."""
    return contraction_reference(abs(a), abs(b))


def contraction_traffic(n, dtype):
    """Count both arrays, the result, and a multiplication and an addition for each pair."""
    inner, itemsize = INNER[0] * INNER[1], np.dtype(dtype).itemsize
    return Traffic(2 * n * inner * itemsize, n * n * itemsize, 2 * n * n * inner)


def three_axes(n, dtype, rng, exact):
    def draw(*shape):
        count = n * INNER[0] * INNER[1]
        drawn = (
            whole_numbers(rng, count, 2, dtype, low=-1) if exact else uniform(rng, count, dtype)
        )
        return drawn.reshape(shape)

    return draw(n, *INNER), draw(*INNER, n)


contraction = Study(
    name="contraction",
    title="A contraction over two axes",
    sizes=(ROWS,),
    size_name="rows",
    inputs=three_axes,
    input_note="uniform random numbers; -1, 0 and 1 for the exact check",
    reference=contraction_reference,
    output=lambda n, dtype: ((n, n), dtype),
    tolerance=Tolerance(serial=INNER[0] * INNER[1], threads=1, scale=magnitudes),
    traffic=contraction_traffic,
    baseline="einsum_without",
    variants=both("einsum", contracted, "cp.einsum"),
)
