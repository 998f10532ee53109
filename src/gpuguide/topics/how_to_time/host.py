"""What calms a host: the same launches as they come, and after each of the usual remedies."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from gpuguide.measure.clocks import quiet
from gpuguide.measure.plan import generator

__all__ = ["REMEDIES", "TIMERS", "defences", "launches", "reads"]

N_LAUNCHES = 64
WARM_S = 0.1
_N_READS = 1000
Remedy = Callable[[Callable[[], Any]], AbstractContextManager[None]]


@contextmanager
def _pinned(_: Callable[[], Any]) -> Iterator[None]:
    """Bind this thread to one processor, the last that it may use."""
    if not hasattr(os, "sched_setaffinity"):  # only Linux has it
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def _warmed(launch_all: Callable[[], Any]) -> Iterator[None]:
    """Keep launching for a while beforehand."""
    end = time.perf_counter() + WARM_S
    while time.perf_counter() < end:
        launch_all()
    yield


@contextmanager
def _all_three(launch_all: Callable[[], Any]) -> Iterator[None]:
    with quiet(), _pinned(launch_all), _warmed(launch_all):
        yield


REMEDIES: Mapping[str, Remedy] = {
    "plain": lambda _: nullcontext(),
    "collector_off": lambda _: quiet(),
    "pinned": _pinned,
    "warmed": _warmed,
    "all_three": _all_three,
}
TIMERS: Mapping[str, Callable[[], int]] = {
    "perf_counter": time.perf_counter_ns,
    # The counter without the corrections that keep the clock in step with the time of day.
    "raw": lambda: time.clock_gettime_ns(
        getattr(time, "CLOCK_MONOTONIC_RAW", time.CLOCK_MONOTONIC)
    ),
    "system_call": os.getppid,
}


def launches(
    launch: Callable[[], Any], synchronize: Callable[[], Any], n_turns: int
) -> dict[str, list[float]]:
    """Time launches under each remedy, one sample of each per turn, none of them left out."""

    def launch_all() -> None:
        for _ in range(N_LAUNCHES):
            launch()
        synchronize()

    def sample(remedy: Remedy) -> float:
        with remedy(launch_all):
            synchronize()
            start = time.perf_counter_ns()
            for _ in range(N_LAUNCHES):
                launch()
            stop = time.perf_counter_ns()
        synchronize()
        return (stop - start) / N_LAUNCHES / 1e9

    launch_all()
    return _in_turns(
        {name: partial(sample, remedy) for name, remedy in REMEDIES.items()}, n_turns
    )


def reads(n_turns: int) -> dict[str, list[float]]:
    """Time a reading of each timer, and a system call, in seconds: many in a row, by `time.perf_counter`."""

    def sample(read: Callable[[], int]) -> float:
        start = time.perf_counter_ns()
        for _ in range(_N_READS):
            read()
        return (time.perf_counter_ns() - start) / _N_READS / 1e9

    return _in_turns({name: partial(sample, read) for name, read in TIMERS.items()}, n_turns)


# The turns of `gpuguide.measure.turns` leave out samples that were taken beside others. Here they stay:
# whether a remedy keeps others away is the question.
def _in_turns(
    samples: Mapping[str, Callable[[], float]], n_turns: int
) -> dict[str, list[float]]:
    order, names = generator("host", *samples), list(samples)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(n_turns):
        for i in order.permutation(len(names)):
            taken[names[i]].append(samples[names[i]]())
    return taken


def defences(root: Path = Path("/")) -> int | None:
    """Count the faults of the processor that Linux defends this machine against."""
    faults = list((root / "sys/devices/system/cpu/vulnerabilities").glob("*"))
    if not faults:
        return None
    return sum(each.read_text(encoding="utf-8").startswith("Mitigation") for each in faults)
