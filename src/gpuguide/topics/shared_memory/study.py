"""Shared memory: a sum over neighbours, and a matrix transposed."""

from functools import cache

import numpy as np
from numba import njit, prange

from gpuguide.machine.backends import raw_kernel
from gpuguide.measure import Study, cp, cpu, gpu, kernel, per_element, uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.grids_2d_3d.study import along_rows, matrix_shape
from gpuguide.topics.shared_memory import kernels
from gpuguide.topics.shared_memory.kernels import BLOCK, RADIUS


def blocks(n):
    return -(-n // BLOCK), BLOCK


@cache
def ones():
    """Make the weights of a plain sum once."""
    return cp.ones(2 * RADIUS + 1, np.float32)


def cupy_neighbours(x, out):
    """Call CuPy's convolution along an axis, with weights of one."""
    from cupyx.scipy import ndimage

    ndimage.convolve1d(x, ones(), mode="constant", output=out)


@njit(parallel=True)
def cpu_neighbours(x, out):
    """Add up the neighbours of each element, the elements shared out among all threads of the CPU."""
    for i in prange(x.size):
        total = np.float32(0)
        for j in range(max(i - RADIUS, 0), min(i + RADIUS + 1, x.size)):
            total += x[j]
        out[i] = total


def neighbours_reference(x):
    """Take differences of running totals."""
    totals = np.concatenate(([0.0], np.cumsum(x, dtype=np.float64)))
    i = np.arange(x.size)
    return totals[np.minimum(i + RADIUS + 1, x.size)] - totals[np.maximum(i - RADIUS, 0)]


def vector(n, dtype, rng, exact):
    return (whole_numbers(rng, n, 9, dtype) if exact else uniform(rng, n, dtype),)


neighbours = Study(
    name="neighbours",
    title=f"The sum over {2 * RADIUS + 1} neighbours",
    sizes=(2**16, 2**20, 2**24, 2**26),
    size_name="numbers",
    dtype="float32",
    inputs=vector,
    input_note="uniform random numbers from 0 to 1; 0 to 8 for the exact check",
    reference=neighbours_reference,
    tolerance=Tolerance(c=4, serial=2 * RADIUS + 1, scale=lambda x: 2 * RADIUS + 1, threads=1),
    traffic=per_element(reads=1, writes=1, flops=2 * RADIUS),
    small=(0, 1, 33, 257, 1009),
    baseline="neighbours_direct",
    variants=(
        cpu(cpu_neighbours, "CPU, all threads", "all", up_to=2**24),
        gpu(cupy_neighbours, "CuPy convolve1d"),
        kernel(kernels.neighbours_direct, "from global memory", blocks),
        kernel(kernels.neighbours_constant, "in a loop of constant length", blocks),
        kernel(kernels.neighbours_shared, "through shared memory", blocks),
    ),
)


def tiles(n):
    """Return a launch of 32 by 8 threads for each tile of 32 by 32, with x along the rows."""
    rows, cols = matrix_shape(n)
    return (-(-cols // 32), -(-rows // 32)), (32, 8)


def tiles_down(more=0):
    """Return a launch of 512 threads for each tile of 64 by 64, with x down the rows."""

    def grid(n):
        rows, cols = matrix_shape(n)
        return (-(-(rows + more) // 64), -(-cols // 64)), 512

    return grid


raw_transpose = raw_kernel(kernels.transpose_source, "transpose")


def transpose_cpp(a, out):
    """Launch the kernel in CUDA C++: aligned writes, and all loads before the first store."""
    if a.size:
        rows, cols = a.shape
        blocks_per_grid = -(-(rows + 7) // 64), -(-cols // 64)
        raw_transpose(blocks_per_grid, (512,), (a, out, np.int32(rows), np.int32(cols)))


def transpose_cupy(a, out):
    """Copy the transposed view with CuPy."""
    cp.copyto(out, a.T)


def transpose_cublas(a, out):
    """Let cuBLAS add nothing to the transposed matrix."""
    from cupy import cublas

    if a.size:
        cublas.geam("T", "N", 1.0, a, 0.0, out, out=out)


def transpose_numpy(a, out):
    """Copy the transposed view with NumPy, on one thread."""
    np.copyto(out, a.T)


@njit(parallel=True)
def transpose_threads(a, out):
    """Go through tiles of 32 by 32, which stay in a cache, on all threads of the CPU."""
    rows, cols = a.shape
    for tile in prange((rows + 31) // 32):
        for col0 in range(0, cols, 32):
            for col in range(col0, min(col0 + 32, cols)):
                for row in range(32 * tile, min(32 * tile + 32, rows)):
                    out[col, row] = a[row, col]


def matrix(n, dtype, rng, exact):
    # Counting up shows an element that ended up in the wrong place; float32 counts to 2**24.
    values = (
        (np.arange(n, dtype=np.int32) % 2**24).astype(dtype)
        if exact
        else uniform(rng, n, dtype)
    )
    return (values.reshape(matrix_shape(n)),)


transpose = Study(
    name="transpose",
    title="A matrix transposed",
    # The second has sides of 8191 and 16 381, both primes.
    sizes=(4096**2, 8191 * 16_381, 16_384**2),
    size_name="matrix elements",
    dtype="float32",
    inputs=matrix,
    input_note="uniform random numbers",
    reference=lambda a: a.T,
    equal=True,
    output=lambda n, dtype: (matrix_shape(n)[::-1], dtype),
    traffic=per_element(reads=1, writes=1),
    small=(0, 1, 1009, 31 * 33, 67 * 131),
    baseline="transpose_naive",
    variants=(
        cpu(transpose_numpy, "NumPy, one thread", up_to=4096**2),
        cpu(transpose_threads, "CPU, all threads", "all", up_to=4096**2),
        gpu(transpose_cupy, "CuPy, copy of a.T"),
        gpu(transpose_cublas, "cuBLAS, geam"),
        kernel(kernels.transpose_naive, "plain kernel", along_rows((32, 8))),
        kernel(
            kernels.transpose_naive,
            "plain kernel, 16 by 16 threads",
            along_rows((16, 16)),
            name="transpose_square_blocks",
        ),
        kernel(kernels.transpose_tile, "a tile in shared memory", tiles),
        kernel(kernels.transpose_padded, "a spare column", tiles),
        kernel(kernels.transpose_unsigned, "indices without a sign", tiles),
        kernel(kernels.transpose_large, "a tile of 64 by 64", tiles_down()),
        kernel(kernels.transpose_aligned, "aligned writes", tiles_down(more=7)),
        gpu(transpose_cpp, "CUDA C++"),
    ),
)
