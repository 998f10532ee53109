"""The heat equation on a plate cut into slabs, one for each GPU: a step needs the neighbours' edges."""

from functools import cache, partial
from math import isqrt

import numpy as np

from gpuguide.measure import Study, cp, uniform, whole_numbers
from gpuguide.topics.several_gpus.kernels import HEAT_SOURCE
from gpuguide.topics.several_gpus.peers import no_access, peer_access
from gpuguide.topics.several_gpus.study import (
    Near,
    count,
    cut,
    gather,
    needs_two,
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
    return cp.RawKernel(source, "heat")


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
    if not len(out):
        return
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


heat = Study(
    name="heat",
    title=f"{STEPS} steps of the heat equation, the plate cut into slabs",
    sizes=(2**24, 2**30),
    size_name="cells",
    inputs=vectors,
    input_note="uniform random numbers; whole numbers from 1 to 8 for the exact check",
    check=Near(heat_reference),
    answer=lambda *vectors: heat_reference(*vectors)[0],
    output=lambda n, dtype: ((plate(n)[0],), np.float32),
    baseline="one",
    variants=(
        on_gpus("one", partial(heat_on, 1, copied), "1 GPU"),
        on_gpus("two", partial(heat_on, 2, copied), "2 GPUs, edges copied", needs_two),
        on_gpus(
            "two_direct",
            partial(heat_on, 2, direct),
            "2 GPUs, edges read",
            lambda: no_access() if count() > 1 else needs_two(),
        ),
    ),
    small=(),
)
