"""Rows from the host times a matrix on the GPU: chunks one after the other, and in streams that overlap."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy, has_gpu
from gpuguide.measure.edited import Kernels
from gpuguide.measure.plan import Variant, end_to_end_variant, generator
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.reference import Tolerance
from gpuguide.measure.study import Study
from gpuguide.topics.overlap.kernels import in_chunks

WIDTH = 2048
"""Numbers in a row. On an H200 a product of such rows takes about as long as a copy of them."""
CHUNK = 2048
"""Rows in a chunk: 16 MiB."""
SIZES = (16, 256, 2048, 4096, 8192, 16384)
ALL = SIZES[-1]
"""Rows in the studies that compare one size only: 128 MiB each way; fewer if memory is short."""
CHUNKS = (64, 512, 8192, 16384)
FOUR = 512
"""Rows in the chunks that a fourth stream is tried with: 4 MiB."""
ROUNDS = 8
"""How often a block goes to the GPU and back where each round needs the one before."""
INPUT_NOTE = "uniform random numbers; whole numbers from -2 to 2 for the exact check"
PINNED: dict[str, Any] = {"arrays": "pinned"}

Buffers = list[tuple[Any, Any, Any]]


@cache
def weights_host() -> np.ndarray:
    """Return random multiples of 1/8 from -1 to 1, so that products with small whole numbers are exact."""
    return whole_numbers(
        generator("overlap", "weights"), WIDTH**2, 9, np.float32, low=-8
    ).reshape(WIDTH, WIDTH) / np.float32(8)


@cache
def half_turns_host() -> np.ndarray:
    """Return Hadamard's matrix over 64: all elements are 1/64 or -1/64, and its square is half of one."""
    signs = np.ones((1, 1), np.float32)
    while len(signs) < WIDTH:
        signs = np.block([[signs, signs], [signs, -signs]])
    return signs / np.float32(64)


@cache
def weights_on_gpu(make: Any = weights_host) -> Any:
    """Return a matrix on the GPU, where it stays."""
    on_gpu = cupy().asarray(make())
    cupy().cuda.Device().synchronize()  # streams that do not block would not wait for the copy
    return on_gpu


@cache
def buffers(n_streams: int, rows: int = CHUNK, non_blocking: bool = True) -> Buffers:
    """Return streams, each with an array for what goes in and one for what comes out; made once."""
    cp = cupy()

    def array() -> Any:
        return cp.empty((rows, WIDTH), np.float32)

    return [
        (cp.cuda.Stream(non_blocking=non_blocking), array(), array()) for _ in range(n_streams)
    ]


def most_rows() -> int:
    """Return the rows for which the GPU has memory: the arrays of all streams hold them 14 times or less."""
    if not has_gpu():
        return ALL
    free = int(cupy().cuda.Device().mem_info[0])
    return max((rows for rows in SIZES if 14 * 4 * WIDTH * rows <= free), default=SIZES[0])


