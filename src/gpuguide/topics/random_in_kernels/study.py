"""Points and walks by chance: with a state per thread, computed from a counter, and by calls of CuPy."""

from functools import cache
from time import perf_counter

import numpy as np
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states

from gpuguide.machine.backends import current_stream, numba_view
from gpuguide.measure import Study, cp, cpu, end_to_end, gpu, kernel
from gpuguide.topics.random_in_kernels import kernels
from gpuguide.topics.random_in_kernels.check import InsideCheck, WalkCheck

SEED = 2026
THREADS, BLOCK = 2**18, 256
PIECE = 2**26  # points of CuPy's that are in memory at once
STEPS = 1000
AT_ONCE = 125  # steps whose numbers are in memory at once


def threads(n):
    """Choose how many threads share n points, at least 16 for each."""
    return min(THREADS, n // 16)


def grid(n):
    """Give each thread its points."""
    return -(-threads(n) // BLOCK), BLOCK


@cache
def states(n):
    """Make a state for each thread once."""
    return create_xoroshiro128p_states(n, seed=SEED)


def with_states(n_threads, points, counts):
    """Hand over the states that were made once."""
    return states(n_threads), points, counts


def with_seed(n_threads, points, counts):
    """Hand over the seed alone."""
    return SEED, points, counts


@cache
def generator():
    """Make CuPy's generator once."""
    return cp.random.default_rng(SEED)


def drawn(n):
    """Draw the coordinates of n points with CuPy, in pieces that fit into memory."""
    for start in range(0, n, PIECE):
        m = min(PIECE, n - start)
        yield generator().random(m, dtype=np.float32), generator().random(m, dtype=np.float32)


def cupy(n_threads, points):
    """Draw with CuPy, and count by calls on whole arrays."""
    inside = cp.zeros(1, np.int64)
    for x, y in drawn(n_threads * points):
        inside += cp.count_nonzero(x * x + y * y < 1)
    return inside


def cupy_counted(n_threads, points):
    """Draw with CuPy, and count in one kernel, which reads each coordinate once."""
    counts = cp.zeros(n_threads, np.int32)
    for x, y in drawn(n_threads * points):
        arrays = (numba_view(array) for array in (x, y, counts))
        kernels.count_stored[-(-n_threads // BLOCK), BLOCK](*arrays)
    return counts


def fresh_states(n_threads, points, counts):
    """Make the states for a single launch."""
    fresh = create_xoroshiro128p_states(n_threads, seed=SEED, stream=current_stream())
    kernels.own_state[-(-n_threads // BLOCK), BLOCK](fresh, points, counts)


def cpu_threads(n_threads, points, counts):
    """Share the points out among all threads of the CPU."""
    kernels.cpu_threads(SEED, points, counts)


# In the simulator, NumPy warns of numbers that overflow, as those of Numba's generator are to.
of_numba = {"arguments": with_states, "simulatable": False}

points = Study(
    name="points",
    title="Random points in a square, counted within a quarter of a circle, float32",
    sizes=(2**20, 2**25, 2**30),
    size_name="points",
    inputs=lambda n, dtype, rng, exact: (threads(n), n // max(1, threads(n))),
    input_note="none: each call makes its random numbers",
    check=InsideCheck(),
    output=lambda n, dtype: ((threads(n),), np.int32),
    small=(0, 512),
    baseline="cupy",
    variants=(
        cpu(cpu_threads, "CPU, all threads", "all"),
        # The result is the sum of all.
        gpu(
            cupy, "cp.random, arrays", allocates=True, output=lambda n, dtype: ((1,), np.int64)
        ),
        gpu(cupy_counted, "cp.random, a kernel that counts", allocates=True),
        kernel(kernels.own_state, "a state per thread", grid, **of_numba),
        end_to_end(fresh_states, "a state per thread, made in the call", arrays="numba"),
        kernel(kernels.one_draw, "one number per point", grid, **of_numba),
        kernel(kernels.no_state, "Philox, no state", grid, arguments=with_seed),
    ),
)

# Walks ------------------------------------------------------------------------------------------------------


@cache
def four_ways():
    """Return where the four ways lead, as complex numbers."""
    return cp.asarray([1, -1, 1j, -1j], np.complex64)


def cupy_steps(steps, ends):
    """Move all walkers by one step in each call of CuPy."""
    ways, where = four_ways(), cp.zeros(len(ends), np.complex64)
    for _ in range(steps):
        where += ways[generator().integers(0, 4, size=len(where), dtype=np.int8)]
    ends = cp.asarray(ends)
    ends[:, 0], ends[:, 1] = where.real, where.imag


def cupy_pieces(steps, ends):
    """Draw the numbers of many steps at once, and add up where they lead each walker."""
    ways, where = four_ways(), cp.zeros(len(ends), np.complex64)
    for start in range(0, steps, AT_ONCE):
        size = min(AT_ONCE, steps - start), len(where)
        where += ways[generator().integers(0, 4, size=size, dtype=np.int8)].sum(0)
    ends[:, 0], ends[:, 1] = where.real, where.imag


def with_walkers(steps, ends):
    """Hand over a state for each walker."""
    return states(len(ends)), steps, ends


walks = Study(
    name="walks",
    title=f"Random walks of {STEPS} steps",
    sizes=(2**20,),
    size_name="walkers",
    dtype="int32",
    inputs=lambda n, dtype, rng, exact: (STEPS,),
    input_note="none: each call makes its random numbers",
    check=WalkCheck(),
    output=lambda n, dtype: ((n, 2), np.int32),
    small=(0, 33),
    baseline="cupy_steps",
    variants=(
        end_to_end(cupy_steps, "cp.random, a call per step", arrays="numba"),
        gpu(cupy_pieces, f"cp.random, {AT_ONCE} steps per call"),
        kernel(
            kernels.walk,
            "a thread per walker",
            lambda n: (-(-n // BLOCK), BLOCK),
            arguments=with_walkers,
            simulatable=False,
        ),
    ),
)


def paths(n_walkers, steps):
    """Return the way of each walker, as a picture shows it."""
    places = cp.empty((n_walkers, steps, 2), np.int16)
    kernels.whole_walk[1, n_walkers](states(n_walkers), places)
    return places.get()


# What states cost -------------------------------------------------------------------------------------------


def seconds_to_make(n):
    """Return how long it takes to make so many states, until the GPU has them."""
    begin = perf_counter()
    create_xoroshiro128p_states(n, seed=SEED)
    cuda.synchronize()
    return perf_counter() - begin
