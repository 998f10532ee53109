"""One addition and one sum by every route: CuPy's kernels, CUDA C++, CuPy's compiler, and Numba."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine import device, launch
from gpuguide.machine.backends import (
    array_module,
    cupy,
    current_stream,
    has_gpu,
    numba_cuda,
    raw_kernel,
)
from gpuguide.machine.launch import blocks_1d
from gpuguide.measure.buffers import blocks
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import cupy_variant, kernel_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.kernel_families.functions import jit_addition, numba_addition
from gpuguide.topics.kernel_families.kernels import (
    add_four,
    add_one,
    add_source,
    sum_blocks,
    sum_source,
)

LENGTH, SOURCE_LENGTH = 2**28, 5 * 10**7
THREADS_PER_BLOCK = 256
CUPY_THREADS = 128
"""Threads in a block of CuPy's elementwise kernels."""
SUM_BLOCKS = 4096
_BLOCK = 1 << 24
# Of the sum of magnitudes: float32 rounds each of many additions.
_DRIFT = 1e-5


# The addition -----------------------------------------------------------------------------------------------


def add_ufunc(a: Any, b: Any, out: Any) -> None:
    """Call cp.add, a ufunc that CuPy brings."""
    cupy().add(a, b, out=out)


def add_pairs(a: Any, b: Any, out: Any) -> None:
    """Call cp.add for complex numbers: each is two of ours, and takes eight bytes."""
    pairs = [x[: x.size // 2 * 2].view(np.complex64) for x in (a, b, out)]
    cupy().add(*pairs[:2], out=pairs[2])
    if a.size % 2:
        cupy().add(a[-1:], b[-1:], out=out[-1:])


def add_fused(a: Any, b: Any) -> Any:
    """Call a function that cp.fuse has made a kernel of."""
    return fused_addition()(a, b)


@cache
def fused_addition() -> Any:
    """Fuse an addition, the shortest function there is."""

    @cupy().fuse
    def addition(a: Any, b: Any) -> Any:
        return a + b

    return addition


def add_elementwise(a: Any, b: Any, out: Any) -> None:
    """Call an ElementwiseKernel: one line of CUDA C++."""
    if launch.check(a=a, b=b, out=out, ndim=1):
        elementwise_addition()(a, b, out)


@cache
def elementwise_addition() -> Any:
    """Describe the addition of two numbers, of whatever type T they are."""
    return cupy().ElementwiseKernel("T a, T b", "T out", "out = a + b", "elementwise_addition")


def add_single(a: Any, b: Any, out: Any) -> None:
    """Launch a RawKernel as CuPy launches its own: one element per thread, blocks of 128."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        blocks_per_grid = blocks_1d(n, CUPY_THREADS)
        raw_addition("add_single")(
            (blocks_per_grid,), (CUPY_THREADS,), (a, b, out, np.int64(n))
        )


def add_quads(a: Any, b: Any, out: Any) -> None:
    """Launch a RawKernel whose threads load 16 bytes at a time."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    for name, x in (("a", a), ("b", b), ("out", out)):
        check_aligned(name, x)
    if n:
        blocks_per_grid = blocks_1d(-(-n // 4), THREADS_PER_BLOCK)
        raw_addition("add_quads")(
            (blocks_per_grid,), (THREADS_PER_BLOCK,), (a, b, out, np.int64(n))
        )


@cache
def raw_addition(name: str) -> Any:
    """Compile one of the two kernels in CUDA C++."""
    return raw_kernel(add_source, name)


def check_aligned(name: str, x: Any) -> None:
    """Raise ArgumentError if an array does not begin at a multiple of 16 bytes, as float4 must."""
    pointer = getattr(getattr(x, "data", None), "ptr", 0)
    if pointer % 16:
        raise ArgumentError(
            f"{name} must be an array that begins at a multiple of 16 bytes; got one at {pointer:#x}, "
            f"{pointer % 16} bytes beyond. Use {name}.copy()."
        )


def add_jit(a: Any, b: Any, out: Any) -> None:
    """Launch a kernel that CuPy has translated from Python, one element per thread."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        jit_addition()((blocks_1d(n, THREADS_PER_BLOCK),), (THREADS_PER_BLOCK,), (a, b, out, n))


def add_numba_ufunc(a: Any, b: Any, out: Any) -> None:
    """Call a ufunc of Numba's, which picks the block size itself."""
    if launch.check(a=a, b=b, out=out, ndim=1, dtype="float32"):
        # Unlike CuPy's, Numba's ufuncs do not follow CuPy's current stream.
        numba_addition()(a, b, out=out, stream=current_stream())


def launch_add_one(a: Any, b: Any, out: Any) -> None:
    """Launch a Numba kernel, one element per thread."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        add_one[blocks_1d(n, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, b, out)


def launch_add_four(a: Any, b: Any, out: Any) -> None:
    """Launch a Numba kernel, four elements per thread."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float32")
    if n:
        add_four[blocks_1d(-(-n // 4), THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, b, out)


def addition_reference(a: Any, b: Any) -> Any:
    """Take away what is not there.

    >>> addition_reference(np.array([1.0]), np.array([2.0])).tolist()
    [3.0]
    """
    return a - (-b)


addition_traffic = streaming_traffic(reads=2, writes=1, flops=1)
double_traffic = streaming_traffic(reads=2, writes=1, flops=1, unit="fp64")


def study(kernels: Kernels = None) -> Study:
    """Describe the addition in single precision by every route."""
    moved: dict[str, Any] = {"traffic": addition_traffic}
    return Study(
        name="add",
        title="The sum of two vectors, float32",
        variants=(
            cupy_variant("add_ufunc", add_ufunc, "cp.add", **moved),
            cupy_variant("add_fused", add_fused, "cp.fuse", allocates=True, **moved),
            cupy_variant("add_elementwise", add_elementwise, "ElementwiseKernel", **moved),
            cupy_variant("add_single", add_single, "RawKernel, CuPy's grid", **moved),
            cupy_variant("add_jit", add_jit, "cupyx.jit", **moved),
            kernel_variant(
                "add_numba_ufunc", add_numba_ufunc, "@vectorize", simulatable=False, **moved
            ),
            kernel_variant("add_one", launch_add_one, "@cuda.jit", **moved),
            cupy_variant("add_pairs", add_pairs, "cp.add, in pairs", **moved),
            cupy_variant("add_quads", add_quads, "RawKernel, float4", **moved),
            kernel_variant("add_four", launch_add_four, "@cuda.jit, four each", **moved),
        ),
        sizes=(_fitting(LENGTH),),
        inputs=_pair,
        reference=addition_reference,
        equal=True,
        dtype="float32",
        input_note="uniform random numbers; whole numbers for the exact check",
        baseline="add_ufunc",
        kernels=kernels,
    )


def double_study(kernels: Kernels = None) -> Study:
    """Describe the addition in double precision, at the source's size."""
    moved: dict[str, Any] = {"traffic": double_traffic}
    return Study(
        name="double",
        title="The sum of two vectors, float64",
        variants=(
            cupy_variant("double_ufunc", add_ufunc, "cp.add", **moved),
            cupy_variant("double_elementwise", add_elementwise, "ElementwiseKernel", **moved),
        ),
        sizes=(_fitting(SOURCE_LENGTH),),
        inputs=_pair,
        reference=addition_reference,
        equal=True,
        dtype="float64",
        input_note="uniform random numbers; whole numbers for the exact check",
        baseline="double_ufunc",
        kernels=kernels,
    )


def _pair(
    n: int, dtype: np.dtype[Any], rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:
        return tuple(whole_numbers(rng, n, 2**20, dtype, low=-(2**20)) for _ in range(2))
    return uniform(rng, n, dtype), uniform(rng, n, dtype)


def _fitting(n: int) -> int:
    """Return the size, or a smaller one if the GPU has no memory for it and for what checks it."""
    free = int(cupy().cuda.Device().mem_info[0]) if has_gpu() else 10**12
    return n if free >= 32 * n else 10**6


# The sum ----------------------------------------------------------------------------------------------------


def sum_cupy(x: Any) -> Any:
    """Call cp.sum, which hands the work to CUB."""
    return cupy().sum(x)


def sum_reduction(x: Any) -> Any:
    """Call a ReductionKernel, which uses blocks of CUB."""
    return reduction()(x)


@cache
def reduction() -> Any:
    """Describe a sum: what to take, how to put two together, what to store, and what to begin with."""
    return cupy().ReductionKernel("T x", "T out", "x", "a + b", "out = a", "0", "reduction")


def sum_quads(x: Any, out: Any) -> None:
    """Launch a RawKernel whose last block adds up what the others have left."""
    n = launch.check(x=x, ndim=1, dtype="float32")
    launch.check(out=out, shape=(1,), dtype="float32")
    check_aligned("x", x)
    blocks_per_grid = 4 * multiprocessors()  # as many blocks of 512 as the GPU holds at once
    parts, done = room_for_parts(blocks_per_grid)
    raw_sum()((blocks_per_grid,), (512,), (x, np.int64(n), parts, done, out))


@cache
def raw_sum() -> Any:
    """Compile the kernel in CUDA C++."""
    return raw_kernel(sum_source, "sum_quads")


@cache
def room_for_parts(n: int) -> tuple[Any, Any]:
    """Make room once for the sums of blocks, and for a count of those that are done."""
    return cupy().empty(n, np.float32), cupy().zeros(1, np.uint32)


@cache
def multiprocessors() -> int:
    """Count this GPU's multiprocessors."""
    return device.require_gpu().sm_count


def launch_sum_blocks(x: Any, out: Any) -> None:
    """Launch a Numba kernel twice: a sum for each block, and the sum of these."""
    n = launch.check(x=x, ndim=1, dtype="float32")
    launch.check(out=out, shape=(1,), dtype="float32")
    blocks_per_grid = min(SUM_BLOCKS, max(1, -(-n // 4096)))
    parts = numba_parts(blocks_per_grid)
    sum_blocks[blocks_per_grid, 256](x, parts)
    sum_blocks[1, 256](parts, out)


@cache
def numba_parts(n: int) -> Any:
    """Make room for the sums of blocks once, as Numba takes it."""
    return numba_cuda().device_array(n, np.float32)


class TotalCheck:
    """Equal on whole numbers; on random ones within 1e-5 of the sum in float64, since float32 rounds."""

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[float, float]:
        """Return the right sum, and how far a result may be from it."""
        (x,) = inputs
        right = total_reference(x)
        whole = not x.size or bool((x[:1000] % 1 == 0).all())
        return right, 0.0 if whole else _DRIFT * right

    def compare(self, output: Any, prepared: tuple[float, float]) -> tuple[float, float]:
        """Return the difference and the tolerance."""
        right, tolerance = prepared
        if output.size != 1:
            raise MismatchError(
                f"The result should be a single number; it has shape {output.shape}."
            )
        return abs(float(output.reshape(())) - right), tolerance


def total_reference(x: Any) -> float:
    """Add up in float64, piece by piece, as the scalar product with ones.

    >>> total_reference(np.array([1, 2, 4], "f4"))
    7.0
    """
    xp = array_module(x)
    ones = xp.ones(min(x.size, _BLOCK))
    parts = (x[part].astype(np.float64) for part in blocks(x.size, _BLOCK))
    return float(sum(float(piece @ ones[: piece.size]) for piece in parts))


total_traffic = streaming_traffic(reads=1, writes=0, flops=1)


def total_study(kernels: Kernels = None) -> Study:
    """Describe the sum of a vector by every route."""
    new: dict[str, Any] = {
        "traffic": total_traffic,
        "allocates": True,
        "output": lambda n, dtype: ((), dtype),  # ours go into an array of one element
    }
    return Study(
        name="total",
        title="The sum of a vector, float32",
        variants=(
            cupy_variant("sum_cupy", sum_cupy, "cp.sum", **new),
            cupy_variant("sum_reduction", sum_reduction, "ReductionKernel", **new),
            cupy_variant("sum_quads", sum_quads, "RawKernel, float4", traffic=total_traffic),
            kernel_variant("sum_blocks", launch_sum_blocks, "@cuda.jit", traffic=total_traffic),
        ),
        sizes=(_fitting(LENGTH),),
        inputs=numbers,
        check=TotalCheck(),
        output=lambda n, dtype: ((1,), dtype),
        dtype="float32",
        input_note="uniform random numbers from 0 to 1; -1, 0 and 1 for the exact check",
        baseline="sum_cupy",
        kernels=kernels,
    )


def numbers(
    n: int, dtype: np.dtype[Any], rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    """Draw a vector from 0 to 1, or of -1, 0 and 1, whose sums are exact in any order."""
    return (whole_numbers(rng, n, 2, dtype, low=-1) if exact else uniform(rng, n, dtype),)
