"""Chooses how to time a call on the device: alone, many in a graph, or many under one delay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle

from gpuguide.clocks import CaptureError, GpuClock, quiet
from gpuguide.errors import ArgumentError
from gpuguide.metrics import median
from gpuguide.timers import Call, DeviceTimer, run

__all__ = ["BATCH_NS", "MAX_QUEUED_CALLS", "SHORT_NS", "device_timer"]

SHORT_NS = 50_000
"""Calls below this are timed many at once."""
BATCH_NS = 1_000_000
"""How long many calls together should last, in nanoseconds."""
MAX_GRAPH_CALLS = 2_000
MAX_QUEUED_CALLS = 256
"""Most launches between two synchronisations: the queue holds about a thousand."""


def device_timer(
    call: Call | Sequence[Call],
    gpu: GpuClock,
    *,
    cold: bool = False,
    reset: Call | None = None,
    batchable: bool = True,
    capturable: bool = True,
) -> DeviceTimer:
    """Warm up, choose how to time `call` on the device, and return the timer.

    Parameters
    ----------
    call : callable or sequence of callables
        The work, put into the clock's stream; or several such calls to rotate over. For cold batches their
        buffers should add up to three times the L2 cache, so that each call finds its own evicted.
    gpu : GpuClock
        The clock.
    cold : bool
        Flush the L2 cache before each sample. A single call is then timed alone, however short.
    reset : callable, optional
        Restores what the call changes; called, untimed, before each sample, which is then a single call.
    batchable : bool
        False for calls that must not follow one another within a sample.
    capturable : bool
        False for calls that must not be captured in a graph: those that allocate, since a replay would
        write to memory that has gone back to the pool.

    Returns
    -------
    DeviceTimer
        With the method ``"events"``; for calls below 50 us ``"graph"`` (at least 1 ms of them replayed at
        once), or ``"batch"`` (many under one delay) where no graph can be had.

    Raises
    ------
    ArgumentError
        There is no call, or a graph of it does nothing: its work goes into another stream.
    """
    calls = _as_calls(call)
    launch: Call = calls[0] if len(calls) == 1 else _rotation(calls)
    with gpu.use():
        for _ in calls:
            run(reset)
            launch()
        gpu.synchronize()
    timer = DeviceTimer(gpu, launch, cold=cold, reset=reset)
    call_ns = _estimate(timer)
    alone = not batchable or reset is not None or (cold and len(calls) == 1)
    if call_ns < SHORT_NS and not timer.host_bound and not alone:
        timer = _many(timer, call_ns, len(calls), capturable)
    return replace(timer, floor_ns=_floor(gpu, timer.method))


def _as_calls(call: Call | Sequence[Call]) -> tuple[Call, ...]:
    calls: tuple[Call, ...] = ()
    if callable(call):
        calls = (call,)
    elif isinstance(call, Sequence):
        calls = tuple(call)
    if not calls or not all(callable(one) for one in calls):
        raise ArgumentError(
            f"expected a callable or a sequence of them, got {call!r}; "
            "wrap the work in a function without arguments"
        )
    return calls


def _rotation(calls: Sequence[Call]) -> Call:
    """Return a call that makes the next of `calls` each time."""
    turns = cycle(calls)

    def next_call() -> None:
        next(turns)()

    return next_call


def _repeated(call: Call, n: int) -> None:
    for _ in range(n):
        call()


def _estimate(timer: DeviceTimer) -> int:
    """Return the smallest of three samples (one when it is long), which also settles the delay."""
    first = timer.sample()
    return first if first > 10 * BATCH_NS else min(first, timer.sample(), timer.sample())


def _many(timer: DeviceTimer, call_ns: int, n_sets: int, capturable: bool) -> DeviceTimer:
    """Return a timer of many calls in the place of `timer`, whose one call is too short."""
    note = "not captured: the call is declared not capturable"
    if capturable:
        try:
            return _not_nothing(_graph(timer, call_ns, n_sets))
        except CaptureError as error:
            note = f"not captured: {error}"
    return replace(_batch(timer, call_ns, n_sets), notes=(*timer.notes, note))


def _graph(timer: DeviceTimer, call_ns: int, n_sets: int) -> DeviceTimer:
    """Return a timer of a graph that lasts at least 1 ms; inside it calls are shorter than one alone."""
    n = _multiple(BATCH_NS / max(1, call_ns), n_sets, MAX_GRAPH_CALLS)
    graph = _captured(timer, n)
    longer = _multiple(n * BATCH_NS / max(1, graph.sample()), n_sets, MAX_GRAPH_CALLS)
    return graph if longer <= n else _captured(timer, longer)


def _not_nothing(timer: DeviceTimer) -> DeviceTimer:
    """Return `timer`; raise when its graph takes less than empty kernels do, so that it holds none."""
    call_ns = timer.sample() / timer.n_calls
    floor_ns = _floor(timer.gpu, "graph")
    if call_ns < floor_ns / 2:
        raise ArgumentError(
            f"expected work on the clock's stream; {timer.n_calls} captured calls took {call_ns:.0f} ns each "
            f"and an empty kernel takes {floor_ns} ns. Launch on CuPy's current stream "
            "(kernel[grid, block, backends.current_stream()] in Numba)."
        )
    return timer


def _captured(timer: DeviceTimer, n: int) -> DeviceTimer:
    """Capture `n` calls; replay them once, because the first replay uploads the graph."""
    gpu = timer.gpu
    with gpu.use(), quiet():
        graph = gpu.capture(timer.launch, n)
        gpu.replay(graph)
        gpu.synchronize()
    return replace(timer, launch=partial(gpu.replay, graph), n_calls=n, method="graph")


def _batch(timer: DeviceTimer, call_ns: int, n_sets: int) -> DeviceTimer:
    """Return a timer of as many calls as the host can launch under one delay."""
    n = _multiple(BATCH_NS / max(1, call_ns), n_sets, MAX_QUEUED_CALLS)
    while n > 1:
        batch = replace(timer, launch=partial(_repeated, timer.launch, n), n_calls=n, method="batch")
        batch.sample()
        if not batch.host_bound:
            return batch
        if n <= n_sets:
            break
        n = _multiple(n / 2, n_sets, n // 2)
    return timer


def _multiple(n: float, of: int, limit: int) -> int:
    """Return the smallest multiple of `of` from `n` up, but at most `limit` (or `of` itself)."""
    return of * max(1, min(math.ceil(n / of), limit // of))


def _floor(gpu: GpuClock, method: str) -> int:
    """Return the nanoseconds of an empty kernel timed by `method`, measured once for each clock."""
    if method not in gpu.floors:
        timer = DeviceTimer(gpu, gpu.empty)
        _estimate(timer)
        if method == "graph":
            timer = _graph(timer, 1_000, 1)
        elif method == "batch":
            timer = _batch(timer, 1_000, 1)
        gpu.floors[method] = round(median([timer.sample() for _ in range(11)]) / timer.n_calls)
    return gpu.floors[method]
