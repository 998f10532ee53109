"""Two inverses in one stream and in two, eight kernels in one stream and in eight, and who waits for whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, cupy, raw_kernel
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, cupy_variant, end_to_end_variant
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.linear_algebra.checks import ProductCheck
from gpuguide.topics.streams.kernels import steps_source
from gpuguide.topics.transfers.numbers import as_cupy

INVERSES = (6000**2,)
PRODUCTS = (4096**2,)
BLOCKS = (1, 8, 33, 132, 528, 2112)
SHORT = (16, 128, 1024, 4096, 16_384, 65_536)
N_STREAMS = 8
THREADS = 256
STEPS = 20_000
"""Steps of a kernel that takes three tenths of a millisecond if the GPU has room for all of its blocks."""


# Streams ----------------------------------------------------------------------------------------------------


@cache
def streams(n: int) -> tuple[Any, ...]:
    """Return streams that do not wait for the default one, made once."""
    return tuple(cupy().cuda.Stream(non_blocking=True) for _ in range(n))


def in_streams(calls: Sequence[Callable[[], Any]], chosen: Sequence[Any] = ()) -> None:
    """Make each call in the next stream, between what comes before and after in the current one."""
    if not calls:
        return
    chosen = chosen or streams(len(calls))
    current = cupy().cuda.get_current_stream()
    ready = current.record()
    for stream, call in zip(chosen, calls, strict=True):
        stream.wait_event(ready)
        with stream:
            call()
    for stream in chosen:
        current.wait_event(stream.record())


# Two inverses -----------------------------------------------------------------------------------------------


def invert_in_one(a: Any, b: Any, out: Any) -> None:
    """Invert two matrices one after the other, in the current stream."""
    for call in two_inverses(a, b, out):
        call()


def invert_in_two(a: Any, b: Any, out: Any) -> None:
    """Invert two matrices in two streams."""
    in_streams(two_inverses(a, b, out))


def two_inverses(a: Any, b: Any, out: Any) -> list[Callable[[], None]]:
    """Return the calls that invert two matrices; refuse arrays that do not fit."""
    n = launch.check(a=a, b=b, ndim=2, dtype="float32")[0]
    launch.check(out=out, shape=(2, *a.shape), dtype="float32")
    if a.shape != (n, n):
        raise ArgumentError(f"a must be a square matrix; got shape {a.shape}.")
    if not n:
        return []
    # CuPy's arrays, whose memory Numba's views are.
    a, b, out = as_cupy(a), as_cupy(b), as_cupy(out)
    return [partial(invert, each, place) for each, place in zip((a, b), out, strict=True)]


def invert(a: Any, out: Any) -> None:
    """Invert one matrix into an array that is there."""
    out[...] = cupy().linalg.inv(a)


class InverseCheck:
    """Each matrix times its inverse is the identity, to within rounding.

    >>> check = InverseCheck()
    >>> two = 2 * np.eye(3, dtype=np.float32)
    >>> check.compare(np.stack([two / 4, two / 4]), check.prepare((two, two)))[0]
    0.0
    """

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the matrices."""
        return inputs

    def compare(self, output: Any, prepared: tuple[Any, ...]) -> tuple[float, float]:
        """Multiply, and compare with the identity."""
        n = output.shape[-1]
        if not n:
            return 0.0, 0.0
        xp = array_module(output)
        tolerance = 4.0 * n * float(np.finfo(np.float32).eps)
        off = [
            float(xp.abs(xp.matmul(a, inverse) - xp.eye(n, dtype=np.float32)).max())
            for a, inverse in zip(prepared, output, strict=True)
        ]
        for i, each in enumerate(off):
            if not each <= tolerance:
                raise MismatchError(
                    f"Matrix {i} times its inverse is off by {each:.3g}, tolerance {tolerance:.3g}."
                )
        return max(off), tolerance


