"""One addition and one sum by every route: CuPy's kernels, CUDA C++, CuPy's compiler, and Numba."""

from functools import cache

import numpy as np
from numba import cuda

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module, current_stream, raw_kernel
from gpuguide.machine.device import require_gpu
from gpuguide.measure import Study, cp, gpu, kernel, per_element, uniform, whole_numbers
from gpuguide.measure.buffers import blocks
from gpuguide.topics.kernel_families import kernels
from gpuguide.topics.kernel_families.functions import jit_addition, numba_addition

LENGTH, SOURCE_LENGTH = 2**28, 5 * 10**7
PIECE = 1 << 24
# Of the sum of magnitudes: float32 rounds each of many additions.
DRIFT = 1e-5


# The addition -----------------------------------------------------------------------------------------------


def add_ufunc(a, b, out):
    """Call cp.add, a ufunc that CuPy brings."""
    cp.add(a, b, out=out)


def add_pairs(a, b, out):
    """Call cp.add for complex numbers: each is two of ours, and takes eight bytes."""
    pairs = [x[: x.size // 2 * 2].view(np.complex64) for x in (a, b, out)]
    cp.add(*pairs[:2], out=pairs[2])
    if a.size % 2:
        cp.add(a[-1:], b[-1:], out=out[-1:])


def add_fused(a, b):
    """Call a function that cp.fuse has made a kernel of."""
    return fused_addition()(a, b)


@cache
def fused_addition():
    """Fuse an addition, the shortest function there is."""

    @cp.fuse
    def addition(a, b):
        return a + b

    return addition


def add_elementwise(a, b, out):
    """Call an ElementwiseKernel: one line of CUDA C++."""
    elementwise_addition()(a, b, out)


@cache
def elementwise_addition():
    """Describe the addition of two numbers, of whatever type T they are."""
    return cp.ElementwiseKernel("T a, T b", "T out", "out = a + b", "elementwise_addition")


def add_jit(a, b, out):
    """Launch a kernel that CuPy has translated from Python, one element per thread."""
    if out.size:
        jit_addition()((-(-out.size // 256),), (256,), (a, b, out, out.size))


def add_numba_ufunc(a, b, out):
    """Call a ufunc of Numba's, which picks the block size itself."""
    if out.size:
        # Unlike CuPy's, Numba's ufuncs do not follow CuPy's current stream.
        numba_addition()(a, b, out=out, stream=current_stream())


def grid_of(threads, each=1):
    """Return the grid of a launch in which each thread takes so many elements."""
    return lambda n: (-(-n // (threads * each)), threads)


def in_cuda(name, label, grid, note):
    """Return a variant that launches one of the two kernels in CUDA C++, which take the length, too."""

    def arguments(a, b, out):
        return a, b, out, np.int64(out.size)

    return kernel(
        raw_kernel(kernels.add_source, name), label, grid, arguments=arguments, note=note
    )


def pair(n, dtype, rng, exact):
    if exact:
        return tuple(whole_numbers(rng, n, 2**20, dtype, low=-(2**20)) for _ in range(2))
    return uniform(rng, n, dtype), uniform(rng, n, dtype)


def additions():
    """Return what the additions share; the reference takes away what is not there."""
    return {
        "inputs": pair,
        "input_note": "uniform random numbers; whole numbers for the exact check",
        "reference": lambda a, b: a - (-b),
        "equal": True,
    }


add = Study(
    name="add",
    title="The sum of two vectors, float32",
    sizes=(LENGTH,),
    traffic=per_element(reads=2, writes=1, flops=1),
    baseline="add_ufunc",
    variants=(
        gpu(add_ufunc, "cp.add"),
        gpu(add_fused, "cp.fuse", allocates=True),
        gpu(add_elementwise, "ElementwiseKernel"),
        in_cuda(
            "add_single",
            "RawKernel, CuPy's grid",
            grid_of(128),
            "Launch a RawKernel as CuPy launches its own: one element per thread, blocks of 128.",
        ),
        gpu(add_jit, "cupyx.jit"),
        gpu(add_numba_ufunc, "@vectorize", arrays="numba"),
        kernel(kernels.add_one, "@cuda.jit", grid_of(256)),
        gpu(add_pairs, "cp.add, in pairs"),
        in_cuda(
            "add_quads",
            "RawKernel, float4",
            grid_of(256, each=4),
            "Launch a RawKernel whose threads load 16 bytes at a time.",
        ),
        kernel(kernels.add_four, "@cuda.jit, four each", grid_of(256, each=4)),
    ),
    **additions(),
)
double = Study(
    name="double",
    title="The sum of two vectors, float64",
    sizes=(SOURCE_LENGTH,),
    dtype="float64",
    traffic=per_element(reads=2, writes=1, flops=1, unit="fp64"),
    baseline="double_ufunc",
    variants=(
        gpu(add_ufunc, "cp.add", name="double_ufunc"),
        gpu(add_elementwise, "ElementwiseKernel", name="double_elementwise"),
    ),
    **additions(),
)


# The sum ----------------------------------------------------------------------------------------------------


def sum_cupy(x):
    """Call cp.sum, which hands the work to CUB."""
    return cp.sum(x)


def sum_reduction(x):
    """Call a ReductionKernel, which uses blocks of CUB."""
    return reduction()(x)


@cache
def reduction():
    """Describe a sum: what to take, how to put two together, what to store, and what to begin with."""
    return cp.ReductionKernel("T x", "T out", "x", "a + b", "out = a", "0", "reduction")


raw_sum = raw_kernel(kernels.sum_source, "sum_quads")


def sum_quads(x, out):
    """Launch a RawKernel whose last block adds up what the others have left."""
    blocks_per_grid = 4 * multiprocessors()  # as many blocks of 512 as the GPU holds at once
    parts, done = room_for_parts(blocks_per_grid)
    raw_sum((blocks_per_grid,), (512,), (x, np.int64(x.size), parts, done, out))


@cache
def room_for_parts(n):
    """Make room once for the sums of blocks, and for a count of those that are done."""
    return cp.empty(n, np.float32), cp.zeros(1, np.uint32)


@cache
def multiprocessors():
    """Count this GPU's multiprocessors."""
    return require_gpu().sm_count


def sum_blocks(x, out):
    """Launch a Numba kernel twice: a sum for each block, and the sum of these."""
    blocks_per_grid = min(4096, max(1, -(-x.size // 4096)))
    parts = numba_parts(blocks_per_grid)
    kernels.sum_blocks[blocks_per_grid, 256](x, parts)
    kernels.sum_blocks[1, 256](parts, out)


@cache
def numba_parts(n):
    """Make room for the sums of blocks once, as Numba takes it."""
    return cuda.device_array(n, np.float32)


class TotalCheck:
    """Equal on whole numbers; on random ones within 1e-5 of the sum in float64, since float32 rounds."""

    def prepare(self, inputs):
        """Return the right sum, and how far a result may be from it."""
        (x,) = inputs
        right = total_reference(x)
        whole = not x.size or bool((x[:1000] % 1 == 0).all())
        return right, 0.0 if whole else DRIFT * right

    def compare(self, output, prepared):
        """Return the difference and the tolerance."""
        right, tolerance = prepared
        if output.size != 1:
            raise MismatchError(
                f"The result should be a single number; it has shape {output.shape}."
            )
        return abs(float(output.reshape(())) - right), tolerance


def total_reference(x):
    """Add up in float64, piece by piece, as the scalar product with ones."""
    ones = array_module(x).ones(min(x.size, PIECE))
    parts = (x[part].astype(np.float64) for part in blocks(x.size, PIECE))
    return float(sum(float(piece @ ones[: piece.size]) for piece in parts))


def numbers(n, dtype, rng, exact):
    return (whole_numbers(rng, n, 2, dtype, low=-1) if exact else uniform(rng, n, dtype),)


def sums():
    """Return what the sums share; those of -1, 0 and 1 are exact in any order."""
    return {
        "inputs": numbers,
        "input_note": "uniform random numbers from 0 to 1; -1, 0 and 1 for the exact check",
        "check": TotalCheck(),
        "traffic": per_element(reads=1, writes=0, flops=1),
    }


# CuPy's sums have no axis; ours go into an array of one element.
new = {"allocates": True, "output": lambda n, dtype: ((), dtype)}

total = Study(
    name="total",
    title="The sum of a vector, float32",
    sizes=(LENGTH,),
    output=lambda n, dtype: ((1,), dtype),
    small=(0, 257, 4097),
    baseline="sum_cupy",
    variants=(
        gpu(sum_cupy, "cp.sum", **new),
        gpu(sum_reduction, "ReductionKernel", **new),
        gpu(sum_quads, "RawKernel, float4"),
        gpu(sum_blocks, "@cuda.jit", arrays="numba", simulatable=True),
    ),
    **sums(),
)
