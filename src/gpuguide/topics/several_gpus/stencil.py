"""The heat equation on a plate cut into slabs, one for each GPU: a step needs the neighbours' edges."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import isqrt
from typing import Any

import numpy as np

from gpuguide.errors import BackendError, MismatchError
from gpuguide.machine import launch
from gpuguide.machine.backends import array_module, cupy
from gpuguide.measure.edited import Kernels
from gpuguide.measure.random_inputs import uniform, whole_numbers
from gpuguide.measure.study import Study
from gpuguide.topics.several_gpus.gpus import Gpu, cut, lacking, no_access, some, wait
from gpuguide.topics.several_gpus.kernels import HEAT_SOURCE
from gpuguide.topics.several_gpus.peers import allow
from gpuguide.topics.several_gpus.study import label, on_gpus

SIZES = (2**24, 2**30)
STEPS = 20
THREADS, ROWS_A_THREAD = 128, 16  # each with four cells of a row


def plate(n: int) -> tuple[int, int]:
    """Return rows and columns of a plate with at most `n` cells; columns are a multiple of four.

    >>> plate(2**30), plate(2**24), plate(257), plate(0)
    ((32768, 32768), (4096, 4096), (16, 16), (0, 4))
    """
    columns = max(4, isqrt(n) // 4 * 4)
    return n // columns, columns


class Slab:
    """The rows of a plate that one GPU has: now and after the step, and the neighbours' edges."""

    def __init__(self, gpu: Gpu, rows: int, columns: int) -> None:
        cp = cupy()
        self.gpu = gpu
        with gpu.device, gpu.stream:
            self.now, self.then = (cp.empty((rows, columns), np.float32) for _ in range(2))
            # Beyond the plate it is cold.
            self.above, self.below = (cp.zeros(columns, np.float32) for _ in range(2))
            self.done = cp.cuda.Event(disable_timing=True)

    def finish(self) -> None:
        """Mark what its stream was asked for so far."""
        with self.gpu.device:
            self.done.record(self.gpu.stream)


@cache
def heat_kernel(source: str) -> Any:
    """Make the kernel of a source; CuPy compiles it on each GPU when it is first launched there."""
    return cupy().RawKernel(source, "heat")