def _matrices(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    rows = isqrt(n)

    def one() -> np.ndarray:
        # Rows in a random order, so that the factorisation has to exchange them.
        order = rng.permutation(rows)
        if exact:
            return np.asarray(2 * np.eye(rows, dtype=dtype)[order])
        made = 2 * uniform(rng, rows * rows, dtype).reshape(rows, rows) - 1
        made[np.arange(rows), order] += dtype.type(2 * rows**0.5)
        return np.asarray(made)

    return one(), one()


def inverses_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of two inverses in one stream and in two."""
    on_gpu: dict[str, Any] = {"arrays": "numba", "batchable": False}
    return Study(
        name="inverses",
        title="Two inverses of 6000 x 6000",
        variants=(
            end_to_end_variant("one_stream", invert_in_one, "one stream", **on_gpu),
            end_to_end_variant("two_streams", invert_in_two, "two streams", **on_gpu),
        ),
        sizes=INVERSES,
        inputs=_matrices,
        check=InverseCheck(),
        output=lambda n, dtype: ((2, isqrt(n), isqrt(n)), dtype),
        dtype="float32",
        size_name="matrix elements",
        input_note="uniform random numbers from -1 to 1, and one in each row that is larger; "
        "powers of two for the exact check",
        baseline="one_stream",
        kernels=kernels,
    )


# Two products that fill the GPU -----------------------------------------------------------------------------


def multiply_in_one(a: Any, b: Any, out: Any) -> None:
    """Multiply two matrices in both orders, one after the other, in the current stream."""
    for call in two_products(a, b, out):
        call()


def multiply_in_two(a: Any, b: Any, out: Any) -> None:
    """Multiply two matrices in both orders, in two streams."""
    in_streams(two_products(a, b, out))


def two_products(a: Any, b: Any, out: Any) -> list[Callable[[], Any]]:
    """Return the calls that multiply two matrices; refuse arrays that do not fit."""
    launch.check(a=a, b=b, ndim=2, dtype="float32")
    launch.check(out=out, shape=(2, *a.shape), dtype="float32")
    pairs = ((a, b), (b, a)) if a.size else ()
    return [partial(cupy().matmul, x, y, out=out[i]) for i, (x, y) in enumerate(pairs)]


class ProductsCheck:
    """Whole numbers: exactly both products. Random ones: sixteen rows of each are, to within rounding.

    >>> check = ProductsCheck()
    >>> a = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    >>> check.compare(np.stack([a @ a, a @ a]), check.prepare((a, a)))
    (0.0, 0.0)
    """

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the matrices."""
        return inputs

    def compare(self, output: Any, prepared: tuple[Any, ...]) -> tuple[float, float]:
        """Compare one product after the other."""
        a, b = prepared
        both = zip(output, ((a, b), (b, a)), strict=True)
        return max(ProductCheck().compare(found, factors) for found, factors in both)


def _factors(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    def one() -> np.ndarray:
        made = whole_numbers(rng, n, 4, dtype, low=-3) if exact else uniform(rng, n, dtype)
        return made.reshape(isqrt(n), isqrt(n))

    return one(), one()


def products_study(kernels: Kernels = None) -> Study:
    """Describe the comparison of two products of matrices in one stream and in two."""
    return Study(
        name="products",
        title="Two products of 4096 x 4096",
        variants=(
            cupy_variant("products_one", multiply_in_one, "one stream"),
            cupy_variant("products_two", multiply_in_two, "two streams"),
        ),
        sizes=PRODUCTS,
        inputs=_factors,
        check=ProductsCheck(),
        output=lambda n, dtype: ((2, isqrt(n), isqrt(n)), dtype),
        dtype="float32",
        size_name="matrix elements",
        input_note="uniform random numbers; whole numbers from -3 to 3 for the exact check",
        baseline="products_one",
        kernels=kernels,
    )


# Eight kernels ----------------------------------------------------------------------------------------------


def steps_in_one(x: Any, out: Any, n_steps: int = STEPS) -> None:
    """Launch a kernel for each row, in the current stream."""
    for call in eight_kernels(x, out, n_steps):
        call()


def steps_in_eight(x: Any, out: Any, n_steps: int = STEPS) -> None:
    """Launch a kernel for each row, in a stream of its own."""
    in_streams(eight_kernels(x, out, n_steps))


def eight_kernels(x: Any, out: Any, n_steps: int) -> list[Callable[[], None]]:
    """Return the calls that launch a kernel for each row; refuse arrays that do not fit."""
    launch.check(x=x, out=out, ndim=2, dtype="uint32")
    if len(x) != N_STREAMS:
        raise ArgumentError(f"x must have {N_STREAMS} rows; got shape {x.shape}.")
    kernel = compiled(steps_source)
    return [
        partial(launch_steps, kernel, x[i], out[i], n_steps) for i in range(len(x)) if x.size
    ]


def launch_steps(kernel: Any, x: Any, out: Any, n_steps: int) -> None:
    """Launch a thread for each number of a row."""
    sizes = np.int32(x.size), np.int32(n_steps)
    kernel((launch.blocks_1d(x.size, THREADS),), (THREADS,), (x, out, *sizes))


@cache
def compiled(source: str) -> Any:
    """Keep what is compiled."""
    return raw_kernel(source, "steps")


def steps_reference(x: Any, n_steps: int = STEPS) -> Any:
    """Make all steps at once: together they are one multiplication and one addition.

    >>> steps_reference(np.array([1], np.uint32), 2).tolist() == [
    ...     (1664525 * (1664525 + 1013904223) + 1013904223) % 2**32
    ... ]
    True
    """
    modulus, factor = 2**32, 1664525
    power = pow(factor, n_steps, modulus * (factor - 1))
    added = 1013904223 * ((power - 1) // (factor - 1)) % modulus
    wide = x.astype(np.uint64) * (power % modulus) + added
    return (wide % modulus).astype(np.uint32)


def _rows(n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool) -> tuple[np.ndarray]:
    return (rng.integers(0, 2**32, (N_STREAMS, THREADS * n), dtype=dtype),)


def blocks_study(kernels: Kernels = None) -> Study:
    """Describe eight kernels in one stream and in eight, from one block each to more than the GPU holds."""
    return Study(
        name="blocks",
        title="Eight kernels, by the number of their blocks",
        variants=(
            cupy_variant("one_stream", steps_in_one, "one stream"),
            cupy_variant("eight_streams", steps_in_eight, "eight streams"),
        ),
        sizes=BLOCKS,
        inputs=_rows,
        reference=steps_reference,
        equal=True,
        dtype="uint32",
        size_name="blocks per kernel",
        input_note="random whole numbers",
        baseline="one_stream",
        kernels=kernels,
    )


# Kernels that are shorter than their launch -----------------------------------------------------------------


def short_in_one(n_steps: int, x: Any, out: Any) -> None:
    """Launch eight kernels of one block each, in the current stream."""
    steps_in_one(as_cupy(x), as_cupy(out), n_steps)


def short_in_eight(n_steps: int, x: Any, out: Any) -> None:
    """Launch eight kernels of one block each, in a stream of its own each."""
    steps_in_eight(as_cupy(x), as_cupy(out), n_steps)


def short_study(kernels: Kernels = None) -> Study:
    """Describe eight kernels of one block by their length, with their launches."""
    on_gpu: dict[str, Any] = {"arrays": "numba"}
    return Study(
        name="short",
        title="Eight kernels of one block, and their launches",
        variants=(
            end_to_end_variant("short_one", short_in_one, "one stream", **on_gpu),
            end_to_end_variant("short_eight", short_in_eight, "eight streams", **on_gpu),
        ),
        sizes=SHORT,
        inputs=lambda n, dtype, rng, exact: (n, *_rows(1, dtype, rng, exact)),
        reference=lambda n_steps, x: steps_reference(x, n_steps),
        equal=True,
        output=lambda n, dtype: ((N_STREAMS, THREADS), dtype),
        dtype="uint32",
        size_name="steps per kernel",
        input_note="random whole numbers",
        baseline="short_one",
        kernels=kernels,
    )


# Who waits for whom -----------------------------------------------------------------------------------------


@cache
def kinds() -> dict[str, Any]:
    """Return two streams of each kind, and the two default ones."""
    stream = cupy().cuda.Stream
    return {
        "own": (stream(non_blocking=True), stream(non_blocking=True)),
        "blocking": (stream(), stream()),
        "legacy": (stream.null, stream.null),
        "per_thread": (stream.ptds, stream.ptds),
    }


def pair(first: str, second: str, x: Any, out: Any) -> None:
    """Launch a kernel in a stream of the first kind, and another one in a stream of the second kind."""
    launch.check(x=x, out=out, ndim=2, dtype="uint32")
    if len(x) != 2:
        raise ArgumentError(f"x must have 2 rows; got shape {x.shape}.")
    kernel = compiled(steps_source)
    calls = [partial(launch_steps, kernel, x[i], out[i], STEPS) for i in range(2) if x.size]
    if calls:
        in_streams(calls, (kinds()[first][0], kinds()[second][1]))


def waits_study(kernels: Kernels = None) -> Study:
    """Describe pairs of streams that wait for one another, or do not."""

    def variant(name: str, label: str, first: str, second: str) -> Variant:
        return cupy_variant(name, partial(pair, first, second), label, note=f"{label}.")

    return Study(
        name="waits",
        title="Two kernels of one block in two streams",
        variants=(
            variant("same", "the legacy default stream, twice", "legacy", "legacy"),
            variant("own_own", "two non-blocking streams", "own", "own"),
            variant("blocking_blocking", "two blocking streams", "blocking", "blocking"),
            variant("own_legacy", "non-blocking, legacy default", "own", "legacy"),
            variant("blocking_legacy", "blocking, legacy default", "blocking", "legacy"),
            variant(
                "blocking_thread", "blocking, per-thread default", "blocking", "per_thread"
            ),
            variant(
                "legacy_thread", "legacy default, per-thread default", "legacy", "per_thread"
            ),
        ),
        sizes=(1,),
        inputs=lambda n, dtype, rng, exact: tuple(
            each[:2] for each in _rows(n, dtype, rng, exact)
        ),
        reference=steps_reference,
        equal=True,
        dtype="uint32",
        size_name="blocks per kernel",
        input_note="random whole numbers",
        baseline="same",
        kernels=kernels,
    )
