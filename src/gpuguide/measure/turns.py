"""Clocks that take turns, so that a slow phase of the machine hits them all alike.

A study does this for its variants. These functions are for other things that a page times: a wrong clock
beside the parts that explain it, several launches, the many cells of a map.

A reading of the host's clock is repeated up to three times if the host's processor was shared meanwhile;
turns in which that did not help are left out if five others remain. The readings of one turn stay together.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import numba
from gpuguide.measure.clocks import GpuClock, quiet
from gpuguide.measure.gate import Trial
from gpuguide.measure.plan import generator
from gpuguide.measure.session import current
from gpuguide.measure.study import Study
from gpuguide.measure.timing import (
    MAX_QUEUED_CALLS,
    HostTimer,
    Timer,
    device_timer,
    host_timer,
    in_rounds,
    keep_busy,
    launch_timer,
)

T = TypeVar("T")
_Reading = Callable[[], tuple[T, int]]
"""Takes one reading, and the time of the host's pace loop beside it (0 on the GPU's clock)."""


def gpu_clock() -> GpuClock:
    """Return the guide's clock of this GPU: a stream with events, a delay and a flush of the L2 cache."""
    return current().gpu()[0]


def in_turns(readings: Mapping[str, Callable[[], float]], n_turns: int = 20) -> dict[str, list[float]]:
    """Take one reading of each clock per turn, in a newly shuffled order, on the guide's stream."""
    if not readings:
        raise ArgumentError("in_turns expects at least one clock; got none.")
    gpu = gpu_clock()
    with gpu.use():
        clocks = {name: _beside_pace(read, gpu) for name, read in readings.items()}
        # Once, uncounted: a first reading may compile.
        for take in clocks.values():
            take()
        keep_busy(gpu, host=current().machine.host)
        return _turns(clocks, n_turns, ("in_turns", *readings))


def launches_in_turns(calls: Mapping[str, Callable[[], Any]], n_turns: int = 20) -> dict[str, list[float]]:
    """Time the host's part of each call with the guide's launch clock, one sample of each per turn."""
    gpu, host = gpu_clock(), current().machine.host
    with gpu.use():
        clocks = {name: _sample(launch_timer(call, gpu, host=host)) for name, call in calls.items()}
        return _turns(clocks, n_turns, ("launches_in_turns", *calls))


def beside_launches(
    wrong: Callable[[], float], call: Callable[[], Any], n_turns: int = 10, n_calls: int = 100
) -> tuple[list[float], list[float]]:
    """Take samples of a wrong clock and of the launch alone in turns, so that a slow phase hits both."""
    if not 1 <= n_calls <= MAX_QUEUED_CALLS:
        raise ArgumentError(f"beside_launches: n_calls must be from 1 to {MAX_QUEUED_CALLS}; got {n_calls}.")
    gpu = gpu_clock()
    with gpu.use():  # both on one stream: the default one has a cost of its own
        # As many launches per sample as in the wrong clock: the first few after a wait take longer.
        timer = replace(launch_timer(call, gpu, host=current().machine.host), n_calls=n_calls)
        samples = _turns({"wrong": _beside_pace(wrong, gpu), "launch": _sample(timer)}, n_turns)
    return samples["wrong"], samples["launch"]


def beside_compilation(
    wrong: Callable[[Callable[..., Any]], float],
    function: Any,
    arguments: tuple[Any, ...],
    n_turns: int = 7,
) -> tuple[list[float], list[float], list[float]]:
    """Take samples of a wrong clock, of the compilation and of a later call in turns."""
    host = current().machine.host
    later = host_timer(lambda: function(*arguments), host=host)
    # Kept to the end: to free compiled code takes as long as to make it, and would fall into some sample.
    all_fresh = []

    def fresh() -> Any:
        all_fresh.append(numba().njit(function.py_func))
        # Outside of the clock: what compiling leaves behind would else be freed in some sample.
        gc.collect()
        return all_fresh[-1]

    def first_call() -> float:
        never_called = fresh()
        with quiet():
            return wrong(never_called)

    def compilation() -> float:
        never_called = fresh()
        with quiet():
            begin = host.now_ns()
            # Not by a call, which would be in the time as well.
            never_called.compile(function.signatures[0])
            return (host.now_ns() - begin) / 1e9

    readings = {
        "wrong": _beside_pace(first_call),
        "compile": _beside_pace(compilation),
        "call": _sample(later),
    }
    samples = _turns(readings, n_turns)
    return samples["wrong"], samples["compile"], samples["call"]


