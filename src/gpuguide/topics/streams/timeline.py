"""When two inverses began and ended, by events; how long an urgent kernel waits; and crowds of kernels."""

import time
from functools import partial

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.measure import cp
from gpuguide.measure.turns import gpu_clock, in_turns
from gpuguide.topics.streams.study import (
    STEPS,
    THREADS,
    InverseCheck,
    in_streams,
    inverses,
    steps,
    steps_reference,
    streams,
)

BACKGROUND_BLOCKS = 20_000  # many more than a GPU holds at once
BACKGROUND_STEPS = 5_000
URGENT_STEPS = 1_000
# As CUDA numbers them: 0 is the lowest and the default, and lower numbers come first.
PRIORITIES = {"default": 0, "high": -5}


def timeline(n_streams, edge=6000):
    """Invert two matrices once more, with an event before and after each."""
    matrices = [cp.asarray(x) for x in inverses.make_inputs(edge**2, exact=False)]
    cp.cuda.Device().synchronize()  # these streams would not wait for the copies
    chosen = streams(2) if n_streams == 2 else streams(2)[:1] * 2
    # The first turn makes what the libraries need in each stream.
    for _ in range(2):
        origin, marks, results = _with_events(chosen, matrices)
        cp.cuda.Device().synchronize()
    InverseCheck().compare(cp.stack(results), tuple(matrices))
    times = [[cp.cuda.get_elapsed_time(origin, mark) / 1e3 for mark in pair] for pair in marks]
    return np.array([times])


def _with_events(chosen, matrices):
    origin, marks, results = chosen[0].record(), [], []
    chosen[1].wait_event(origin)
    for stream, x in zip(chosen, matrices, strict=True):
        with stream:
            begin = stream.record()
            results.append(cp.linalg.inv(x))
            marks.append((begin, stream.record()))
    return origin, marks, results


def urgent(priority):
    """Return a reading: how long a small kernel takes in a stream of a priority, behind a large one."""
    # Each reading launches the large one in a stream of the default priority, waits until it runs, launches
    # the small one, and returns the seconds between two events around that.
    behind, ahead = (
        cp.cuda.Stream(non_blocking=True, priority=number) for number in (0, priority)
    )
    kernel = steps.compiled
    large, large_out = (cp.zeros(THREADS * BACKGROUND_BLOCKS, np.uint32) for _ in range(2))
    small = cp.arange(THREADS, dtype=np.uint32)
    small_out = cp.zeros_like(small)
    cp.cuda.Device().synchronize()

    def run(stream, x, out, n_steps):
        with stream:
            sizes = np.int32(x.size), np.int32(n_steps)
            kernel((x.size // THREADS,), (THREADS,), (x, out, *sizes))

    def reading():
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


def urgent_times(n_turns=10):
    """Take readings for each priority in turns, and of the large kernel alone."""
    with gpu_clock().use():
        readings = {f"urgent_{name}": urgent(number) for name, number in PRIORITIES.items()}
        return in_turns({**readings, "background": alone}, n_turns)


def alone():
    """Time the large kernel alone, by events."""
    kernel = steps.compiled
    x, out = (cp.zeros(THREADS * BACKGROUND_BLOCKS, np.uint32) for _ in range(2))
    current = cp.cuda.get_current_stream()
    sizes = np.int32(x.size), np.int32(BACKGROUND_STEPS)
    begin = current.record()
    kernel((BACKGROUND_BLOCKS,), (THREADS,), (x, out, *sizes))
    end = current.record()
    end.synchronize()
    return float(cp.cuda.get_elapsed_time(begin, end)) / 1e3


def crowd(n):
    """Return a call that launches kernels of one block in as many streams; it was checked."""
    kernel = steps.compiled
    x = cp.arange(n * THREADS, dtype=np.uint32).reshape(n, THREADS)
    out = cp.zeros_like(x)
    sizes = np.int32(THREADS), np.int32(STEPS)

    # Made once: the host must be ahead of the GPU.
    calls = [partial(kernel, (1,), (THREADS,), (x[i], out[i], *sizes)) for i in range(n)]

    def call():
        in_streams(calls)

    call()
    if not bool((out == steps_reference(x)).all()):
        raise MismatchError(f"The results of {n} kernels are wrong.")
    return call