def check_rows(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Raise ValueError unless both are float32 matrices with rows of 2048 numbers, and of one shape."""
    shape = (len(x_host) if getattr(x_host, "ndim", 0) else 0, WIDTH)
    launch.check(x_host=x_host, out_host=out_host, shape=shape, dtype="float32")


def one_stream(x_host: np.ndarray, out_host: np.ndarray, rows: int = CHUNK) -> None:
    """Copy a chunk in, multiply, copy it out, and only then begin with the next."""
    check_rows(x_host, out_host)
    in_chunks(x_host, weights_on_gpu(), out_host, buffers(1, rows))


def two_streams(x_host: np.ndarray, out_host: np.ndarray, rows: int = CHUNK) -> None:
    """Take turns with two streams, each with arrays of its own: double buffering."""
    check_rows(x_host, out_host)
    in_chunks(x_host, weights_on_gpu(), out_host, buffers(2, rows))


def three_streams(x_host: np.ndarray, out_host: np.ndarray, rows: int = CHUNK) -> None:
    """Take turns with three streams: one copies in, one multiplies, one copies out."""
    check_rows(x_host, out_host)
    in_chunks(x_host, weights_on_gpu(), out_host, buffers(3, rows))


def four_streams(x_host: np.ndarray, out_host: np.ndarray, rows: int = CHUNK) -> None:
    """Take turns with one stream more than there are steps."""
    check_rows(x_host, out_host)
    in_chunks(x_host, weights_on_gpu(), out_host, buffers(4, rows))


def waiting(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Use three streams, but leave out blocking=False, so that Python waits for each copy out."""
    check_rows(x_host, out_host)
    for i, start in enumerate(range(0, len(x_host), CHUNK)):
        stream, x, out = buffers(3)[i % 3]
        chunk = slice(start, start + CHUNK)
        n = len(x_host[chunk])
        with stream:
            x[:n].set(x_host[chunk])
            x[:n].dot(weights_on_gpu(), out=out[:n])
            out[:n].get(out=out_host[chunk])


def default_stream(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Use three streams of the blocking kind, and do one small thing per chunk in the default stream."""
    check_rows(x_host, out_host)
    cp = cupy()
    for i, start in enumerate(range(0, len(x_host), CHUNK)):
        stream, x, out = buffers(3, non_blocking=False)[i % 3]
        chunk = slice(start, start + CHUNK)
        n = len(x_host[chunk])
        with stream:
            x[:n].set(x_host[chunk])
            x[:n].dot(weights_on_gpu(), out=out[:n])
            out[:n].get(out=out_host[chunk], blocking=False)
        with cp.cuda.Stream.null:
            cp.add(done(), n, out=done())  # counts the rows
    cp.cuda.Device().synchronize()


def new_arrays(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Use three streams, but let each product make its own array, from CuPy's memory pool."""
    check_rows(x_host, out_host)
    for i, start in enumerate(range(0, len(x_host), CHUNK)):
        stream, x, _ = buffers(3)[i % 3]
        chunk = slice(start, start + CHUNK)
        with stream:
            x[: len(x_host[chunk])].set(x_host[chunk])
            out = x[: len(x_host[chunk])].dot(weights_on_gpu())
            out.get(out=out_host[chunk], blocking=False)
    for stream, _, _ in buffers(3):
        stream.synchronize()


def without_pool(x_host: np.ndarray, out_host: np.ndarray) -> None:
    """Do the same without the pool, so that each array is asked of the driver and given back to it."""
    cp = cupy()
    pooled = cp.cuda.get_allocator()
    cp.cuda.set_allocator(None)
    try:
        new_arrays(x_host, out_host)
    finally:
        cp.cuda.set_allocator(pooled)


@cache
def done() -> Any:
    """Return a count on the GPU."""
    return cupy().zeros(1, np.int64)


def sums(x_host: np.ndarray, out_host: np.ndarray, n_streams: int) -> None:
    """Add up each row on the GPU: all numbers go in, and one per row comes back."""
    launch.check(x_host=x_host, shape=(len(x_host), WIDTH), dtype="float32")
    launch.check(out_host=out_host, shape=(len(x_host),), dtype="float32")
    turns = buffers(n_streams)
    for i, start in enumerate(range(0, len(x_host), CHUNK)):
        stream, x, out = turns[i % n_streams]
        chunk = slice(start, start + CHUNK)
        n = len(x_host[chunk])
        with stream:
            x[:n].set(x_host[chunk])
            x[:n].sum(axis=1, out=out.ravel()[:n])
            out.ravel()[:n].get(out=out_host[chunk], blocking=False)
    for stream, _, _ in turns:
        stream.synchronize()


def chain(x_host: np.ndarray, out_host: np.ndarray, n_streams: int) -> None:
    """Send one block to the GPU and back eight times; each round takes what the one before brought back."""
    check_rows(x_host, out_host)
    n, source, before = len(x_host), x_host, None
    if not n:
        return
    turns = buffers(n_streams, max(n, CHUNK))
    for i in range(ROUNDS):
        stream, x, out = turns[i % n_streams]
        if before is not None:
            stream.wait_event(before)
        with stream:
            x[:n].set(source)
            x[:n].dot(weights_on_gpu(half_turns_host), out=out[:n])
            out[:n].get(out=out_host, blocking=False)
        source, before = out_host, stream.record()
    for stream, _, _ in turns:
        stream.synchronize()


def product_reference(x: np.ndarray) -> np.ndarray:
    """Multiply in float64 on the CPU."""
    return np.asarray(x @ weights_host().astype(np.float64))


def sum_of_magnitudes(x: np.ndarray) -> np.ndarray:
    """Return a bound of the terms of each product, added up without signs."""
    # All weights are at most 1, so this spares a second product.
    return np.asarray(np.abs(x).sum(axis=1, keepdims=True))


def study(kernels: Kernels = None) -> Study:
    """Describe the comparison of one stream with three, from a few rows to 128 MiB each way."""
    return _study(
        "overlap",
        "Rows to the GPU, times a matrix, and back",
        (
            end_to_end_variant("one_stream", one_stream, "one stream, pinned", **PINNED),
            end_to_end_variant(
                "three_streams", three_streams, "three streams, pinned", **PINNED
            ),
        ),
        sizes=tuple(size for size in SIZES if size <= most_rows()),
        baseline="one_stream",
        kernels=kernels,
    )


def changes_study(kernels: Kernels = None) -> Study:
    """Describe three streams, and what becomes of them with other chunks, and of what hinders them."""
    rows_in_all = most_rows()
    pinned: dict[str, tuple[Callable[..., Any], str]] = {
        "overlapped": (three_streams, "three streams"),
        "two_streams": (two_streams, "two streams"),
        **{
            f"rows_{rows}": (partial(three_streams, rows=rows), f"chunks of {rows} rows")
            for rows in CHUNKS
            if rows <= rows_in_all
        },
        f"rows_{FOUR}_four": (partial(four_streams, rows=FOUR), f"{FOUR} rows, four streams"),
        "waiting": (waiting, "without blocking=False"),
        "default_stream": (default_stream, "default stream between"),
        "new_arrays": (new_arrays, "new arrays from the pool"),
        "without_pool": (without_pool, "new arrays without the pool"),
    }
    return _study(
        "changes",
        "Three streams, with one thing changed",
        (
            *(
                end_to_end_variant(name, call, f"{label}, pinned", **PINNED)
                for name, (call, label) in pinned.items()
            ),
            end_to_end_variant("pageable_serial", one_stream, "one stream, pageable"),
            end_to_end_variant("pageable", three_streams, "three streams, pageable"),
        ),
        sizes=(rows_in_all,),
        baseline="overlapped",
        kernels=kernels,
    )


def sums_study(kernels: Kernels = None) -> Study:
    """Describe work that is bound by the copies in one direction: the sum of each row."""
    return Study(
        name="sums",
        title="Sums of rows: copies in one direction only",
        variants=(
            end_to_end_variant(
                "sums_one", partial(sums, n_streams=1), "sums, one stream, pinned", **PINNED
            ),
            end_to_end_variant(
                "sums_three",
                partial(sums, n_streams=3),
                "sums, three streams, pinned",
                **PINNED,
            ),
        ),
        sizes=(most_rows(),),
        inputs=_rows,
        reference=sum_reference,
        tolerance=Tolerance(c=4, serial=8, scale=row_magnitudes),
        output=lambda n, dtype: ((n,), dtype),
        dtype="float32",
        size_name="rows",
        input_note=INPUT_NOTE,
        baseline="sums_one",
        kernels=kernels,
    )


def sum_reference(x: np.ndarray) -> np.ndarray:
    """Add up each row in float64."""
    return np.asarray(x.sum(axis=1))


def row_magnitudes(x: np.ndarray) -> np.ndarray:
    """Add up the magnitudes of each row."""
    return np.asarray(np.abs(x).sum(axis=1))


def chain_study(kernels: Kernels = None) -> Study:
    """Describe work in which each round needs the result of the one before."""
    return Study(
        name="chain",
        title="One block, eight times to the GPU and back",
        variants=(
            end_to_end_variant(
                "chain_one", partial(chain, n_streams=1), "chain, one stream, pinned", **PINNED
            ),
            end_to_end_variant(
                "chain_three",
                partial(chain, n_streams=3),
                "chain, three streams, pinned",
                **PINNED,
            ),
        ),
        sizes=(CHUNK,),
        inputs=_rows,
        reference=chain_reference,
        tolerance=Tolerance(c=4, serial=64, scale=largest),
        dtype="float32",
        size_name="rows",
        input_note=INPUT_NOTE,
        baseline="chain_one",
        kernels=kernels,
    )


def chain_reference(x: np.ndarray) -> np.ndarray:
    """Halve the numbers once for every two rounds, as the square of the matrix does."""
    return np.asarray(x / 2 ** (ROUNDS // 2))


def largest(x: np.ndarray) -> float:
    """Return the largest magnitude; the rounds mix all numbers of a row."""
    return float(np.abs(x).max(initial=0))


def _study(name: str, title: str, variants: tuple[Variant, ...], **options: Any) -> Study:
    return Study(
        name=name,
        title=title,
        variants=variants,
        inputs=_rows,
        reference=product_reference,
        tolerance=Tolerance(c=1, serial=WIDTH, scale=sum_of_magnitudes),
        dtype="float32",
        size_name="rows",
        input_note=INPUT_NOTE,
        **options,
    )


def _rows(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    drawn = (
        whole_numbers(rng, n * WIDTH, 3, dtype, low=-2)
        if exact
        else uniform(rng, n * WIDTH, dtype)
    )
    return (drawn.reshape(n, WIDTH),)
