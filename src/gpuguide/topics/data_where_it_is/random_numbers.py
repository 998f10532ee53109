"""A hundred million random numbers, drawn on the host and on the GPU, and how long that takes."""

from functools import cache

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import is_device_array
from gpuguide.machine.cpu import cpu_info, in_threads, thread_pool
from gpuguide.measure import cp
from gpuguide.measure.buffers import blocks
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.turns import gpu_clock

THREADS = cpu_info().n_cpus


def rand_numpy(n, out):
    """Draw in float64 with np.random.rand, on one thread, and convert."""
    return np.random.rand(n).astype(np.float32)


def random_numpy(n, out):
    """Draw float32 with a generator of NumPy, on one thread, into an array that exists."""
    return np.random.default_rng(0).random(out=out, dtype=np.float32)


def random_numpy_threads(n, out):
    """Do the same on all threads, each with a generator of its own."""
    starts = [n * i // THREADS for i in range(THREADS + 1)]

    def draw(i, rng):
        rng.random(out=out[starts[i] : starts[i + 1]], dtype=np.float32)

    list(thread_pool().map(draw, range(THREADS), np.random.default_rng(0).spawn(THREADS)))
    return out


def rand_cupy(n, out):
    """Draw in float64 with cp.random.rand and convert, on the GPU."""
    return cp.random.rand(n).astype(np.float32)


def random_cupy(n, out):
    """Draw float32 with a generator of CuPy, on the GPU."""
    return cupy_generator().random(n, dtype=np.float32)


@cache
def cupy_generator():
    """Make CuPy's generator once: setting up its state takes longer than drawing."""
    return cp.random.default_rng(0)


DRAWS = (rand_numpy, random_numpy, random_numpy_threads, rand_cupy, random_cupy)
# How many samples of each: the slowest takes over half a second.
TURNS = {"rand_numpy": 1, "random_numpy": 2}
MOST_TURNS = 10
PART = 1 << 17


def check_uniform(x, n):
    """Raise MismatchError unless `x` looks like `n` uniform random numbers of float32 from 0 to 1."""
    if x.shape != (n,) or x.dtype != np.float32:
        raise MismatchError(
            f"Expected {n:,} numbers of float32; got shape {x.shape}, {x.dtype}."
        )
    if not n:
        return
    # cp.random.rand is converted from float64, and may round up to 1.
    if not (float(x.min()) >= 0 and float(x.max()) <= 1):
        raise MismatchError("Random numbers should lie from 0 to 1.")
    mean, variance, neighbours = (total / n for total in sums(x))
    expected = (
        ("mean", 0.5 + mean, 0.5, np.sqrt(1 / 12)),
        ("variance", variance, 1 / 12, np.sqrt(1 / 180)),
        ("product of neighbours", neighbours, 0.0, 1 / 12),
    )
    # Within six standard deviations.
    for name, got, right, deviation in expected:
        if abs(got - right) > 6 * deviation / np.sqrt(n):
            raise MismatchError(
                f"The {name} of {n:,} random numbers should be {right:.4g}; it is {got:.4g}."
            )


def sums(x):
    """Add up the numbers minus one half, their squares, and their products with the next one."""

    def one(part):
        # With the first number of the next part.
        centred = x[part.start : part.stop + 1] - np.float32(0.5)
        own, following = centred[: part.stop - part.start], centred[1:]
        products = own * own, own[: following.size] * following
        return tuple(float(terms.sum(dtype=np.float64)) for terms in (own, *products))

    parts = in_threads(one, blocks(x.size, PART), x.nbytes)
    return tuple(map(sum, zip(*parts, strict=True)))


def time_drawing(n):
    """Draw `n` numbers in each way, check them, and time it until they are there."""
    gpu, clock = gpu_clock(), SystemClock()
    out = np.zeros(n, np.float32)
    out += 1  # so that its memory has been touched
    taken = []
    with gpu.use():
        for turn in range(MOST_TURNS):
            for draw in DRAWS:
                name = draw.__name__
                if turn == 0 and name.endswith("cupy"):
                    draw(n, out)  # the first call may compile
                if turn < TURNS.get(name, MOST_TURNS):
                    gpu.synchronize()
                    start = clock.now_ns()
                    drawn = draw(n, out)
                    gpu.synchronize()
                    taken.append((name, (clock.now_ns() - start) / 1e9))
                    if turn == 0:
                        # On the host, where nothing must be compiled for it.
                        check_uniform(drawn.get() if is_device_array(drawn) else drawn, n)
                    del drawn  # so that the next one finds its memory free
    return {draw.__name__: [s for name, s in taken if name == draw.__name__] for draw in DRAWS}
