"""The softmax of each row of a matrix, by every tool: arrays, one kernel in five languages, libraries."""

from functools import cache

import numpy as np

from gpuguide.machine.backends import numba_view, raw_kernel
from gpuguide.machine.cpu import in_threads
from gpuguide.measure import Study, cp, cpu, end_to_end, gpu, kernel, per_element, uniform
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.grids_2d_3d.study import matrix_shape
from gpuguide.topics.interop.libraries import jax_numpy, missing_jax, missing_torch
from gpuguide.topics.which_tool import arrays, kernels, rivals

BLOCK = kernels.BLOCK
EDGE = 8192


def numpy(x):
    """Call functions of NumPy on one thread."""
    return arrays.whole_arrays(np, x) if x.size else np.empty_like(x)


def cupy(x):
    """Call the same functions of CuPy."""
    return arrays.whole_arrays(cp, x)


def torch_cpu(x, out):
    """Call PyTorch's softmax on all threads of the CPU."""
    torch = rivals.torch_on_cpu()
    torch.softmax(torch.from_numpy(x), 1, out=torch.from_numpy(out))


@cache
def room_for_rows(rows):
    """Make room for the largest number and the sum of each row, once."""
    arrays = cp.empty((2, rows), np.float32)
    return [(array, numba_view(array)) for array in arrays]


def five_kernels(x, out):
    """Launch five kernels of our own, with a block for each row."""
    launch = x.shape[0], BLOCK
    (_, largest), (_, totals) = room_for_rows(x.shape[0])
    kernels.largest_of_rows[launch](x, largest)
    kernels.differences[launch](x, largest, out)
    kernels.powers[launch](out, out)
    kernels.sums_of_rows[launch](out, totals)
    kernels.quotients[launch](out, totals, out)


def cupyx_jit(x, out):
    """Launch a kernel that cupyx.jit translates."""
    rows, cols = x.shape
    rivals.jit_kernel()((rows,), (BLOCK,), (x, out, cols))


def cuda_compute(x, out):
    """Call the algorithms of cuda.compute."""
    rivals.compute().softmax(x, out)


def jax(x):
    """Hand Numba's array to JAX, and take its result back."""
    shares = rivals.jax_softmax()(jax_numpy().from_dlpack(cp.asarray(x)))
    return cp.from_dlpack(shares)


def a_block_for_each_row(n):
    """Return the launch: as many blocks as rows."""
    return matrix_shape(n)[0], BLOCK


def with_columns(x, out):
    """Return the arguments of the kernel in CUDA C++."""
    return x, out, np.int32(x.shape[1])


def matrix(n, dtype, rng, exact):
    """Draw a matrix; for the exact check, powers of e that are 0 or 1, and as many ones as a power of two."""
    rows, cols = matrix_shape(n)
    if not exact:
        return (uniform(rng, n, dtype).reshape(rows, cols) * dtype.type(8),)
    row = np.arange(rows, dtype=np.int32)[:, None]
    ones = 2 ** (row % max(cols.bit_length(), 1))
    values = np.empty((rows, cols), dtype)
    np.multiply(rng.permutation(cols) >= ones, dtype.type(-1000), out=values)
    values += (row % 9).astype(dtype)
    return (values,)


def shares(x):
    """Compute in float64: subtract the largest of each row, raise, and divide by the sum."""
    raised = np.empty_like(x)

    def one(first):
        rows = slice(first, first + 64)
        part = np.subtract(x[rows], np.max(x[rows], axis=1)[:, None], out=raised[rows])
        np.exp(part, out=part)
        part /= np.add.reduce(part, axis=1)[:, None]

    in_threads(one, range(0, len(x), 64), x.nbytes)
    return raised


def passes(times):
    """Declare how often a call reads or writes the whole matrix."""
    return {"work": {"passes": lambda n: times}}


once = passes(2)  # a kernel reads it once, and writes the shares


def other(make_ready, label, name, **options):
    """Return a variant whose launch another library makes ready."""
    options |= {"arrays": "cupy", "simulatable": False, "name": name}
    call = rivals.Configured(make_ready)
    return kernel(call, label, a_block_for_each_row, **options)


