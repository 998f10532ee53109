"""Rows from the host times a matrix on the GPU: chunks one after the other, and in streams that overlap."""

from functools import cache, partial

import numpy as np

from gpuguide.measure import Study, cp, end_to_end, uniform, whole_numbers
from gpuguide.measure.plan import generator
from gpuguide.measure.reference import Tolerance
from gpuguide.topics.overlap.kernels import in_chunks

WIDTH = 2048  # numbers in a row: on an H200 a product of such rows takes about as long as a copy of them
CHUNK = 2048  # rows in a chunk: 16 MiB
SIZES = (16, 256, 2048, 4096, 8192, 16384)
ALL = SIZES[-1]  # rows in the studies that compare one size only: 128 MiB each way
N_ROUNDS = 8  # how often a block goes to the GPU and back where each round needs the one before


@cache
def weights_host():
    """Return random multiples of 1/8 from -1 to 1, so that products with small whole numbers are exact."""
    rng = generator("overlap", "weights")
    return whole_numbers(rng, WIDTH**2, 9, np.float32, low=-8).reshape(
        WIDTH, WIDTH
    ) / np.float32(8)


@cache
def half_turns_host():
    """Return Hadamard's matrix over 64: all elements are 1/64 or -1/64, and its square is half of one."""
    signs = np.ones((1, 1), np.float32)
    while len(signs) < WIDTH:
        signs = np.block([[signs, signs], [signs, -signs]])
    return signs / np.float32(64)


@cache
def weights_on_gpu(make=weights_host):
    """Return a matrix on the GPU, where it stays."""
    on_gpu = cp.asarray(make())
    cp.cuda.Device().synchronize()  # streams that do not block would not wait for the copy
    return on_gpu


@cache
def buffers(n_streams, rows=CHUNK, non_blocking=True):
    """Return streams, each with an array for what goes in and one for what comes out; made once."""

    def array():
        return cp.empty((rows, WIDTH), np.float32)

    return [
        (cp.cuda.Stream(non_blocking=non_blocking), array(), array()) for _ in range(n_streams)
    ]


def in_streams(x_host, out_host, n_streams, rows):
    """Take turns with some streams, each with arrays of its own for a chunk of so many rows."""
    in_chunks(x_host, weights_on_gpu(), out_host, buffers(n_streams, rows))


def waiting(x_host, out_host):
    """Use three streams, but leave out blocking=False, so that Python waits for each copy out."""
    for i, start in enumerate(range(0, len(x_host), CHUNK)):
        stream, x, out = buffers(3)[i % 3]
        chunk = slice(start, start + CHUNK)
        n = len(x_host[chunk])
        with stream:
            x[:n].set(x_host[chunk])
            x[:n].dot(weights_on_gpu(), out=out[:n])
            out[:n].get(out=out_host[chunk])


def default_stream(x_host, out_host):
    """Use three streams of the blocking kind, and do one small thing per chunk in the default stream."""
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


def new_arrays(x_host, out_host):
    """Use three streams, but let each product make its own array, from CuPy's memory pool."""
    for i, start in enumerate(range(0, len(x_host), CHUNK)):
        stream, x, _ = buffers(3)[i % 3]
        chunk = slice(start, start + CHUNK)
        with stream:
            x[: len(x_host[chunk])].set(x_host[chunk])
            out = x[: len(x_host[chunk])].dot(weights_on_gpu())
            out.get(out=out_host[chunk], blocking=False)
    for stream, _, _ in buffers(3):
        stream.synchronize()


def without_pool(x_host, out_host):
    """Do the same without the pool, so that each array is asked of the driver and given back to it."""
    pooled = cp.cuda.get_allocator()
    cp.cuda.set_allocator(None)
    try:
        new_arrays(x_host, out_host)
    finally:
        cp.cuda.set_allocator(pooled)


@cache
def done():
    """Return a count on the GPU."""
    return cp.zeros(1, np.int64)


def row_sums(x_host, out_host, n_streams):
    """Add up each row on the GPU: all numbers go in, and one per row comes back."""
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


def rounds(x_host, out_host, n_streams):
    """Send one block to the GPU and back eight times; each round takes what the one before brought back."""
    n, source, before = len(x_host), x_host, None
    if not n:
        return
    turns = buffers(n_streams, max(n, CHUNK))
    for i in range(N_ROUNDS):
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


