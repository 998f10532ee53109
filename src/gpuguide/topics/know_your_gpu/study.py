"""What memory can do: one answer by writing, by copying and by reading two arrays; and reading alone."""

import numpy as np

from gpuguide.measure import Study, cp, gpu, kernel, uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.results.records import Traffic
from gpuguide.topics.know_your_gpu import kernels

# The sizes are bytes of an array of float32.
SIZES = tuple(2**power for power in (12, 16, 20, 23, 25, 27, 30))
ITEM, BLOCK, PER_THREAD = 4, 256, 4
PATTERN = 2**24 - 1  # as the kernel `write` has it: float32 holds whole numbers up to here
TILE = 4096  # elements that one block of the kernel `read` adds up


def grid(n_bytes):
    return -(-n_bytes // (ITEM * PER_THREAD * BLOCK)), BLOCK


def copy_cupy(a, b, out):
    """Copy with cp.copyto, which asks the driver to copy."""
    cp.copyto(out, a)


def mix(reads):
    return lambda n_bytes, dtype: Traffic(reads * n_bytes, n_bytes)


def pattern(n_bytes, dtype, rng, exact):
    """Count up, and draw smaller numbers: the larger of each pair is what all variants write."""
    n = n_bytes // ITEM
    a = np.resize(np.arange(PATTERN + 1, dtype=dtype), n)
    b = uniform(rng, n, dtype)
    b *= a
    return a, np.floor(b, out=b) if exact else b


def n_sums(n_bytes):
    return -(-n_bytes // (ITEM * TILE))


def block_sums(a):
    """Add up each run of 4096 elements."""
    return np.add.reduceat(a, np.arange(0, a.size, TILE)) if a.size else np.empty(0, a.dtype)


def read_inputs(n_bytes, dtype, rng, exact):
    n = n_bytes // ITEM
    return (whole_numbers(rng, n, 2, dtype, low=-1) if exact else uniform(rng, n, dtype),)


mixes = Study(
    name="mixes",
    title="Writing, copying, and reading two arrays",
    sizes=SIZES,
    size_name="bytes per array",
    inputs=pattern,
    input_note="whole numbers counting up to 2**24 and starting again, and smaller random ones",
    reference=lambda a, b: a.copy(),
    equal=True,
    output=lambda n_bytes, dtype: (n_bytes // ITEM, dtype),
    baseline="copy",
    variants=(
        kernel(
            kernels.write, "write", grid, arguments=lambda a, b, out: (out,), traffic=mix(0)
        ),
        kernel(
            kernels.copy,
            "copy 1 : 1",
            grid,
            arguments=lambda a, b, out: (a, out),
            traffic=mix(1),
        ),
        kernel(kernels.two_to_one, "read two, write one", grid, traffic=mix(2)),
        gpu(copy_cupy, "CuPy copyto", traffic=mix(1)),
    ),
    small=tuple(ITEM * n for n in (0, 1, 1025)),
)
reads = Study(
    name="reads",
    title="Reading alone",
    sizes=SIZES,
    size_name="bytes per array",
    inputs=read_inputs,
    input_note="uniform random numbers; -1, 0 and 1 for the exact check",
    reference=block_sums,
    # As the kernel adds: sixteen one after the other, then a tree over 256 threads.
    tolerance=Tolerance(c=4, serial=16, scale=lambda a: block_sums(np.abs(a)), threads=BLOCK),
    output=lambda n_bytes, dtype: (n_sums(n_bytes), dtype),
    traffic=lambda n_bytes, dtype: Traffic(
        n_bytes, ITEM * n_sums(n_bytes), flops=n_bytes // ITEM
    ),
    variants=(kernel(kernels.read, "read", lambda n_bytes: (n_sums(n_bytes), BLOCK)),),
    small=tuple(ITEM * n for n in (0, 1, 257, 4097)),
)
