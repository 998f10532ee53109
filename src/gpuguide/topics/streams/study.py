"""Two inverses in one stream and in two, eight kernels in one stream and in eight, and who waits for whom."""

from functools import cache, partial
from math import isqrt

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import array_module, raw_kernel
from gpuguide.measure import Study, cp, end_to_end, gpu, uniform, whole_numbers
from gpuguide.topics.linear_algebra.checks import ProductCheck
from gpuguide.topics.streams.kernels import steps_source
from gpuguide.topics.transfers.numbers import as_cupy

N_STREAMS = 8
THREADS = 256
# Of a kernel that takes three tenths of a millisecond if the GPU has room for all of its blocks.
STEPS = 20_000

steps = raw_kernel(steps_source, "steps")


@cache
def streams(n):
    """Return streams that do not wait for the default one, made once."""
    return tuple(cp.cuda.Stream(non_blocking=True) for _ in range(n))


def in_one(calls):
    """Make one call after the other, in the current stream."""
    for call in calls:
        call()


def in_streams(calls, chosen=()):
    """Make each call in the next stream, between what comes before and after in the current one."""
    chosen = chosen or streams(len(calls))
    current = cp.cuda.get_current_stream()
    ready = current.record()
    for stream, call in zip(chosen, calls, strict=True):
        stream.wait_event(ready)
        with stream:
            call()
    for stream in chosen:
        current.wait_event(stream.record())


def two_inverses(a, b, out):
    """Return the calls that invert two matrices."""
    if not a.size:
        return []
    # CuPy's arrays, whose memory Numba's views are.
    a, b, out = as_cupy(a), as_cupy(b), as_cupy(out)
    return [partial(invert, a, out[0]), partial(invert, b, out[1])]


def invert(a, out):
    """Invert one matrix into an array that is there."""
    out[...] = cp.linalg.inv(a)


def two_products(a, b, out):
    """Return the calls that multiply two matrices in both orders."""
    if not a.size:
        return []
    return [partial(cp.matmul, a, b, out=out[0]), partial(cp.matmul, b, a, out=out[1])]


def row_kernels(x, out, n_steps=STEPS):
    """Return the calls that launch a kernel for each row."""
    return [partial(launch_steps, x[i], out[i], n_steps) for i in range(len(x)) if x.size]