of_matrices = {
    "inputs": matrix,
    "input_note": "uniform random numbers from 0 to 8; for the exact check, powers of e that are 0 or 1",
    "reference": shares,
    # The error of a power grows with its exponent.
    "tolerance": Tolerance(c=32, threads=1, scale=shares),
    "traffic": per_element(reads=1, writes=1),
}

softmax = Study(
    name="softmax",
    title="The softmax of each row of 8192 by 8192 numbers",
    sizes=(EDGE**2,),
    small=(0, 1, 5 * 7, 2 * 1103),
    baseline="cupy",
    variants=(
        cpu(numpy, "NumPy, one thread", allocates=True),
        cpu(torch_cpu, "PyTorch, all threads", "all", missing=rivals.missing_torch_on_cpu),
        # The largest, the difference, its powers, their sum, and the quotient.
        gpu(cupy, "CuPy", allocates=True, **passes(1 + 2 + 2 + 1 + 2)),
        gpu(
            five_kernels,
            "Numba, five kernels",
            arrays="numba",
            note="What CuPy does, with a block for each row, and four numbers at a time for each thread.",
            **passes(1 + 2 + 2 + 1 + 2),
        ),
        # The largest, the powers of the difference, their sum, and the quotient.
        gpu(arrays.fused, "cp.fuse", allocates=True, **passes(1 + 2 + 1 + 2)),
        # The largest, the sum of the powers, and the shares.
        gpu(arrays.own_elementwise, "ReductionKernel, ElementwiseKernel", **passes(1 + 1 + 2)),
        gpu(cupyx_jit, "cupyx.jit", **once),
        kernel(kernels.numba_kernel, "Numba", a_block_for_each_row, simulatable=False, **once),
        other(
            rivals.ready_successor,
            "numba-cuda-mlir",
            "numba_cuda_mlir",
            arguments=rivals.views_of_successor,
            missing=rivals.missing_successor,
            note="The same kernel, compiled by Numba's successor.",
            **once,
        ),
        kernel(
            raw_kernel(kernels.raw_source, "softmax"),
            "RawKernel, CUDA C++",
            a_block_for_each_row,
            arguments=with_columns,
            name="raw",
            **once,
        ),
        gpu(
            cuda_compute,
            "cuda.compute",
            missing=rivals.missing_compute,
            batchable=False,
            **passes(1 + 1 + 2),
        ),
        other(
            rivals.ready_triton,
            "Triton",
            "triton_kernel",
            arguments=rivals.tensors,
            missing=rivals.missing_triton,
            note="A program for each row.",
            **once,
        ),
        other(
            rivals.ready_torch,
            "PyTorch",
            "torch",
            arguments=rivals.tensors,
            missing=missing_torch,
            note="torch.softmax(x, 1, out=out).",
        ),
        other(
            rivals.ready_torch_compile,
            "torch.compile",
            "torch_compile",
            arguments=rivals.tensors,
            missing=rivals.missing_triton,
            note="Two lines of PyTorch, compiled.",
        ),
        end_to_end(jax, "JAX", arrays="numba", allocates=True, missing=missing_jax),
    ),
    **of_matrices,
)

# What compiles anew for each length of a row, in seconds.
ANEW = ("cuda_compute", "torch_compile")
FOR_FEW = ("numpy", "torch_cpu", "cupy", "numba_kernel", "raw", "torch")

# Both lengths are odd.
odd = Study(
    name="odd",
    title="The softmax of each row of 781 by 1823 numbers",
    sizes=(781 * 1823,),
    small=(),
    baseline="cupy",
    variants=tuple(v for v in softmax.variants if v.name not in (*ANEW, "jax")),
    **of_matrices,
)

# So few numbers that the launch decides.
few = Study(
    name="few",
    title="The softmax of each row of 256 by 256 numbers",
    sizes=(2**16,),
    small=(),
    baseline="cupy",
    variants=tuple(softmax.variant(name) for name in FOR_FEW),
    **of_matrices,
)
