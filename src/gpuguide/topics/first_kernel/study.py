"""Adding one to every element of a vector: a loop on the CPU, and the same loop shared out on the GPU."""

import numpy as np

from gpuguide.measure import Study, cp, cpu, end_to_end, kernel, per_element, uniform
from gpuguide.topics.first_kernel import kernels

BLOCK, MAX_BLOCKS = 256, 1024  # about eight blocks for each multiprocessor of a large GPU


def blocks(n):
    """Count the blocks that give each of n elements a thread."""
    return -(-n // BLOCK)


def python_loop(x):
    """Add one in a Python loop, one element at a time."""
    for i in range(len(x)):
        x[i] += 1


def numpy(x):
    """Add one with NumPy's x += 1: a compiled loop on one thread."""
    x += 1


def with_copies(x_host):
    """Copy to the GPU, add one there, and copy back into the same host array."""
    x_device = cp.asarray(x_host)
    kernels.grid[blocks(x_device.size), BLOCK](x_device)
    x_device.get(out=x_host)


def with_copies_pinned(x_host):
    """Do the same with an array in pinned memory, which the GPU copies by itself."""
    x_device = cp.empty(x_host.shape, x_host.dtype)
    # asarray would first copy it into pinned memory of CuPy's own.
    x_device.set(x_host, stream=cp.cuda.get_current_stream())
    kernels.grid[blocks(x_device.size), BLOCK](x_device)
    x_device.get(out=x_host)


def inputs(n, dtype, rng, exact):
    # Counting up shows an element that ended up in the wrong place.
    return (np.arange(n, dtype=dtype) if exact else uniform(rng, n, dtype),)


increment = Study(
    name="increment",
    title="Adding one to every element of a vector",
    sizes=(2**10, 2**13, 2**16, 2**20, 2**24, 2**26),
    size_name="numbers",
    dtype="float64",
    inputs=inputs,
    input_note="uniform random numbers; whole numbers counting up for the exact check",
    reference=lambda x: x + 1,
    equal=True,
    in_place=True,
    traffic=per_element(reads=1, writes=1, flops=1, unit="fp64"),
    small=(0, 1, 1025),
    baseline="numpy",
    variants=(
        cpu(python_loop, "Python loop", up_to=2**20),
        cpu(numpy, "NumPy, one thread", up_to=2**24),
        cpu(kernels.cpu_threads, "CPU, all threads", "all", up_to=2**24),
        kernel(
            kernels.one_thread,
            "one thread",
            lambda n: (1, 1),
            work={"turns": lambda n: n},
            up_to=2**20,
        ),
        kernel(
            kernels.one_block,
            "one block",
            lambda n: (1, BLOCK),
            work={"turns": blocks},
            up_to=2**24,
        ),
        kernel(kernels.by_hand, "grid, by hand", lambda n: (blocks(n), BLOCK)),
        kernel(kernels.grid, "cuda.grid", lambda n: (blocks(n), BLOCK)),
        kernel(
            kernels.grid_stride,
            "grid-stride loop",
            lambda n: (min(blocks(n), MAX_BLOCKS), BLOCK),
        ),
        end_to_end(with_copies, "with pageable copies", up_to=2**24),
        end_to_end(with_copies_pinned, "with pinned copies", arrays="pinned", up_to=2**24),
    ),
)