def rows_of_numbers(n, dtype, rng, exact):
    drawn = (
        whole_numbers(rng, n * WIDTH, 3, dtype, low=-2)
        if exact
        else uniform(rng, n * WIDTH, dtype)
    )
    return (drawn.reshape(n, WIDTH),)


def row_magnitudes(x):
    """Add up the magnitudes of each row."""
    return np.abs(x).sum(axis=1)


def sum_of_magnitudes(x):
    """Return a bound of the terms of each product, added up without signs."""
    return row_magnitudes(x)[
        :, None
    ]  # all weights are at most 1, so this spares a second product


def largest(x):
    """Return the largest magnitude; the rounds mix all numbers of a row."""
    return float(np.abs(x).max(initial=0))


NOTES = {
    1: "Copy a chunk in, multiply, copy it out, and only then begin with the next.",
    2: "Take turns with two streams, each with arrays of its own: double buffering.",
    3: "Take turns with three streams: one copies in, one multiplies, one copies out.",
    4: "Take turns with one stream more than there are steps.",
}


def streams(name, n_streams, label, rows=CHUNK, arrays="pinned"):
    """Return a variant that takes its chunks through some streams."""
    call = partial(in_streams, n_streams=n_streams, rows=rows)
    label, note = f"{label}, {arrays}", NOTES[n_streams]
    memory = {"arrays": "pinned"} if arrays == "pinned" else {}
    return end_to_end(call, label, name=name, note=note, **memory)


def pinned(call, label, **options):
    return end_to_end(call, f"{label}, pinned", arrays="pinned", **options)


def of_rows():
    """Return what the studies of rows share."""
    return {
        "inputs": rows_of_numbers,
        "size_name": "rows",
        "input_note": "uniform random numbers; whole numbers from -2 to 2 for the exact check",
    }


def of_products():
    """Return what the studies of rows times a matrix share."""
    return of_rows() | {
        "reference": lambda x: x @ weights_host().astype(np.float64),
        "tolerance": Tolerance(c=1, serial=WIDTH, scale=sum_of_magnitudes),
    }


overlap = Study(
    name="overlap",
    title="Rows to the GPU, times a matrix, and back",
    sizes=SIZES,
    baseline="one_stream",
    variants=(
        streams("one_stream", 1, "one stream"),
        streams("three_streams", 3, "three streams"),
    ),
    **of_products(),
)
changes = Study(
    name="changes",
    title="Three streams, with one thing changed",
    sizes=(ALL,),
    baseline="overlapped",
    variants=(
        streams("overlapped", 3, "three streams"),
        streams("two_streams", 2, "two streams"),
        *(
            streams(f"rows_{rows}", 3, f"chunks of {rows} rows", rows)
            for rows in (64, 512, 8192, 16384)
        ),
        streams("rows_512_four", 4, "512 rows, four streams", 512),
        pinned(waiting, "without blocking=False"),
        pinned(default_stream, "default stream between"),
        pinned(new_arrays, "new arrays from the pool"),
        pinned(without_pool, "new arrays without the pool"),
        streams("pageable_serial", 1, "one stream", arrays="pageable"),
        streams("pageable", 3, "three streams", arrays="pageable"),
    ),
    **of_products(),
)
sums = Study(
    name="sums",
    title="Sums of rows: copies in one direction only",
    sizes=(ALL,),
    output=lambda n, dtype: ((n,), dtype),
    reference=lambda x: x.sum(axis=1),
    tolerance=Tolerance(c=4, serial=8, scale=row_magnitudes),
    baseline="sums_one",
    variants=(
        pinned(partial(row_sums, n_streams=1), "sums, one stream", name="sums_one"),
        pinned(partial(row_sums, n_streams=3), "sums, three streams", name="sums_three"),
    ),
    **of_rows(),
)
chain = Study(
    name="chain",
    title="One block, eight times to the GPU and back",
    sizes=(CHUNK,),
    # Halved once for every two rounds, as by the square of the matrix.
    reference=lambda x: x / 2 ** (N_ROUNDS // 2),
    tolerance=Tolerance(c=4, serial=64, scale=largest),
    baseline="chain_one",
    variants=(
        pinned(partial(rounds, n_streams=1), "chain, one stream", name="chain_one"),
        pinned(partial(rounds, n_streams=3), "chain, three streams", name="chain_three"),
    ),
    **of_rows(),
)
