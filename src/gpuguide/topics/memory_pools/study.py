"""Where the memory of results comes from: the pool or the driver, new arrays or the old one."""

from functools import cache, partial

import numba
import numpy as np

from gpuguide.machine.cpu import thread_pool
from gpuguide.measure import Study, cp, cpu, gpu, per_element, uniform, whole_numbers

THREADS = int(numba.get_num_threads())
ALONE_BELOW = 2**20  # as recorded: below, waking the threads takes longer than the work


def from_pool(x):
    """Add one; the memory of the result comes from CuPy's pool."""
    with cp.cuda.using_allocator(cp.get_default_memory_pool().malloc):
        return x + 1


def from_driver(x):
    """Add one; the memory of the result comes from the driver, and goes back there."""
    with cp.cuda.using_allocator(None):
        return x + 1


def in_place(x):
    """Triple and square in place."""
    x *= 3
    x *= x


def new_arrays(x):
    """Triple and square, with a new array for each result."""
    y = x * 3
    return y * y


@cache
def triple_square():
    """Compile both steps into one kernel."""
    return cp.ElementwiseKernel(
        "float64 x", "float64 y", "double t = 3 * x; y = t * t", "triple_square"
    )


def one_kernel(x):
    """Triple and square in place, in one pass."""
    triple_square()(x, x)


def in_place_threads(n_threads, x):
    """Triple and square in place, a part on each thread."""
    n_threads = 1 if len(x) < ALONE_BELOW else n_threads
    step = max(1, -(-len(x) // n_threads))

    def some(start):
        part = x[start : start + step]
        part *= 3
        part *= part

    if n_threads == 1:
        some(0)
    else:
        list(thread_pool().map(some, range(0, len(x), step)))


def inputs(n, dtype, rng, exact):
    return (whole_numbers(rng, n, 2**20, dtype) if exact else uniform(rng, n, dtype),)


def common():
    """Return what both studies share."""
    return {
        "inputs": inputs,
        "input_note": "uniform random numbers; whole numbers for the exact check",
        "dtype": "float64",
    }


TWICE = per_element(reads=2, writes=2, flops=2, unit="fp64")
ONCE = per_element(reads=1, writes=1, flops=2, unit="fp64")

pool = Study(
    name="pool",
    title="A new array for each result",
    sizes=(2**10, 2**22),
    reference=lambda x: np.add(1, x),
    baseline="from_driver",
    variants=(
        gpu(from_pool, "with the pool", allocates=True),
        gpu(from_driver, "without the pool", allocates=True),
    ),
    **common(),
)
arithmetic = Study(
    name="arithmetic",
    title="x tripled and squared, in float64",
    sizes=(2**25,),
    # With the two roundings that every variant makes.
    reference=lambda x: np.square(np.multiply(3, x)),
    equal=True,
    in_place=True,
    baseline="numpy_threads",
    variants=(
        cpu(new_arrays, "NumPy, one thread, new arrays", name="numpy_new", allocates=True),
        cpu(partial(in_place_threads, 1), "NumPy, one thread, in place", name="numpy_in_place"),
        cpu(
            partial(in_place_threads, THREADS),
            "NumPy, all threads, in place",
            THREADS,
            name="numpy_threads",
        ),
        gpu(new_arrays, "CuPy, new arrays", allocates=True, traffic=TWICE),
        gpu(in_place, "CuPy, in place", traffic=TWICE),
        gpu(one_kernel, "CuPy, in place, one kernel", traffic=ONCE),
    ),
    **common(),
)