def whole_turns(take: Callable[[], Mapping[str, float]], n_turns: int) -> dict[str, list[float]]:
    """Take turns that time several things by the host's clock one after the other, as parts of a whole.

    One turn comes first and is not counted: it may compile.
    """
    reading = _beside_pace(take)
    reading()
    rows = _turns({"turn": reading}, n_turns)["turn"]
    return {name: [row[name] for row in rows] for name in rows[0]}


def measure_map(study: Study, size: int, n_rounds: int = 5) -> dict[str, tuple[float, ...]]:
    """Check every variant of a study at one size, then time them all in shuffled rounds.

    A study's own run times the launches, too, and takes samples until they agree. For the
    cells of a map that would be too much: here each variant gets one sample per round, on the device's clock.
    """
    gpu, host, machine = gpu_clock(), current().machine.host, current().machine
    # The random inputs come last and are timed, as in a study.
    for kind in ("exact", "random"):
        trial = Trial(study, size, kind, machine.spaces, gpu, host)
        for variant in study.variants:
            trial.check(variant)
    clocks: dict[str, _Reading[float]] = {}
    for variant in study.variants:
        with trial.on_stream(variant):
            clocks[variant.name] = _sample(device_timer(trial.call(variant), gpu, batchable=False))
    busy = lambda: keep_busy(gpu, seconds=0.02, host=host)  # noqa: E731
    samples = _turns(clocks, n_rounds, (study.name, size, "map"), before=busy)
    for variant in study.variants:
        trial.check(variant)
    return {name: tuple(seconds) for name, seconds in samples.items()}


def _turns(
    readings: Mapping[str, _Reading[T]],
    n_turns: int,
    shuffled_by: tuple[object, ...] = (),
    *,
    before: Callable[[], object] = lambda: None,
) -> dict[str, list[T]]:
    """Take one reading of each clock in a turn, as they come or in an order shuffled anew.

    `before` is called where a turn begins. Turns in which a clock was read in company are left out, those of
    the other clocks as well, when five remain.
    """
    if n_turns < 1:
        raise ArgumentError(f"n_turns must be at least 1; got {n_turns}.")
    rng = generator(*shuffled_by)

    def active() -> list[str]:
        before()
        return list(readings)

    def order(names: Sequence[str]) -> Sequence[str]:
        return [names[i] for i in rng.permutation(len(names))] if shuffled_by else names

    with current().steps.step("timing"):
        turns = list(islice(in_rounds(active, lambda name: readings[name](), order), n_turns))
    # One clock in company spoils its turn: what is compared or added up must come from the same moment.
    slowest = [max(pace_ns for _, pace_ns in turn.values()) for turn in turns]
    chosen, _ = current().machine.host.pace.kept(slowest)
    return {name: [turns[i][name][0] for i in chosen] for name in readings}


def _beside_pace(read: Callable[[], T], gpu: GpuClock | None = None) -> _Reading[T]:
    """Return a clock that is read again in company, and then waits for what it left in the stream."""
    taken: list[T] = []
    after = None if gpu is None else gpu.synchronize
    timer = HostTimer(current().machine.host, lambda: taken.append(read()), after=after)

    def reading() -> tuple[T, int]:
        timer.sample()
        return taken[-1], timer.pace_ns

    return reading


def _sample(timer: Timer) -> _Reading[float]:
    """Return what takes one sample of a timer, in seconds per call."""

    def reading() -> tuple[float, int]:
        seconds = timer.samples([timer.sample()]).seconds[0]
        return seconds, timer.pace_ns

    return reading
