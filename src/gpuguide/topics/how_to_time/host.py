"""What calms a host: the same launches as they come, and after each of the usual remedies."""

import os
import time
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from gpuguide.measure.clocks import quiet
from gpuguide.measure.plan import generator

N_LAUNCHES = 64
WARM_S = 0.1
N_READS = 1000


@contextmanager
def _pinned(_):
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
def _warmed(launch_all):
    """Keep launching for a while beforehand."""
    end = time.perf_counter() + WARM_S
    while time.perf_counter() < end:
        launch_all()
    yield


@contextmanager
def _all_three(launch_all):
    with quiet(), _pinned(launch_all), _warmed(launch_all):
        yield


REMEDIES = {
    "plain": lambda _: nullcontext(),
    "collector_off": lambda _: quiet(),
    "pinned": _pinned,
    "warmed": _warmed,
    "all_three": _all_three,
}
# The counter without the corrections that keep the clock in step with the time of day.
RAW = getattr(time, "CLOCK_MONOTONIC_RAW", time.CLOCK_MONOTONIC)
TIMERS = {
    "perf_counter": time.perf_counter_ns,
    "raw": lambda: time.clock_gettime_ns(RAW),
    "system_call": os.getppid,
}


def launches(launch, synchronize, n_turns):
    """Time launches under each remedy, one sample of each per turn, none of them left out."""

    def launch_all():
        for _ in range(N_LAUNCHES):
            launch()
        synchronize()

    def sample(remedy):
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


def reads(n_turns):
    """Time a reading of each timer, and a system call, in seconds: many in a row, by `time.perf_counter`."""

    def sample(read):
        start = time.perf_counter_ns()
        for _ in range(N_READS):
            read()
        return (time.perf_counter_ns() - start) / N_READS / 1e9

    return _in_turns({name: partial(sample, read) for name, read in TIMERS.items()}, n_turns)


# The turns of `gpuguide.measure.turns` leave out samples that were taken beside others. Here they stay:
# whether a remedy keeps others away is the question.
def _in_turns(samples, n_turns):
    order, names = generator("host", *samples), list(samples)
    turns = [
        {names[i]: samples[names[i]]() for i in order.permutation(len(names))}
        for _ in range(n_turns)
    ]
    return {name: [turn[name] for turn in turns] for name in names}


def defences(root=Path("/")):
    """Count the faults of the processor that Linux defends this machine against."""
    faults = list((root / "sys/devices/system/cpu/vulnerabilities").glob("*"))
    if not faults:
        return None
    return sum(fault.read_text(encoding="utf-8").startswith("Mitigation") for fault in faults)
