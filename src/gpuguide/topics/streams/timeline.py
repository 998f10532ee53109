"""When two inverses began and ended, by events; how long an urgent kernel waits; and crowds of kernels."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import cupy, raw_kernel
from gpuguide.measure.turns import gpu_clock, in_turns
from gpuguide.topics.streams.kernels import steps_source
from gpuguide.topics.streams.study import (
    STEPS,
    THREADS,
    InverseCheck,
    in_streams,
    inverses_study,
    steps_reference,
    streams,
)

__all__ = ["PRIORITIES", "alone", "crowd", "timeline", "urgent", "urgent_times"]

BACKGROUND_BLOCKS = 20_000
"""Many more than a GPU holds at once."""
BACKGROUND_STEPS = 5_000
URGENT_STEPS = 1_000
PRIORITIES = {"default": 0, "high": -5}
"""As CUDA numbers them: 0 is the lowest and the default, and lower numbers come first."""


def timeline(n_streams: int, edge: int = 6000) -> np.ndarray:
    """Invert two matrices once more, with an event before and after each."""
    cp = cupy()
    matrices = [cp.asarray(x) for x in inverses_study().make_inputs(edge**2, exact=False)]
    cp.cuda.Device().synchronize()  # these streams would not wait for the copies
    chosen = streams(2) if n_streams == 2 else streams(2)[:1] * 2
    # The first turn makes what the libraries need in each stream.
    for _ in range(2):
        origin, marks, found = _with_events(chosen, matrices)
        cp.cuda.Device().synchronize()
    InverseCheck().compare(cp.stack(found), tuple(matrices))
    times = [[cp.cuda.get_elapsed_time(origin, mark) / 1e3 for mark in pair] for pair in marks]
    return np.array([times])


def _with_events(
    chosen: tuple[Any, ...], matrices: list[Any]
) -> tuple[Any, list[Any], list[Any]]:
    origin, marks, found = chosen[0].record(), [], []
    chosen[1].wait_event(origin)
    for stream, x in zip(chosen, matrices, strict=True):
        with stream:
            begin = stream.record()
            found.append(cupy().linalg.inv(x))
            marks.append((begin, stream.record()))
    return origin, marks, found


def urgent(priority: int) -> Callable[[], float]:
    """Return a reading: how long a small kernel takes in a stream of a priority, behind a large one.

    Each reading launches the large one in a stream of the default priority, waits until it runs, launches the
    small one, and returns the seconds between two events around that.
    """
    cp = cupy()
    behind, ahead = (cp.cuda.Stream(non_blocking=True, priority=each) for each in (0, priority))
    kernel = raw_kernel(steps_source, "steps").compiled
    large, large_out = (cp.zeros(THREADS * BACKGROUND_BLOCKS, np.uint32) for _ in range(2))
    small = cp.arange(THREADS, dtype=np.uint32)
    small_out = cp.zeros_like(small)
    cp.cuda.Device().synchronize()

    def run(stream: Any, x: Any, out: Any, n_steps: int) -> None:
        with stream:
            sizes = np.int32(x.size), np.int32(n_steps)
            kernel((x.size // THREADS,), (THREADS,), (x, out, *sizes))

    def reading() -> float:
        small_out.fill(0)
        cp.cuda.Device().synchronize()
        run(behind, large, large_out, BACKGROUND_STEPS)
        time.sleep(0.0005)  # by then it fills the GPU
        begin = ahead.record()
        run(ahead, small, small_out, URGENT_STEPS)
        end = ahead.record()
        cp.cuda.Device().synchronize()
        if not (small_out.get() == steps_reference(small.get(), URGENT_STEPS)).all():
            raise MismatchError("The urgent kernel's result is wrong.")
        return float(cp.cuda.get_elapsed_time(begin, end)) / 1e3

    return reading


def urgent_times(n_turns: int = 10) -> dict[str, list[float]]:
    """Take readings for each priority in turns, and of the large kernel alone."""
    with gpu_clock().use():
        readings = {f"urgent_{name}": urgent(number) for name, number in PRIORITIES.items()}
        return in_turns({**readings, "background": alone}, n_turns)


def alone() -> float:
    """Time the large kernel alone, by events."""
    cp = cupy()
    kernel = raw_kernel(steps_source, "steps").compiled
    x, out = (cp.zeros(THREADS * BACKGROUND_BLOCKS, np.uint32) for _ in range(2))
    current = cp.cuda.get_current_stream()
    sizes = np.int32(x.size), np.int32(BACKGROUND_STEPS)
    begin = current.record()
    kernel((BACKGROUND_BLOCKS,), (THREADS,), (x, out, *sizes))
    end = current.record()
    end.synchronize()
    return float(cp.cuda.get_elapsed_time(begin, end)) / 1e3


def crowd(n: int) -> Callable[[], None]:
    """Return a call that launches kernels of one block in as many streams; it was checked."""
    cp = cupy()
    kernel = raw_kernel(steps_source, "steps").compiled
    x = cp.arange(n * THREADS, dtype=np.uint32).reshape(n, THREADS)
    out = cp.zeros_like(x)
    sizes = np.int32(THREADS), np.int32(STEPS)

    # Made once: the host must be ahead of the GPU.
    calls = [partial(kernel, (1,), (THREADS,), (x[i], out[i], *sizes)) for i in range(n)]

    def call() -> None:
        in_streams(calls)

    call()
    if not bool((out == steps_reference(x)).all()):
        raise MismatchError(f"The results of {n} kernels are wrong.")
    return call
