"""The heat equation on a plate cut into slabs, one for each GPU: a step needs the neighbours' edges."""

from functools import cache, partial
from math import isqrt

import numpy as np

from gpuguide.machine import launch
from gpuguide.machine.backends import cupy
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.several_gpus.kernels import HEAT_SOURCE
from gpuguide.topics.several_gpus.peers import no_access, peer_access
from gpuguide.topics.several_gpus.study import (
    Near,
    count,
    cut,
    gather,
    lacking,
    on_gpus,
    some,
)

STEPS = 20
THREADS, ROWS_A_THREAD = 128, 16  # each with four cells of a row


def plate(n):
    """Return rows and columns of a plate with at most `n` cells; columns are a multiple of four."""
    columns = max(4, isqrt(n) // 4 * 4)
    return n // columns, columns


class Slab:
    """The rows of a plate that one GPU has: now and after the step, and the neighbours' edges."""

    def __init__(self, gpu, rows, columns):
        cp = cupy()
        self.gpu = gpu
        with gpu.device, gpu.stream as stream:
            self.now, self.then = (
                cp.empty((len(rows), len(columns)), np.float32) for _ in "12"
            )
            # Beyond the plate it is cold.
            self.above, self.below = (cp.zeros(len(columns), np.float32) for _ in "12")
            # `copy` brings both vectors to this GPU.
            cp.multiply(rows.copy()[:, None], columns.copy(), out=self.now)
            self.done = cp.cuda.Event(disable_timing=True)
            self.done.record(stream)

    def step(self, above, below):
        """Compute the next temperatures, and make them those of now."""
        rows, columns = self.now.shape
        blocks = -(-columns // (4 * THREADS)), -(-rows // ROWS_A_THREAD)
        arrays = self.now, above, below, self.then
        with self.gpu.device, self.gpu.stream as stream:
            heat_kernel(HEAT_SOURCE)(
                blocks, (THREADS,), (*arrays, np.int32(rows), np.int32(columns // 4))
            )
            self.done.record(stream)
        self.now, self.then = self.then, self.now


@cache
def heat_kernel(source):
    """Make the kernel of a source; CuPy compiles it on each GPU when it is first launched there."""
    return cupy().RawKernel(source, "heat")


def edges(slabs):
    """Find the rows above and below each slab, and let its stream wait until they are there."""
    for g, slab in enumerate(slabs):
        above, below = slab.above, slab.below
        if g > 0:
            slab.gpu.stream.wait_event(slabs[g - 1].done)
            above = slabs[g - 1].now[-1]
        if g < len(slabs) - 1:
            slab.gpu.stream.wait_event(slabs[g + 1].done)
            below = slabs[g + 1].now[0]
        yield slab, above, below


def copied(slabs):
    """Do one step: each GPU fetches its neighbours' edges into arrays of its own, and computes."""
    for slab, above, below in edges(slabs):
        for edge, row in ((slab.above, above), (slab.below, below)):
            if row is not edge:
                with slab.gpu.device:
                    edge.data.copy_from_device_async(row.data, row.nbytes, slab.gpu.stream)
    for slab in slabs:
        slab.step(slab.above, slab.below)


def direct(slabs):
    """Do one step: each GPU reads its neighbours' edges in their memory while it computes."""
    # Listed first, for a step moves `now` and `done` on.
    for slab, above, below in list(edges(slabs)):
        slab.step(above, below)


def heat_on(n_gpus, advance, rows, columns, weights, out):
    """Fill a plate with the product of two vectors, let the heat flow, and multiply it by a third vector."""
    launch.check(rows=rows, out=out, ndim=1, dtype="float32")
    launch.check(columns=columns, weights=weights, ndim=1, dtype="float32")
    if not len(out):
        return
    cp = cupy()
    rows, columns, weights = map(cp.asarray, (rows, columns, weights))
    # The streams know nothing of what happens in the current one.
    cp.cuda.get_current_stream().synchronize()
    cuts = cut(len(out), some(n_gpus)[: len(out)])
    if advance is direct:
        allow_all(n_gpus)
    slabs = [Slab(gpu, rows[begin:end], columns) for gpu, begin, end in cuts]
    for _ in range(STEPS):
        advance(slabs)
    parts = []
    for slab in slabs:
        with slab.gpu.device, slab.gpu.stream:
            parts.append(slab.now @ weights.copy())
    gather(zip(cuts, parts, strict=True), out)


allow_all = cache(peer_access)


def heat_reference(rows, columns, weights):
    """Compute the sums on one GPU without a kernel of the topic, and how far float32 may be off."""
    plate = rows[:, None] * columns
    for _ in range(STEPS):
        change = -4 * plate
        change[1:] += plate[:-1]
        change[:-1] += plate[1:]
        change[:, 1:] += plate[:, :-1]
        change[:, :-1] += plate[:, 1:]
        change *= np.float32(0.125)
        plate += change
        del change
    plate *= weights
    sums = plate.sum(axis=1, dtype=np.float64)
    # Each step rounds a few times, and a sum adds up blocks of some hundred products.
    return sums, float(np.finfo(np.float32).eps) * (4 * STEPS + 256) * float(abs(sums).max())


def vectors(n, dtype, rng, exact):
    """Draw a number for each row and two for each column."""
    rows, columns = plate(n)
    return tuple(
        whole_numbers(rng, m, 9, dtype, low=1) if exact else uniform(rng, m, dtype)
        for m in (rows, columns, columns)
    )


def heat_study(kernels=None):
    """Describe the plate on one GPU, and on two, with edges that are copied or read in place."""
    apart = no_access() if count() > 1 else lacking(2)
    calls = (
        ("one", partial(heat_on, 1, copied), "1 GPU"),
        ("two", partial(heat_on, 2, copied), "2 GPUs, edges copied", lacking(2)),
        ("two_direct", partial(heat_on, 2, direct), "2 GPUs, edges read", apart),
    )
    return Study(
        name="heat",
        title=f"{STEPS} steps of the heat equation, the plate cut into slabs",
        variants=tuple(on_gpus(*call) for call in calls),
        sizes=(2**24, 2**30),
        inputs=vectors,
        check=Near(heat_reference),
        output=lambda n, dtype: ((plate(n)[0],), np.float32),
        size_name="cells",
        input_note="uniform random numbers; whole numbers from 1 to 8 for the exact check",
        baseline="one",
        kernels=kernels,
    )