def launch_steps(x, out, n_steps):
    """Launch a thread for each number of a row."""
    steps((-(-x.size // THREADS),), (THREADS,), (x, out, np.int32(x.size), np.int32(n_steps)))


def short_kernels(n_steps, x, out):
    """Return the calls that launch kernels of one block each."""
    return row_kernels(as_cupy(x), as_cupy(out), n_steps)


def make_calls(how, calls, *arrays):
    """Make the calls for these arrays, in one stream or in several."""
    how(calls(*arrays))


@cache
def kinds():
    """Return two streams of each kind, and the two default ones."""
    stream = cp.cuda.Stream
    return {
        "own": (stream(non_blocking=True), stream(non_blocking=True)),
        "blocking": (stream(), stream()),
        "legacy": (stream.null, stream.null),
        "per_thread": (stream.ptds, stream.ptds),
    }


def pair(first, second, x, out):
    """Launch a kernel in a stream of the first kind, and another one in a stream of the second kind."""
    if x.size:
        in_streams(row_kernels(x, out), (kinds()[first][0], kinds()[second][1]))


class InverseCheck:
    """Each matrix times its inverse is the identity, to within rounding."""

    def prepare(self, inputs):
        """Return the matrices."""
        return inputs

    def compare(self, output, prepared):
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
        for i, largest in enumerate(off):
            if not largest <= tolerance:
                raise MismatchError(
                    f"Matrix {i} times its inverse is off by {largest:.3g}, tolerance {tolerance:.3g}."
                )
        return max(off), tolerance


class ProductsCheck:
    """Whole numbers: exactly both products. Random ones: sixteen rows of each are, to within rounding."""

    def prepare(self, inputs):
        """Return the matrices."""
        return inputs

    def compare(self, output, prepared):
        """Compare one product after the other."""
        a, b = prepared
        both = zip(output, ((a, b), (b, a)), strict=True)
        return max(ProductCheck().compare(product, factors) for product, factors in both)


def steps_reference(x, n_steps=STEPS):
    """Make all steps at once: together they are one multiplication and one addition."""
    modulus, factor = 2**32, 1664525
    power = pow(factor, n_steps, modulus * (factor - 1))
    added = 1013904223 * ((power - 1) // (factor - 1)) % modulus
    wide = x.astype(np.uint64) * (power % modulus) + added
    return (wide % modulus).astype(np.uint32)


def invertible(n, dtype, rng, exact):
    rows = isqrt(n)

    def one():
        # Rows in a random order, so that the factorisation has to exchange them.
        order = rng.permutation(rows)
        if exact:
            return 2 * np.eye(rows, dtype=dtype)[order]
        matrix = 2 * uniform(rng, rows * rows, dtype).reshape(rows, rows) - 1
        matrix[np.arange(rows), order] += dtype.type(2 * rows**0.5)
        return matrix

    return one(), one()


def factors(n, dtype, rng, exact):
    def one():
        x = whole_numbers(rng, n, 4, dtype, low=-3) if exact else uniform(rng, n, dtype)
        return x.reshape(isqrt(n), isqrt(n))

    return one(), one()


def rows(n, dtype, rng, exact):
    return (rng.integers(0, 2**32, (N_STREAMS, THREADS * n), dtype=dtype),)


# Studies ----------------------------------------------------------------------------------------------------


def in_both(variant, calls, several, *rows):
    """Return a variant in one stream and one in several; the rows are their names and notes."""
    ways = zip((in_one, in_streams), ("one stream", several), rows, strict=True)
    return tuple(
        variant(partial(make_calls, how, calls), label, name=name, note=note)
        for how, label, (name, note) in ways
    )


# The arrays are on the GPU already: this is the time of launches and work.
to_the_end = partial(end_to_end, arrays="numba")


def of_matrices():
    """Return what the studies of matrices share."""
    return {
        "output": lambda n, dtype: ((2, isqrt(n), isqrt(n)), dtype),
        "size_name": "matrix elements",
        "small": (),
    }


def of_numbers():
    """Return what the studies of steps share."""
    return {"equal": True, "dtype": "uint32", "input_note": "random whole numbers", "small": ()}


inverses = Study(
    name="inverses",
    title="Two inverses of 6000 x 6000",
    sizes=(6000**2,),
    inputs=invertible,
    input_note="uniform random numbers from -1 to 1, and one in each row that is larger; "
    "powers of two for the exact check",
    check=InverseCheck(),
    answer=lambda a, b: np.stack([np.linalg.inv(a), np.linalg.inv(b)]),
    baseline="one_stream",
    variants=in_both(
        partial(to_the_end, batchable=False),
        two_inverses,
        "two streams",
        ("one_stream", "Invert two matrices one after the other, in the current stream."),
        ("two_streams", "Invert two matrices in two streams."),
    ),
    **of_matrices(),
)
products = Study(
    name="products",
    title="Two products of 4096 x 4096",
    sizes=(4096**2,),
    inputs=factors,
    input_note="uniform random numbers; whole numbers from -3 to 3 for the exact check",
    check=ProductsCheck(),
    answer=lambda a, b: np.stack([a @ b, b @ a]),
    baseline="products_one",
    variants=in_both(
        gpu,
        two_products,
        "two streams",
        (
            "products_one",
            "Multiply two matrices in both orders, one after the other, in the current stream.",
        ),
        ("products_two", "Multiply two matrices in both orders, in two streams."),
    ),
    **of_matrices(),
)
blocks = Study(
    name="blocks",
    title="Eight kernels, by the number of their blocks",
    sizes=(1, 8, 33, 132, 528, 2112),
    size_name="blocks per kernel",
    inputs=rows,
    reference=steps_reference,
    baseline="one_stream",
    variants=in_both(
        gpu,
        row_kernels,
        "eight streams",
        ("one_stream", "Launch a kernel for each row, in the current stream."),
        ("eight_streams", "Launch a kernel for each row, in a stream of its own."),
    ),
    **of_numbers(),
)
short = Study(
    name="short",
    title="Eight kernels of one block, and their launches",
    sizes=(16, 128, 1024, 4096, 16_384, 65_536),
    size_name="steps per kernel",
    inputs=lambda n, dtype, rng, exact: (n, *rows(1, dtype, rng, exact)),
    reference=lambda n_steps, x: steps_reference(x, n_steps),
    output=lambda n, dtype: ((N_STREAMS, THREADS), dtype),
    baseline="short_one",
    variants=in_both(
        to_the_end,
        short_kernels,
        "eight streams",
        ("short_one", "Launch eight kernels of one block each, in the current stream."),
        ("short_eight", "Launch eight kernels of one block each, in a stream of its own each."),
    ),
    **of_numbers(),
)
PAIRS = (
    ("same", "the legacy default stream, twice", "legacy", "legacy"),
    ("own_own", "two non-blocking streams", "own", "own"),
    ("blocking_blocking", "two blocking streams", "blocking", "blocking"),
    ("own_legacy", "non-blocking, legacy default", "own", "legacy"),
    ("blocking_legacy", "blocking, legacy default", "blocking", "legacy"),
    ("blocking_thread", "blocking, per-thread default", "blocking", "per_thread"),
    ("legacy_thread", "legacy default, per-thread default", "legacy", "per_thread"),
)
waits = Study(
    name="waits",
    title="Two kernels of one block in two streams",
    sizes=(1,),
    size_name="blocks per kernel",
    inputs=lambda n, dtype, rng, exact: (rows(n, dtype, rng, exact)[0][:2],),
    reference=steps_reference,
    baseline="same",
    variants=tuple(
        gpu(partial(pair, first, second), label, name=name, note=f"{label}.")
        for name, label, first, second in PAIRS
    ),
    **of_numbers(),
)
