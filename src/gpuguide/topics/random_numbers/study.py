"""Uniform random numbers by generator and dtype on the CPU and the GPU; a sum of two vectors of them."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.machine.cpu import cpu_info, thread_pool
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cpu_variant, cupy_variant, streaming_traffic
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.random_numbers.check import UniformCheck

SEED = 2026
LENGTH = 5 * 10**7
"""Of the vectors that the source adds."""
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, LENGTH)
PIECE = 10**7
THREADS = cpu_info().n_cpus
# Below, one thread is done before the others have begun.
ALONE_BELOW = 2**18


def numpy_random(n: int, out: np.ndarray) -> None:
    """Fill an array by NumPy's default_rng on one thread."""
    launch.check(out=out, shape=(n,))
    numpy_generators()[0].random(dtype=out.dtype, out=out)


def numpy_threads(n: int, out: np.ndarray) -> None:
    """Let each thread fill a part with a generator of its own, spawned from one seed."""
    launch.check(out=out, shape=(n,))
    if n < ALONE_BELOW:
        numpy_random(n, out)
        return
    generators = numpy_generators()
    step = -(-n // len(generators))
    parts = [out[start : start + step] for start in range(0, n, step)]

    def one(generator: np.random.Generator, part: np.ndarray) -> None:
        generator.random(dtype=part.dtype, out=part)

    list(thread_pool().map(one, generators, parts))  # list waits for the threads


@cache
def numpy_generators() -> list[np.random.Generator]:
    """Make a generator for each thread from one seed."""
    return np.random.default_rng(SEED).spawn(THREADS)


def cupy_random(n: int, dtype: str) -> Any:
    """Call cp.random.random, which keeps a generator of its own."""
    return cupy().random.random(n, dtype=dtype) if n else cupy().empty(0, dtype)


def xorwow(n: int, dtype: str) -> Any:
    """Call the method random of cp.random.default_rng, whose bits come from XORWOW."""
    return drawn("XORWOW", n, dtype)


def philox(n: int, dtype: str) -> Any:
    """Call the method random of a generator whose bits come from Philox."""
    return drawn("Philox4x3210", n, dtype)


def mrg(n: int, dtype: str) -> Any:
    """Call the method random of a generator whose bits come from MRG32k3a."""
    return drawn("MRG32k3a", n, dtype)


def drawn(bits: str, n: int, dtype: str) -> Any:
    """Draw numbers of a generator of CuPy's; none where none are asked for."""
    # CuPy would launch a grid without blocks.
    return cupy_generator(bits).random(n, dtype=dtype) if n else cupy().empty(0, dtype)


@cache
def cupy_generator(bits: str) -> Any:
    """Make a generator of CuPy's once."""
    random = cupy().random
    return random.Generator(getattr(random, bits)(SEED))


def add_numpy_new(a: np.ndarray, b: np.ndarray) -> Any:
    """Call np.add as the source does: each call makes a new array."""
    return np.add(a, b)


def add_threads(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Let each thread call np.add for a part."""
    n = launch.check(a=a, b=b, out=out, ndim=1)
    step = max(1, -(-n // THREADS))
    parts = [slice(start, start + step) for start in range(0, n, step)]
    list(thread_pool().map(lambda part: np.add(a[part], b[part], out=out[part]), parts))


def add_cupy_new(a: Any, b: Any) -> Any:
    """Write a + b, which makes a new array."""
    return a + b


def add_cupy(a: Any, b: Any, out: Any) -> None:
    """Call cp.add with out=, which fills an array that exists."""
    cupy().add(a, b, out=out)


def add_elementwise(a: Any, b: Any, out: Any) -> None:
    """Call an ElementwiseKernel, for which one writes the sum in C."""
    n = launch.check(a=a, b=b, out=out, ndim=1, dtype="float64")
    if n:
        elementwise_kernel()(a, b, out)


@cache
def elementwise_kernel() -> Any:
    """Compile the sum of two numbers that is written in C."""
    return cupy().ElementwiseKernel(
        "float64 x, float64 y", "float64 z", "z = x + y", "add_elementwise"
    )


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison in double precision, from a thousand numbers on."""
    chosen = ("numpy_threads", "cupy_random", "xorwow")
    return _creation("float64", "float64", SIZES, chosen, kernels)


def bits_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of the other ways, for as many numbers as the source."""
    return _creation("bits", "float64", (LENGTH,), ("numpy", "philox", "mrg"), kernels)


def float32_study(kernels: Kernels = None) -> Study:
    """Describe the comparison in single precision, for as many numbers as the source."""
    chosen = ("numpy_threads", "cupy_random", "xorwow", "philox", "mrg")
    return _creation("float32", "float32", (LENGTH,), chosen, kernels)


def _creation(
    name: str, dtype: str, sizes: tuple[int, ...], chosen: tuple[str, ...], kernels: Kernels
) -> Study:
    counted: dict[str, Any] = {
        "work": {"numbers": lambda n: n},
        "traffic": streaming_traffic(reads=0, writes=1),
    }

    def on_gpu(name: str, call: Any, label: str) -> Variant:
        return cupy_variant(name, partial(call, dtype=dtype), label, allocates=True, **counted)

    variants = (
        cpu_variant("numpy", numpy_random, "NumPy, one thread", **counted),
        cpu_variant("numpy_threads", numpy_threads, "NumPy, all threads", THREADS, **counted),
        on_gpu("cupy_random", cupy_random, "cp.random.random"),
        on_gpu("xorwow", xorwow, "default_rng (XORWOW)"),
        on_gpu("philox", philox, "Philox"),
        on_gpu("mrg", mrg, "MRG32k3a"),
    )
    return Study(
        name=name,
        title=f"Uniform random numbers, {dtype}",
        variants=tuple(variant for variant in variants if variant.name in chosen),
        sizes=sizes,
        inputs=lambda n, dtype, rng, exact: (n,),
        check=UniformCheck(),
        output=lambda n, dtype: ((n,), dtype),
        dtype=dtype,
        size_name="numbers",
        input_note="none: each call draws the next numbers of its generator",
        baseline="numpy_threads" if "numpy_threads" in chosen else "numpy",
        kernels=kernels,
    )


def add_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of sums of two vectors."""
    moved: dict[str, Any] = {
        "traffic": streaming_traffic(reads=2, writes=1, flops=1, unit="fp64")
    }
    return Study(
        name="add",
        title="The sum of two vectors",
        variants=(
            cpu_variant(
                "numpy_new",
                add_numpy_new,
                "np.add, one thread, new array",
                allocates=True,
                **moved,
            ),
            cpu_variant("numpy_threads", add_threads, "np.add, all threads", THREADS, **moved),
            cupy_variant("cupy_new", add_cupy_new, "CuPy, a + b", allocates=True, **moved),
            cupy_variant("cupy", add_cupy, "cp.add with out=", **moved),
            cupy_variant("elementwise", add_elementwise, "ElementwiseKernel", **moved),
        ),
        sizes=(LENGTH,),
        inputs=_vectors,
        reference=lambda a, b: a - (-b),
        dtype="float64",
        input_note="uniform random numbers; whole numbers for the exact check",
        baseline="numpy_threads",
        kernels=kernels,
    )


def _vectors(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    if exact:
        return tuple(whole_numbers(rng, n, 2**20, dtype, low=-(2**20)) for _ in range(2))
    return tuple(uniform(rng, n, dtype) for _ in range(2))


def pi_errors(exponents: range, n_runs: int) -> np.ndarray:
    """Estimate pi by 10**k points a run; return by how much it is off, a row for each k."""
    rng = cupy().random.default_rng(SEED)
    errors = np.empty((len(exponents), n_runs))
    for row, exponent in zip(errors, exponents, strict=True):
        for run in range(n_runs):
            row[run] = 4 * _n_inside(rng, 10**exponent) / 10**exponent - np.pi
    return errors


def _n_inside(rng: Any, n: int) -> int:
    """Count random points that lie within a quarter of a circle, in pieces that fit on any GPU."""
    cp, inside = cupy(), 0
    for start in range(0, n, PIECE):
        m = min(PIECE, n - start)
        x, y = rng.random(m, dtype=cp.float32), rng.random(m, dtype=cp.float32)
        inside += int(cp.count_nonzero(x * x + y * y < 1))
    return inside
