"""Scans: running totals of a vector, and what is positive of one, kept in its order."""

from functools import cache

import numpy as np
from numba import njit

from gpuguide.machine.backends import numba_view, raw_kernel
from gpuguide.measure import (
    Study,
    cp,
    cpu,
    end_to_end,
    gpu,
    kernel,
    per_element,
    uniform,
    whole_numbers,
)
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.scan import kernels
from gpuguide.topics.scan.kernels import BLOCK, PIECE, look_back_source

# Of the kernel in CUDA C++: numbers in a piece, and threads in a block.
RAW_PIECE, RAW_BLOCK = 16_384, 128
KEPT = 2**26


def pieces(n, piece=PIECE):
    """Count the pieces of n numbers."""
    return -(-n // piece)


@cache
def room(n, dtype):
    """Make room once for two numbers of each piece, as CuPy and as Numba take them."""
    values = cp.empty((2, n), dtype)
    return (*values, *map(numba_view, values))


# Running totals ---------------------------------------------------------------------------------------------


def cumsum_numpy(x, out):
    """Call np.cumsum, which runs on one thread."""
    np.cumsum(x, out=out)


def cumsum_cupy(x):
    """Call cp.cumsum."""
    return cp.cumsum(x)


def cub_in_place(x):
    """Let CUB add up in the array itself, which overwrites the numbers."""
    from cupy.cuda import cub

    if x.size:
        cub.device_scan(x, cub.CUPY_CUB_CUMSUM)


def three_steps(x, out):
    """Sum up each piece, take the running totals of these sums, and then those within the pieces."""
    if x.size == 0:
        return
    n = pieces(x.size)
    sums, ends, sums_view, ends_view = room(n, "float32")
    kernels.sums_of_pieces[n, BLOCK](x, sums_view)
    cp.cumsum(sums, out=ends)
    kernels.totals_of_pieces[n, BLOCK](x, ends_view, out)


raw_look_back = raw_kernel(look_back_source, "look_back")
raw_look_back_awake = raw_kernel(look_back_source, "look_back", ("-DPAUSE=0",))


def look_back(x, out, raw=raw_look_back):
    """Clear what blocks publish, and launch the kernel in CUDA C++ once."""
    if x.size == 0:
        return
    n = pieces(x.size, RAW_PIECE)
    state = published(n)
    state.data.memset_async(0, state.nbytes, cp.cuda.get_current_stream())
    raw((n,), (RAW_BLOCK,), (x, out, state, state[n:], np.int64(x.size)))


def look_back_awake(x, out):
    """Launch the same kernel with threads that look all the time."""
    look_back(x, out, raw_look_back_awake)


@cache
def published(n):
    """Make room once for what n blocks publish, and for a count of those that have begun."""
    return cp.empty(n + 1, np.uint64)


@njit
def totals_reference(x):
    """Add up in a loop."""
    totals = np.empty(x.size, np.float64)
    total = 0.0
    for i in range(x.size):
        total += x[i]
        totals[i] = total
    return totals


def magnitudes(x):
    """Add up how large the numbers are."""
    return totals_reference(np.abs(x))


def centred(n, dtype, rng, exact):
    if exact:
        return (whole_numbers(rng, n, 2, dtype, low=-1),)
    return (uniform(rng, n, dtype) - dtype.type(0.5),)


running = Study(
    name="running",
    title="The running totals of a vector, float32",
    sizes=(2**16, 2**20, 2**24, 2**28),
    size_name="numbers",
    inputs=centred,
    input_note="uniform random numbers from -0.5 to 0.5; -1, 0 and 1 for the exact check",
    reference=totals_reference,
    tolerance=Tolerance(
        serial=2 * PIECE // BLOCK, scale=magnitudes, threads=lambda n: max(1, n)
    ),
    # The least that a scan can move; the three steps read the numbers twice.
    traffic=per_element(reads=1, writes=1, flops=1),
    small=(0, 1, 33, 257, 1031),
    baseline="cumsum_cupy",
    variants=(
        cpu(cumsum_numpy, "NumPy, one thread", up_to=2**24),
        cpu(kernels.cpu_threads, "CPU, all threads", "all"),
        gpu(cumsum_cupy, "cp.cumsum", allocates=True),
        gpu(cub_in_place, "CUB, in place", mutates=True),
        gpu(three_steps, "three steps", arrays="numba", name="totals_of_pieces"),
        gpu(look_back, "one launch, CUDA C++"),
        gpu(look_back_awake, "one launch, without sleep"),
    ),
)


def block_reference(x):
    """Add up in a loop that begins anew in each block."""
    totals = np.empty(x.size, np.float64)
    for start in range(0, x.size, BLOCK):
        totals[start : start + BLOCK] = totals_reference(x[start : start + BLOCK])
    return totals


within = Study(
    name="within",
    title="The running totals within each block of 256, float32",
    sizes=(2**20,),
    size_name="numbers",
    inputs=centred,
    input_note="uniform random numbers from -0.5 to 0.5; -1, 0 and 1 for the exact check",
    reference=block_reference,
    tolerance=Tolerance(serial=8, scale=lambda x: BLOCK, threads=1),
    traffic=per_element(reads=1, writes=1, flops=8),
    small=(0, 1, 33, 257, 1031),
    variants=(kernel(kernels.block_totals, "in a block", lambda n: (-(-n // BLOCK), BLOCK)),),
)


# What is positive -------------------------------------------------------------------------------------------


def mask_numpy(x):
    """Pick by a mask with NumPy, on one thread."""
    return x[x > 0]


def mask_cupy(x):
    """Pick by a mask with CuPy."""
    x = cp.asarray(x)
    return x[x > 0]


def cumsum_and_scatter(x):
    """Find the places of what is kept with cp.cumsum, and store it there."""
    x = cp.asarray(x)
    keep = x > 0
    ends = cp.cumsum(keep, dtype=np.int32)
    positive = cp.empty(int(ends[-1]) if x.size else 0, x.dtype)
    scatter()(x, keep, ends, positive)
    return positive


@cache
def scatter():
    """Describe how a number that is kept is stored at its place."""
    return cp.ElementwiseKernel(
        "T x, bool keep, int32 end", "raw T kept", "if (keep) kept[end - 1] = x", "scatter"
    )


def own_kernels(x):
    """Count in each piece, take the running totals of the counts, and store."""
    n = pieces(x.size)
    if n == 0:
        return cp.empty(0, np.float32)
    counts, ends, counts_view, ends_view = room(n, "int32")
    kernels.count_positive[n, BLOCK](x, counts_view)
    cp.cumsum(counts, out=ends)
    positive = cp.empty(int(ends[-1]), np.float32)
    if positive.size:
        kernels.keep_positive[n, BLOCK](x, ends_view, numba_view(positive))
    return positive


def half_positive(n, dtype, rng, exact):
    """Return numbers of which half are positive, so that the length of the result is known."""
    size = (
        whole_numbers(rng, n, 9, dtype) + 1
        if exact
        else uniform(rng, n, dtype) + dtype.type(0.1)
    )
    keep = np.zeros(n, bool)
    half = n // 2
    keep[:half] = whole_numbers(rng, half, 2, np.int8)
    keep[half : 2 * half] = ~keep[:half]
    # Among what is not kept, there are zeros.
    return (np.where(keep, size, np.where(size > dtype.type(1), dtype.type(0), -size)),)


@njit
def positive_reference(x):
    """Keep in a loop."""
    positive = np.empty(x.size, x.dtype)
    n = 0
    for number in x:
        if number > 0:
            positive[n] = number
            n += 1
    return positive[:n]


kept = Study(
    name="kept",
    title="What is positive of a vector, float32",
    sizes=(KEPT, 2**28),
    size_name="numbers",
    inputs=half_positive,
    input_note="random numbers, of which half are positive",
    reference=positive_reference,
    output=lambda n, dtype: ((n // 2,), dtype),
    small=(0, 2, 33, 257, 1031),
    baseline="mask_cupy",
    variants=(
        cpu(mask_numpy, "NumPy, one thread", allocates=True, up_to=KEPT),
        end_to_end(mask_cupy, "x[x > 0]", arrays="numba", allocates=True),
        end_to_end(cumsum_and_scatter, "cp.cumsum", arrays="numba", allocates=True),
        end_to_end(own_kernels, "own kernels", arrays="numba", allocates=True),
    ),
)
