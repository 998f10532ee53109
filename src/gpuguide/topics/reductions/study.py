"""Reductions: a sum in several ways, a scalar product, the place of the largest number, sums of rows."""

from functools import cache

import numpy as np
from numba import cuda

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module
from gpuguide.measure import Study, cp, cpu, gpu, kernel, per_element, uniform, whole_numbers
from gpuguide.measure.buffers import blocks
from gpuguide.measure.plan import first_line
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.reductions import kernels
from gpuguide.topics.reductions.kernels import BLOCK, PER_THREAD

PAIRS = 10**8
PIECE, HOST_PIECE = 1 << 24, 1 << 17
# Of the sum of magnitudes: float32 rounds each of many additions.
DRIFT = 1e-5
# As many blocks as an H100 or H200 holds at once: 4 of 512 threads, or 8 of 256, on 132 multiprocessors.
RESIDENT, RESIDENT_OF_256 = 4 * 132, 8 * 132


def covering(n, per_thread=1):
    """Count the blocks that give all n numbers a thread."""
    return -(-n // (BLOCK * per_thread))


def adding(kernel, label, grid, **options):
    """Return a variant that clears the result and launches a kernel whose blocks add to it."""

    def call(*arrays):
        *inputs, out = arrays
        kernels.clear[-(-out.size // 256), 256](out)
        if inputs[0].size:
            kernel[grid(inputs[0])](*inputs, out)

    name = getattr(kernel, "__name__", None) or kernel.py_func.__name__
    options = {"arrays": "numba", "note": first_line(kernel), "name": name, **options}
    return gpu(call, label, **options)


# The sum ----------------------------------------------------------------------------------------------------


def sum_numpy(x):
    """Call NumPy's sum, which runs on one thread."""
    return np.sum(x)


def sum_threads(x):
    """Share the numbers out among all threads of the CPU."""
    return np.asarray(kernels.cpu_threads(x), x.dtype)


def sum_cupy(x):
    """Call cp.sum, which hands the work to CUB."""
    return cp.sum(x)


def two_launches(x, out):
    """Store the sum of each block, and add these up in a second launch."""
    sums = room(max(1, covering(x.size, PER_THREAD)))
    kernels.sums_of_blocks[sums.size, BLOCK](x, sums)
    kernels.one_block[1, BLOCK](sums, out)


def stored_tree(x, out):
    """Store the sum of each block of 512 numbers, and add these up in a second launch."""
    sums = room(max(1, covering(x.size)))
    kernels.stored_tree[sums.size, BLOCK](x, sums)
    kernels.one_block[1, BLOCK](sums, out)


@cache
def room(n, dtype="float32"):
    """Make room once for what blocks leave, as Numba takes it."""
    return cuda.device_array(n, np.dtype(dtype))


def pieces(x):
    """Cut an array into parts: large ones on the GPU, and such as fit a CPU's cache on the host."""
    return blocks(x.size, HOST_PIECE if array_module(x) is np else PIECE)


def sum_of(values):
    """Add up in float64, piece by piece, as the scalar product with ones."""
    xp = array_module(values)
    ones = xp.ones(min(values.size, PIECE))
    parts = (values[part].astype(np.float64) for part in pieces(values))
    # Not by BLAS: on the host its threads would wait for each other at every piece.
    return float(sum(float(xp.einsum("i,i->", part, ones[: part.size])) for part in parts))


class SumCheck:
    """Equal on whole numbers; on random ones within 1e-5 of the sum of magnitudes, since float32 rounds."""

    def prepare(self, inputs):
        """Return the right sum, and how far a result may be from it."""
        right, magnitude = self.sums(*inputs)
        whole = all(bool((x[:1000] % 1 == 0).all()) for x in inputs)
        return right, 0.0 if whole else DRIFT * magnitude

    def sums(self, *inputs):
        """Return the sum, and that of the magnitudes."""
        (x,) = inputs
        right = magnitude = 0.0
        for part in pieces(x):
            right += sum_of(x[part])
            magnitude += sum_of(abs(x[part]))
        return right, magnitude

    def compare(self, output, prepared):
        """Return the difference and the tolerance."""
        right, tolerance = prepared
        if output.size != 1:
            raise MismatchError(
                f"The result should be one number; it has shape {output.shape}."
            )
        return abs(float(output.reshape(())) - right), tolerance


def centred(n, dtype, rng, exact):
    return (
        whole_numbers(rng, n, 2, dtype, low=-1)
        if exact
        else uniform(rng, n, dtype) - dtype.type(0.5)
    )


SMALL = (0, 1, 33, 257, 1031)
NOTE = "uniform random numbers from -0.5 to 0.5; -1, 0 and 1 for the exact check"
# CuPy's and NumPy's sums have no axis; ours go into an array of one element.
NEW = {"allocates": True, "output": lambda n, dtype: ((), dtype)}
ONE = {"output": lambda n, dtype: ((1,), dtype)}

total = Study(
    name="total",
    title="The sum of a vector, float32",
    sizes=(2**16, 2**20, 2**24, 2**28),
    size_name="numbers",
    inputs=lambda *given: (centred(*given),),
    input_note=NOTE,
    check=SumCheck(),
    answer=lambda x: np.array([x.sum()]),
    traffic=per_element(reads=1, writes=0, flops=1),
    small=SMALL,
    baseline="sum_cupy",
    variants=(
        cpu(sum_numpy, "NumPy, one thread", up_to=2**24, **NEW),
        cpu(sum_threads, "CPU, all threads", "all", **NEW),
        gpu(sum_cupy, "cp.sum", **NEW),
        adding(
            kernels.one_atomic_each,
            "one atomic each",
            lambda x: (covering(x.size), BLOCK),
            work={"atomics": lambda n: n},
            simulatable=True,
        ),
        adding(
            kernels.tree,
            "a tree in each block",
            lambda x: (covering(x.size), BLOCK),
            work={"atomics": covering},
            simulatable=True,
        ),
        adding(
            kernels.strided_tree,
            "many numbers per thread",
            lambda x: (min(covering(x.size), RESIDENT), BLOCK),
            simulatable=True,
        ),
        adding(
            kernels.many_by_tree,
            "loads at once, a tree",
            lambda x: (covering(x.size, PER_THREAD), BLOCK),
            simulatable=True,
        ),
        adding(
            kernels.many_per_thread,
            "loads at once, shuffles",
            lambda x: (covering(x.size, PER_THREAD), BLOCK),
        ),
        gpu(two_launches, "two launches, no atomics", arrays="numba"),
        gpu(stored_tree, "a tree in each block, no atomics", arrays="numba"),
    ),
    **ONE,
)


# The scalar product -----------------------------------------------------------------------------------------


def dot_numpy(x, y):
    """Call np.dot, which runs on all threads of its library."""
    return np.dot(x, y)


def dot_cupy(x, y):
    """Call cp.dot."""
    return cp.dot(x, y)


def multiply_and_sum(x, y):
    """Multiply into a temporary array, and add that up."""
    return cp.sum(x * y)


def dot_cublas(x, y):
    """Call cuBLAS, which reads each vector once."""
    from cupy import cublas  # not there after `import cupy`

    return cublas.dot(x, y) if x.size else cp.zeros((), x.dtype)


@cache
def products():
    """Describe a scalar product: what to take, how to put two together, what to store."""
    return cp.ReductionKernel("T x, T y", "T out", "x * y", "a + b", "out = a", "0", "products")


def dot_reduction(x, y):
    """Call a ReductionKernel, which multiplies and adds up in one pass."""
    return products()(x, y)


class ProductCheck(SumCheck):
    """Equal on whole numbers; on random ones within 1e-5 of the sum of magnitudes, since float32 rounds."""

    def sums(self, *inputs):
        """Return the scalar product, and that of the magnitudes."""
        x, y = inputs
        right = magnitude = 0.0
        for part in pieces(x):
            piece, other = x[part].astype(np.float64), y[part].astype(np.float64)
            right += sum_of(piece * other)
            magnitude += sum_of(abs(piece * other))
        return right, magnitude


product = Study(
    name="product",
    title="The scalar product of two vectors, float32",
    sizes=(PAIRS,),
    size_name="pairs",
    inputs=lambda *given: (centred(*given), centred(*given)),
    input_note=NOTE,
    check=ProductCheck(),
    answer=lambda x, y: np.array([(x * y).sum()]),
    traffic=per_element(reads=2, writes=0, flops=2),
    small=SMALL,
    baseline="dot_cupy",
    variants=(
        cpu(dot_numpy, "NumPy", **NEW),
        gpu(dot_cupy, "cp.dot", **NEW),
        gpu(multiply_and_sum, "cp.sum(x * y)", **NEW),
        gpu(dot_cublas, "cuBLAS", **NEW),
        gpu(dot_reduction, "ReductionKernel", **NEW),
        adding(
            kernels.dot,
            "one pass",
            lambda x: (min(-(-x.size // 256), RESIDENT_OF_256), 256),
        ),
    ),
    **ONE,
)


# The largest and its place ----------------------------------------------------------------------------------


def argmax_numpy(x):
    """Call NumPy's argmax, which runs on one thread."""
    return np.argmax(x)


def argmax_cupy(x):
    """Call cp.argmax."""
    return cp.argmax(x)


def largest(x, out):
    """Store the largest number of each block with its place, and choose among them in a second launch."""
    n_blocks = covering(x.size, PER_THREAD)
    values, places = room(n_blocks), room(n_blocks, "int32")
    kernels.largest_of_blocks[n_blocks, BLOCK](x, values, places)
    kernels.largest_of_all[1, BLOCK](values, places, out)


class PlaceCheck:
    """The first place of the largest number."""

    def prepare(self, inputs):
        """Return the place, found piece by piece: the first element that equals the largest."""
        (x,) = inputs
        top = x.max()
        for part in pieces(x):
            equal = array_module(x).flatnonzero(x[part] == top)
            if equal.size:
                return part.start + int(equal[0])
        raise MismatchError("The inputs have no largest number.")

    def compare(self, output, prepared):
        """Return how far the place is from the right one."""
        if output.size != 1:
            raise MismatchError(
                f"The result should be one number; it has shape {output.shape}."
            )
        return float(abs(int(output.reshape(())) - prepared)), 0.0


PLACE = {"allocates": True, "output": lambda n, dtype: ((), "int64")}

place = Study(
    name="place",
    title="The place of the largest number, float32",
    sizes=(2**28,),
    size_name="numbers",
    # Few values in the exact check, so that the largest stands in many places.
    inputs=lambda *given: (centred(*given),),
    input_note=NOTE,
    check=PlaceCheck(),
    answer=lambda x: np.array([np.argmax(x)]),
    output=lambda n, dtype: ((1,), "int64"),
    traffic=per_element(reads=1, writes=0),
    small=(1, 33, 257, 1031),
    baseline="argmax_cupy",
    variants=(
        cpu(argmax_numpy, "NumPy, one thread", **PLACE),
        gpu(argmax_cupy, "cp.argmax", **PLACE),
        gpu(largest, "two launches", arrays="numba"),
    ),
)


# Rows and columns -------------------------------------------------------------------------------------------

FEW = 64
"""Numbers in a short row, and how many long rows there are."""
ELEMENTS = 64 * 10**6


def matrix(shape):
    def inputs(n, dtype, rng, exact):
        return (centred(n, dtype, rng, exact).reshape(shape(n)),)

    return inputs


def short(n):
    return n // FEW, FEW


def long(n):
    return FEW, n // FEW


def of_matrices(shape, axis):
    """Return what the studies of matrices share; sums along axis 1 are those of rows."""
    per_sum = lambda n: shape(n)[axis]  # noqa: E731
    return {
        "sizes": (ELEMENTS,),
        "size_name": "matrix elements",
        "inputs": matrix(shape),
        "input_note": NOTE,
        "reference": (lambda a: a @ np.ones(a.shape[1]))
        if axis
        else (lambda a: np.ones(len(a)) @ a),
        "output": lambda n, dtype: ((shape(n)[1 - axis],), dtype),
        "tolerance": Tolerance(
            serial=PER_THREAD,
            threads=lambda n: max(1, per_sum(n)),
            scale=lambda a: abs(a).sum(axis),
        ),
        "traffic": per_element(reads=1, writes=0, flops=1),
        "small": (FEW, 33 * FEW, 257 * FEW),
    }


def along_rows(a):
    """Add up along the rows with NumPy, on one thread."""
    return a.sum(axis=1)


def rows_cupy(a):
    """Call cp.sum with axis=1."""
    return cp.sum(a, axis=1)


def columns_cupy(a):
    """Call cp.sum with axis=0."""
    return cp.sum(a, axis=0)


def ways(shape):
    """Return the variants that add up rows of this shape."""
    rows = lambda n: shape(n)[0]  # noqa: E731
    return (
        cpu(along_rows, "NumPy, one thread", allocates=True),
        gpu(rows_cupy, "cp.sum, axis=1", allocates=True),
        kernel(
            kernels.thread_per_row,
            "a thread per row",
            lambda n: (-(-rows(n) // 256), 256),
        ),
        kernel(
            kernels.eight_per_row,
            "eight threads per row",
            lambda n: (-(-rows(n) // 32), 256),
            simulatable=False,
        ),
        kernel(
            kernels.block_per_row,
            "a block per row",
            lambda n: (rows(n), 256),
            simulatable=False,
        ),
    )


short_rows = Study(
    name="short_rows",
    title="Sums of a million rows of 64 numbers, float32",
    baseline="rows_cupy",
    variants=ways(short),
    **of_matrices(short, 1),
)
long_rows = Study(
    name="long_rows",
    title="Sums of 64 rows of a million numbers, float32",
    baseline="rows_cupy",
    variants=(
        *ways(long),
        adding(
            kernels.blocks_per_row,
            "many blocks per row",
            lambda a: ((covering(a.shape[1], PER_THREAD), a.shape[0]), BLOCK),
        ),
    ),
    **of_matrices(long, 1),
)
columns = Study(
    name="columns",
    title="Sums of a million columns of 64 numbers, float32",
    baseline="columns_cupy",
    variants=(
        gpu(columns_cupy, "cp.sum, axis=0", allocates=True),
        adding(
            kernels.thread_per_column,
            "a thread per column",
            lambda a: ((-(-a.shape[1] // 256), -(-a.shape[0] // 256)), 256),
            simulatable=True,
        ),
    ),
    **of_matrices(long, 0),
)
