"""Sums of many numbers, fast and right, fast and wrong; and the rates of float32 and float64."""

from functools import cache

import numpy as np
from numba import cuda

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module
from gpuguide.measure import Study, cp, cpu, gpu, kernel, per_element, uniform, whole_numbers
from gpuguide.measure.buffers import blocks
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.precision import kernels

LENGTH = 10**8
PIECE, MOST_BLOCKS = 4096, 4096
CHECKED = 1 << 24  # numbers that are added up at a time for the right sum
DRIFT = 1e-5  # of the sum of magnitudes: what sums of partial sums may lose
STEPS = 1024


# The sums ---------------------------------------------------------------------------------------------------


@cache
def room(n, dtype):
    """Make room for the sums of blocks once."""
    return cuda.device_array(n, dtype)


def in_two_launches(first, x, out, dtype):
    """Launch a kernel that leaves a sum for each block, and another that adds these up."""
    n_blocks = min(MOST_BLOCKS, max(1, -(-x.size // PIECE)))
    sums = room(n_blocks, dtype)
    first[n_blocks, 256](x, sums)
    kernels.add_up[1, 512](sums, out)


def sum_float32(x, out):
    """Add up in float32, in many partial sums."""
    in_two_launches(kernels.in_float32, x, out, np.float32)


def sum_float64(x, out):
    """Add up in float64, in many partial sums."""
    in_two_launches(kernels.in_float64, x, out, np.float64)


def cupy_sum(x):
    """Call cp.sum."""
    return cp.sum(x)


def cupy_float64(x):
    """Call cp.sum with dtype=float64, which widens each number as it is loaded."""
    return cp.sum(x, dtype=np.float64)


def cupy_converted(x):
    """Make a float64 copy first, and call cp.sum for that."""
    return cp.sum(x.astype(np.float64))


def numpy_sum(x, out):
    """Call np.sum, which adds up pairwise."""
    np.sum(x, keepdims=True, out=out)


def numpy_float64(x, out):
    """Call np.sum with dtype=float64."""
    out[0] = np.sum(x, dtype=np.float64)


class SumCheck:
    """Equal on whole numbers; on random ones within a share of the sum of magnitudes.

    >>> check = SumCheck(1e-5)
    >>> check.compare(np.array([3.0]), check.prepare((np.array([1.0, 2.0], np.float32),)))
    (0.0, 0.0)
    """

    def __init__(self, drift):
        self.drift = drift

    def prepare(self, inputs):
        """Return the right sum, and how far a result may be from it."""
        (x,) = inputs
        right = total(x)
        whole = not x.size or bool((x[:1000] % 1 == 0).all())
        return right, 0.0 if whole else self.drift * right

    def compare(self, output, prepared):
        """Return the difference and the tolerance."""
        right, tolerance = prepared
        if output.size != 1:
            raise MismatchError(f"The sum should be one number; it has shape {output.shape}.")
        return abs(float(output.reshape(())) - right), tolerance


def total(x):
    """Add up in float64, piece by piece, as the scalar product with ones."""
    ones = array_module(x).ones(min(x.size, CHECKED))
    parts = (x[part].astype(np.float64) for part in blocks(x.size, CHECKED))
    return float(sum(float(piece @ ones[: piece.size]) for piece in parts))


def right_sum(x):
    """Return the right sum as the kernels do."""
    return np.array([total(x)]).astype(x.dtype)


def numbers(n, dtype, rng, exact):
    return (whole_numbers(rng, n, 2, dtype, low=-1) if exact else uniform(rng, n, dtype),)


def sums():
    """Return what both studies of sums share."""
    return {
        "dtype": "float32",
        "sizes": (10**6, LENGTH),
        "size_name": "numbers",
        "inputs": numbers,
        "input_note": "uniform random numbers from 0 to 1; -1, 0 and 1 for the exact check",
        "answer": right_sum,
        "output": lambda n, dtype: ((1,), dtype),
        "traffic": per_element(reads=1, writes=0, flops=1),
        "small": (0, 1, 31, 257, 4097),
    }


wide = {"output": lambda n, dtype: ((1,), np.dtype(np.float64))}
new = {"allocates": True, "output": lambda n, dtype: ((), dtype)}
new_wide = {"allocates": True, "output": lambda n, dtype: ((), np.dtype(np.float64))}

many_sums = Study(
    name="many_sums",
    title="A sum of float32 numbers, by way of many partial sums",
    check=SumCheck(DRIFT),
    baseline="cupy_sum",
    variants=(
        cpu(numpy_sum, "np.sum"),
        cpu(numpy_float64, "np.sum, dtype=float64", **wide),
        gpu(cupy_sum, "cp.sum", **new),
        gpu(cupy_float64, "cp.sum, dtype=float64", **new_wide),
        gpu(cupy_converted, "cp.sum of a float64 copy", batchable=False, **new_wide),
        gpu(sum_float32, "Numba, float32", arrays="numba", simulatable=True),
        gpu(sum_float64, "Numba, float64", arrays="numba", simulatable=True, **wide),
    ),
    **sums(),
)
one_sum = Study(
    name="one_sum",
    title="A sum of float32 numbers, one after another",
    # The first stops growing, so random numbers are no check of it; whole ones are.
    check=SumCheck(0.9),
    variants=(
        cpu(kernels.one_after_another, "float32 total"),
        cpu(kernels.by_kahan, "float32 total, Kahan"),
        cpu(kernels.in_one_float64, "float64 total", **wide),
    ),
    **sums(),
)


# The units --------------------------------------------------------------------------------------------------


def near_zero(n, dtype, rng, exact):
    if exact:
        return (whole_numbers(rng, n, 1, dtype, low=-2),)
    return (dtype.type(0.7) * uniform(rng, n, dtype) - dtype.type(0.5),)


def limit(x):
    """Return where the steps come to rest; those that begin at -1 go on between -1 and 0."""
    at_rest = (1 - np.sqrt(1 - 4 * x)) / 2
    return np.where(x == -2, 2, np.where(x == -1, -1, at_rest))


def steps(dtype):
    """Return what both studies of the units share."""
    return {
        "dtype": dtype,
        "sizes": (2**24,),
        "size_name": "numbers",
        "inputs": near_zero,
        "input_note": "uniform random numbers from -0.5 to 0.2; -2, -1 and 0 for the exact check",
        "reference": limit,
        "tolerance": Tolerance(c=16, scale=lambda x: 1, threads=1),
        "small": (0, 1, 33, 257),
    }


def launch(n):
    return -(-n // 256), 256


single = Study(
    name="single",
    title=f"{STEPS} multiplications and additions each, float32",
    traffic=per_element(reads=1, writes=1, flops=2 * STEPS),
    variants=(kernel(kernels.thousand_steps, "float32", launch, name="steps_float32"),),
    **steps("float32"),
)
double = Study(
    name="double",
    title=f"{STEPS} multiplications and additions each, float64",
    traffic=per_element(reads=1, writes=1, flops=2 * STEPS, unit="fp64"),
    variants=(kernel(kernels.thousand_steps, "float64", launch, name="steps_float64"),),
    **steps("float64"),
)
