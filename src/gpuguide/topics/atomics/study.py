"""A histogram of 256 bins: keys spread evenly, nearly all in one bin, and keys of one byte."""

import numpy as np
from numba import get_num_threads, njit, prange

from gpuguide.machine.backends import array_module, raw_kernel
from gpuguide.measure import Study, cp, cpu, gpu, per_element, whole_numbers
from gpuguide.topics.atomics import kernels
from gpuguide.topics.atomics.kernels import BINS
from gpuguide.topics.launch_sizes import study as launch_sizes

THREADS = 256
HOT, COLD_EVERY = 7, 1000  # of a thousand keys, 999 are 7


def counts_reference(x):
    """Sort, and look where each value begins and ends."""
    xp = array_module(x)
    edges = xp.searchsorted(xp.sort(x), xp.arange(BINS + 1))
    return (edges[1:] - edges[:-1]).astype(np.int32)


def of_bytes_reference(words):
    """Do the same with the four bytes of each word."""
    return counts_reference(words.view(np.uint8))


# On the CPU, and CuPy ---------------------------------------------------------------------------------------


def numpy_bincount(x, out):
    """Call np.bincount, on one thread."""
    out[:] = np.bincount(x, minlength=BINS)


@njit(parallel=True)
def counted_by_threads(x, parts, out):
    copies = np.zeros((parts, BINS), np.int32)
    for part in prange(parts):
        for i in range(part * x.size // parts, (part + 1) * x.size // parts):
            copies[part, x[i]] += 1
    for b in range(BINS):
        out[b] = copies[:, b].sum()


def cpu_threads(x, out):
    """Let each thread of the CPU count a part into a copy of its own."""
    counted_by_threads(x, get_num_threads(), out)


def numpy_bytes(words, out):
    """Call np.bincount on the bytes."""
    out[:] = np.bincount(words.view(np.uint8), minlength=BINS)


def cupy_bincount(x, out):
    """Call cp.bincount."""
    out[:] = cp.bincount(x, minlength=BINS)


def cupy_histogram(x, out):
    """Call cp.histogram with 256 bins of width one."""
    out[:] = cp.histogram(x, BINS, (0, BINS))[0]


def bincount_of_bytes(words, out):
    """Call cp.bincount on the bytes."""
    out[:] = cp.bincount(words.view(np.uint8), minlength=BINS)


# Kernels: each begins with zeros, so two are launched -------------------------------------------------------


def one_per_thread(n):
    """Count the blocks that give each of n keys a thread."""
    return -(-n // THREADS)


def blocks_that_stay(n):
    """Count the blocks that fill the GPU, or cover n keys."""
    return min(8 * launch_sizes.multiprocessors(), one_per_thread(n))


def in_global(x, out):
    """Clear the counts, and launch count_global."""
    kernels.clear[1, BINS](out)
    if x.size:
        kernels.count_global[one_per_thread(x.size), THREADS](x, out)


def in_shared(x, out):
    """Clear the counts, and launch count_shared."""
    kernels.clear[1, BINS](out)
    if x.size:
        kernels.count_shared[blocks_that_stay(x.size), THREADS](x, out)


def in_short_blocks(x, out):
    """Launch count_shared with one key for each thread, and as many counts to add at the end."""
    kernels.clear[1, BINS](out)
    if x.size:
        kernels.count_shared[one_per_thread(x.size), THREADS](x, out)


def eight_at_a_time(x, out):
    """Clear the counts, and launch count_eight."""
    kernels.clear[1, BINS](out)
    if x.size:
        kernels.count_eight[blocks_that_stay(x.size), THREADS](x, out)


def four_words(words, out):
    """Clear the counts, and launch count_bytes."""
    kernels.clear[1, BINS](out)
    if words.size:
        kernels.count_bytes[blocks_that_stay(words.size), THREADS](words, out)


raw_count = raw_kernel(kernels.count_source, "count")


def cpp(x, out):
    """Clear the counts, and launch the kernel in CUDA C++ with blocks of 1024 threads."""
    out.fill(0)
    if x.size:
        blocks = min(2 * launch_sizes.multiprocessors(), -(-x.size // 1024))
        raw_count((blocks,), (1024,), (x, out, np.int64(x.size)))


def on_gpu(call, label, name):
    """Return a variant that launches kernels of Numba on views made once, under the name of the second."""
    return gpu(call, label, name=name, arrays="numba", simulatable=True)


# The studies ------------------------------------------------------------------------------------------------


def spread(n, dtype, rng, exact):
    return (whole_numbers(rng, n, BINS, dtype),)


def one_hot(n, dtype, rng, exact):
    x = np.full(n, HOT, dtype)
    x[::COLD_EVERY] = whole_numbers(rng, -(-n // COLD_EVERY), BINS, dtype)
    return (x,)


def bytes_in_words(n, dtype, rng, exact):
    return (whole_numbers(rng, n // 4, 2**32, dtype),)


def shared_parts(**options):
    """Return what the three studies have in common."""
    return {
        "output": lambda n, dtype: ((BINS,), np.int32),
        "equal": True,
        "traffic": per_element(reads=1, writes=0),
        **options,
    }


counts = Study(
    name="counts",
    title="How often each of 256 values occurs",
    sizes=(2**16, 2**20, 2**24, 2**28),
    size_name="keys",
    dtype="int32",
    inputs=spread,
    input_note="whole numbers from 0 to 255, each as likely as any other",
    reference=counts_reference,
    small=(0, 1, 31, 257, 1009),
    baseline="count_global",
    variants=(
        cpu(numpy_bincount, "np.bincount, one thread", up_to=2**24),
        cpu(cpu_threads, "CPU, all threads", "all", up_to=2**24),
        gpu(cupy_bincount, "cp.bincount"),
        gpu(cupy_histogram, "cp.histogram"),
        on_gpu(in_global, "atomics in global memory", "count_global"),
        on_gpu(in_short_blocks, "a copy per block, one key per thread", "short_blocks"),
        on_gpu(in_shared, "a copy per block", "count_shared"),
        on_gpu(eight_at_a_time, "eight keys at a time", "count_eight"),
        gpu(cpp, "CUDA C++"),
    ),
    **shared_parts(),
)
hot = Study(
    name="hot",
    title="The same, with 999 of 1000 keys in one bin",
    sizes=(2**24, 2**28),
    size_name="keys",
    dtype="int32",
    inputs=one_hot,
    input_note="7, and of every thousand keys one from 0 to 255",
    reference=counts_reference,
    small=(0, 1, 33, 1009),
    baseline="count_global",
    variants=(
        cpu(numpy_bincount, "np.bincount, one thread", up_to=2**24),
        gpu(cupy_bincount, "cp.bincount"),
        gpu(cupy_histogram, "cp.histogram"),
        on_gpu(in_global, "atomics in global memory", "count_global"),
        on_gpu(in_shared, "a copy per block", "count_shared"),
        on_gpu(eight_at_a_time, "eight keys at a time", "count_eight"),
        gpu(cpp, "CUDA C++"),
    ),
    **shared_parts(),
)
of_bytes = Study(
    name="of_bytes",
    title="How often each byte occurs",
    sizes=(2**24, 2**28),
    size_name="bytes",
    dtype="uint32",
    inputs=bytes_in_words,
    input_note="bytes, each value as likely as any other, four in a word",
    reference=of_bytes_reference,
    small=(0, 4, 132, 4 * 1009),
    baseline="bincount_of_bytes",
    variants=(
        cpu(numpy_bytes, "np.bincount, one thread", up_to=2**24),
        gpu(bincount_of_bytes, "cp.bincount"),
        on_gpu(four_words, "four words at a time", "count_bytes"),
    ),
    **shared_parts(traffic=per_element(reads=0.25, writes=0)),
)
