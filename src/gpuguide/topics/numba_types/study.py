"""One formula in 32 bits and in 64: kernels that differ in nothing but the types of their numbers."""

import numpy as np

from gpuguide.machine.cpu import in_threads
from gpuguide.measure import Study, kernel, per_element, uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.numba_types import kernels

BLOCK = 256
DOSE, DOSES = 2.5, 128
PART = 1 << 18


def grid(n):
    """Give each element a thread."""
    return -(-n // BLOCK), BLOCK


def level_reference(kept):
    """Add up what is left of each dose, in pairs: 1 + x, times 1 + x**2, times 1 + x**4 and so on."""
    out = np.empty(kept.size)

    def one(start):
        power = kept[start : start + PART].astype(np.float64)
        sums = DOSE * power
        for _ in range(DOSES.bit_length() - 1):
            sums *= 1 + power
            power *= power
        out[start : start + PART] = sums

    in_threads(one, range(0, kept.size, PART), out.nbytes)
    return out


def shares(n, dtype, rng, exact):
    """Draw shares from 0 to 1; 0 and 1 alone are exact."""
    return (whole_numbers(rng, n, 2, dtype) if exact else uniform(rng, n, dtype),)


float32_traffic = per_element(reads=1, writes=1, flops=2 * DOSES, unit="fp32")
# Done in 64 bits, whatever the elements have.
float64_traffic = per_element(reads=1, writes=1, flops=2 * DOSES, unit="fp64")
levels = {
    "inputs": shares,
    "reference": level_reference,
    "tolerance": Tolerance(c=2, serial=DOSES),
    "size_name": "patients",
    "input_note": "uniform random shares from 0 to 1; 0 and 1 for the exact check",
    "traffic": float64_traffic,
}

level = Study(
    name="level",
    title="128 doses, and what is left of them",
    sizes=(2**12, 2**15, 2**18, 2**21, 2**24, 2**26),
    baseline="python_floats",
    variants=(
        kernel(kernels.python_floats, "Python floats", grid, note="0.0 and 2.5 as in Python"),
        kernel(
            kernels.rounded_steps,
            "rounded steps",
            grid,
            note="np.float32 around each result",
        ),
        kernel(
            kernels.one_left,
            "one left",
            grid,
            note="np.float32 around 2.5, and not around 0.0",
        ),
        kernel(
            kernels.float32_only,
            "float32 only",
            grid,
            note="np.float32 around both constants",
            traffic=float32_traffic,
        ),
    ),
    **levels,
)

wide = Study(
    name="wide",
    title="The same with float64 arrays",
    sizes=(2**26,),
    dtype="float64",
    baseline="float64_arrays",
    variants=(
        kernel(
            kernels.python_floats,
            "float64 arrays",
            grid,
            name="float64_arrays",
            note="0.0 and 2.5 as in Python, on arrays of float64",
        ),
    ),
    **levels,
)

counters = Study(
    name="counters",
    title="Three counters for the same loop",
    sizes=(2**24,),
    size_name="patients",
    inputs=lambda n, dtype, rng, exact: (*shares(n, dtype, rng, exact), DOSES),
    input_note="uniform random shares from 0 to 1, and 128; 0 and 1 for the exact check",
    reference=lambda kept, doses: level_reference(kept),
    tolerance=Tolerance(c=2, serial=DOSES),
    traffic=float32_traffic,
    baseline="range_int64",
    variants=(
        kernel(kernels.range_int64, "range, int64", grid, note="range of a Python int"),
        kernel(kernels.range_int32, "range, int32", grid, note="range of an np.int32"),
        kernel(
            kernels.own_counter, "own counter", grid, note="while, with a counter of 64 bits"
        ),
    ),
)

scale = Study(
    name="scale",
    title="One multiplication for each element",
    sizes=(2**26,),
    inputs=shares,
    input_note="uniform random numbers from 0 to 1; 0 and 1 for the exact check",
    reference=lambda x: x * float(np.float32(2.1)),
    traffic=per_element(reads=1, writes=1),
    baseline="scale_python_float",
    variants=(
        kernel(
            kernels.scale_python_float, "Python float", grid, note="times 2.1, as in Python"
        ),
        kernel(kernels.scale_float32, "float32", grid, note="times np.float32(2.1)"),
    ),
)
