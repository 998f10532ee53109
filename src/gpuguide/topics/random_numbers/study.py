"""Uniform random numbers by generator and dtype on the CPU and the GPU; a sum of two vectors of them."""

from functools import cache, partial

import numpy as np

from gpuguide.machine.cpu import cpu_info, thread_pool
from gpuguide.measure import Study, cp, cpu, gpu, per_element, uniform, whole_numbers
from gpuguide.topics.random_numbers.check import UniformCheck

SEED = 2026
LENGTH = 5 * 10**7  # of the vectors that the source adds
PIECE = 10**7
THREADS = cpu_info().n_cpus
# Below, one thread is done before the others have begun.
ALONE_BELOW = 2**18


@cache
def numpy_generators():
    """Make a generator for each thread from one seed."""
    return np.random.default_rng(SEED).spawn(THREADS)


def numpy(n, out):
    """Fill an array by NumPy's default_rng on one thread."""
    numpy_generators()[0].random(dtype=out.dtype, out=out)


def numpy_threads(n, out):
    """Let each thread fill a part with a generator of its own, spawned from one seed."""
    if n < ALONE_BELOW:
        numpy(n, out)
        return
    generators = numpy_generators()
    step = -(-n // len(generators))
    parts = [out[start : start + step] for start in range(0, n, step)]

    def fill(generator, part):
        generator.random(dtype=part.dtype, out=part)

    list(thread_pool().map(fill, generators, parts))  # list waits for the threads


def cupy_random(n, dtype):
    """Call cp.random.random, which keeps a generator of its own."""
    return cp.random.random(n, dtype=dtype) if n else cp.empty(0, dtype)


def xorwow(n, dtype):
    """Call the method random of cp.random.default_rng, whose bits come from XORWOW."""
    return draw("XORWOW", n, dtype)


def philox(n, dtype):
    """Call the method random of a generator whose bits come from Philox."""
    return draw("Philox4x3210", n, dtype)


def mrg(n, dtype):
    """Call the method random of a generator whose bits come from MRG32k3a."""
    return draw("MRG32k3a", n, dtype)


def draw(bits, n, dtype):
    """Draw numbers of a generator of CuPy's; none where none are asked for."""
    # CuPy would launch a grid without blocks.
    return cupy_generator(bits).random(n, dtype=dtype) if n else cp.empty(0, dtype)


@cache
def cupy_generator(bits):
    """Make a generator of CuPy's once."""
    return cp.random.Generator(getattr(cp.random, bits)(SEED))


def generators(dtype, *names):
    """Return the variants of these names that draw numbers of a dtype."""
    counted = {"work": {"numbers": lambda n: n}}
    calls = {
        cupy_random: "cp.random.random",
        xorwow: "default_rng (XORWOW)",
        philox: "Philox",
        mrg: "MRG32k3a",
    }
    variants = (
        cpu(numpy, "NumPy, one thread", **counted),
        cpu(numpy_threads, "NumPy, all threads", THREADS, **counted),
        *(gpu(partial(f, dtype=dtype), calls[f], allocates=True, **counted) for f in calls),
    )
    return tuple(variant for variant in variants if variant.name in names)


numbers = {
    "inputs": lambda n, dtype, rng, exact: (n,),
    "input_note": "none: each call draws the next numbers of its generator",
    "check": UniformCheck(),
    "output": lambda n, dtype: ((n,), dtype),
    "traffic": per_element(reads=0, writes=1),
    "size_name": "numbers",
}

float64 = Study(
    name="float64",
    title="Uniform random numbers, float64",
    sizes=(10**3, 10**4, 10**5, 10**6, 10**7, LENGTH),
    dtype="float64",
    baseline="numpy_threads",
    variants=generators("float64", "numpy_threads", "cupy_random", "xorwow"),
    **numbers,
)

bits = Study(
    name="bits",
    title="Uniform random numbers, float64",
    sizes=(LENGTH,),
    dtype="float64",
    baseline="numpy",
    variants=generators("float64", "numpy", "philox", "mrg"),
    **numbers,
)

float32 = Study(
    name="float32",
    title="Uniform random numbers, float32",
    sizes=(LENGTH,),
    dtype="float32",
    baseline="numpy_threads",
    variants=generators("float32", "numpy_threads", "cupy_random", "xorwow", "philox", "mrg"),
    **numbers,
)


def add_new(a, b):
    """Call np.add as the source does: each call makes a new array."""
    return np.add(a, b)


def add_threads(a, b, out):
    """Let each thread call np.add for a part."""
    step = max(1, -(-a.size // THREADS))
    parts = [slice(start, start + step) for start in range(0, a.size, step)]
    list(thread_pool().map(lambda part: np.add(a[part], b[part], out=out[part]), parts))


def cupy_new(a, b):
    """Write a + b, which makes a new array."""
    return a + b


def cupy(a, b, out):
    """Call cp.add with out=, which fills an array that exists."""
    cp.add(a, b, out=out)


def elementwise(a, b, out):
    """Call an ElementwiseKernel, for which one writes the sum in C."""
    elementwise_kernel()(a, b, out)


@cache
def elementwise_kernel():
    """Compile the sum of two numbers that is written in C."""
    return cp.ElementwiseKernel(
        "float64 x, float64 y", "float64 z", "z = x + y", "add_elementwise"
    )


def vectors(n, dtype, rng, exact):
    if exact:
        return tuple(whole_numbers(rng, n, 2**20, dtype, low=-(2**20)) for _ in range(2))
    return tuple(uniform(rng, n, dtype) for _ in range(2))


add = Study(
    name="add",
    title="The sum of two vectors",
    sizes=(LENGTH,),
    dtype="float64",
    inputs=vectors,
    input_note="uniform random numbers; whole numbers for the exact check",
    reference=lambda a, b: a - (-b),
    traffic=per_element(reads=2, writes=1, flops=1, unit="fp64"),
    baseline="numpy_threads",
    variants=(
        cpu(add_new, "np.add, one thread, new array", name="numpy_new", allocates=True),
        cpu(add_threads, "np.add, all threads", THREADS, name="numpy_threads"),
        gpu(cupy_new, "CuPy, a + b", allocates=True),
        gpu(cupy, "cp.add with out="),
        gpu(elementwise, "ElementwiseKernel"),
    ),
)


def pi_errors(exponents, n_runs):
    """Estimate pi by 10**k points a run; return by how much it is off, a row for each k."""
    rng = cp.random.default_rng(SEED)
    estimates = [[4 * inside(rng, 10**k) / 10**k for _ in range(n_runs)] for k in exponents]
    return np.array(estimates) - np.pi


def inside(rng, n):
    """Count random points that lie within a quarter of a circle, in pieces that fit on any GPU."""
    count = 0
    for start in range(0, n, PIECE):
        m = min(PIECE, n - start)
        x, y = rng.random(m, dtype=cp.float32), rng.random(m, dtype=cp.float32)
        count += int(cp.count_nonzero(x * x + y * y < 1))
    return count