def step(slab: Slab, above: Any, below: Any) -> None:
    """Compute the next temperatures of a slab, and make them those of now."""
    rows, columns = slab.now.shape
    blocks = -(-columns // (4 * THREADS)), -(-rows // ROWS_A_THREAD)
    arrays = slab.now, above, below, slab.then
    heat_kernel(HEAT_SOURCE)(
        blocks, (THREADS,), (*arrays, np.int32(rows), np.int32(columns // 4))
    )
    slab.now, slab.then = slab.then, slab.now


def fetch(edge: Any, row: Any, stream: Any) -> None:
    """Copy a row of a neighbour into an array on the current GPU."""
    edge.data.copy_from_device_async(row.data, row.nbytes, stream)


def copied(slabs: list[Slab]) -> None:
    """Do one step: each GPU fetches its neighbours' edges into arrays of its own, and computes."""
    for g, slab in enumerate(slabs):
        with slab.gpu.device, slab.gpu.stream as stream:
            if g > 0:
                stream.wait_event(slabs[g - 1].done)
                fetch(slab.above, slabs[g - 1].now[-1], stream)
            if g < len(slabs) - 1:
                stream.wait_event(slabs[g + 1].done)
                fetch(slab.below, slabs[g + 1].now[0], stream)
    # Only now, for from here on `done` is the end of the next step.
    for slab in slabs:
        with slab.gpu.device, slab.gpu.stream:
            step(slab, slab.above, slab.below)
        slab.finish()


@cache
def allow_neighbours(n_gpus: int) -> None:
    """Let the kernels of each of the first GPUs read the memory of the GPUs beside it."""
    if why := no_access(n_gpus):
        raise BackendError(f"{why}, so its kernels cannot read there. Copy the edges instead.")
    for g in range(n_gpus - 1):
        allow(g, g + 1)
        allow(g + 1, g)


def direct(slabs: list[Slab]) -> None:
    """Do one step: each GPU reads its neighbours' edges in their memory while it computes."""
    allow_neighbours(len(slabs))
    edges = []
    for g, slab in enumerate(slabs):
        above, below = slab.above, slab.below
        if g > 0:
            slab.gpu.stream.wait_event(slabs[g - 1].done)
            above = slabs[g - 1].now[-1]
        if g < len(slabs) - 1:
            slab.gpu.stream.wait_event(slabs[g + 1].done)
            below = slabs[g + 1].now[0]
        edges.append((above, below))
    for slab, (above, below) in zip(slabs, edges, strict=True):
        with slab.gpu.device, slab.gpu.stream:
            step(slab, above, below)
        slab.finish()


def heat_on(n_gpus: int, advance: Callable[[list[Slab]], None], *arrays: Any) -> None:
    """Fill a plate with the product of two vectors, let the heat flow, and multiply it by a third vector."""
    rows, columns, weights, out = arrays
    launch.check(rows=rows, out=out, ndim=1, dtype="float32")
    launch.check(columns=columns, weights=weights, ndim=1, dtype="float32")
    if not len(out):
        return
    cp = cupy()
    tall, wide, weights = map(cp.asarray, arrays[:3])
    # The other GPUs' streams know nothing of what happens in this one.
    cp.cuda.get_current_stream().synchronize()
    gpus = some(n_gpus)[: len(out)]
    cuts = list(cut(len(out), gpus))
    slabs = [
        Slab(gpu, end - begin, len(wide)) for gpu, (begin, end) in zip(gpus, cuts, strict=True)
    ]
    for slab, (begin, end) in zip(slabs, cuts, strict=True):
        with slab.gpu.device, slab.gpu.stream:
            # `copy` brings both vectors to this GPU.
            cp.multiply(tall[begin:end].copy()[:, None], wide.copy(), out=slab.now)
        slab.finish()
    for _ in range(STEPS):
        advance(slabs)
    parts = []
    for slab in slabs:
        with slab.gpu.device, slab.gpu.stream:
            parts.append(slab.now @ weights.copy())
    wait(gpus)
    gathered = cp.asarray(out)
    for part, (begin, end) in zip(parts, cuts, strict=True):
        gathered[begin:end] = part.copy()


def heat_copied(n_gpus: int, *arrays: Any) -> None:
    """Let each GPU fetch its neighbours' edges before it computes."""
    heat_on(n_gpus, copied, *arrays)


def heat_direct(n_gpus: int, *arrays: Any) -> None:
    """Let each GPU read its neighbours' edges while it computes."""
    heat_on(n_gpus, direct, *arrays)


class Warmth:
    """Each row's weighted sum is that of a plate computed with slices, within the rounding of float32.

    >>> ones = np.ones(4, np.float32)
    >>> rows, _ = Warmth().prepare((ones, ones, ones))
    >>> bool(rows[0] < rows[1])  # the edge is cooler
    True
    """

    def prepare(self, inputs: tuple[Any, ...]) -> tuple[Any, float]:
        """Compute the plate on one GPU, without a kernel of the topic."""
        tall, wide, weights = inputs
        xp = array_module(tall)
        plate = tall[:, None] * wide
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
        magnitude = float(xp.abs(sums).max()) if len(sums) else 0.0
        eps = float(np.finfo(np.float32).eps)
        # Each step rounds a few times, and a sum adds up blocks of some hundred products.
        return sums, eps * (4 * STEPS + 256) * magnitude

    def compare(self, output: Any, prepared: Any) -> tuple[float, float]:
        """Compare where the result is."""
        expected, tolerance = prepared
        if output.shape != expected.shape:
            raise MismatchError(
                f"The output should have shape {expected.shape}; it has {output.shape}."
            )
        if not len(output):
            return 0.0, 0.0
        off = abs(output.astype(np.float64) - expected)
        worst = int(off.argmax())
        # A NaN counts as the largest for argmax, and is no number below the tolerance.
        if not float(off[worst]) <= tolerance:
            raise MismatchError(
                f"Row {worst} is wrong: expected {float(expected[worst])!r}, got "
                f"{float(output[worst])!r}; the tolerance is {tolerance:.3g}."
            )
        return float(off[worst]), tolerance


def heat_reference(tall: np.ndarray, wide: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute it with slices."""
    return np.asarray(Warmth().prepare((tall, wide, weights))[0], np.float32)


def heat_study(kernels: Kernels = None) -> Study:
    """Describe the plate on one GPU, and on two, with edges that are copied or read in place."""
    ways = (
        ("one", 1, heat_copied, "1 GPU", ""),
        ("two", 2, heat_copied, f"{label(2)}, edges copied", lacking(2)),
        ("two_direct", 2, heat_direct, f"{label(2)}, edges read", lacking(2) or no_access(2)),
    )
    return Study(
        name="heat",
        title=f"{STEPS} steps of the heat equation, the plate cut into slabs",
        variants=tuple(
            on_gpus(
                name,
                partial(call, n_gpus),
                words,
                missing,
                work={"cells": cells},
                note=f"{words}.",
            )
            for name, n_gpus, call, words, missing in ways
        ),
        sizes=SIZES,
        inputs=_inputs,
        check=Warmth(),
        output=lambda n, dtype: ((plate(n)[0],), np.float32),
        size_name="cells",
        input_note="uniform random numbers; whole numbers from 1 to 8 for the exact check",
        baseline="one",
        kernels=kernels,
    )


def cells(n: int) -> int:
    """Count the cells that are computed."""
    rows, columns = plate(n)
    return rows * columns * STEPS


def _inputs(
    n: int, dtype: np.dtype, rng: np.random.Generator, exact: bool
) -> tuple[np.ndarray, ...]:
    rows, columns = plate(n)
    return tuple(
        whole_numbers(rng, m, 9, dtype, low=1) if exact else uniform(rng, m, dtype)
        for m in (rows, columns, columns)
    )
