"""Times calls by four clocks that are never mixed: device, launch, host, end to end.

The rules are those of the guide's method page. A *timer* is made once for a call (it warms up, chooses how
to time it, and measures what an empty kernel costs); each `sample()` of it is one integer of nanoseconds
for `n_calls` calls. `time_device` and its sisters make a timer and sample it until that is enough; a study
makes all its timers first and samples them in shuffled rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from gpuguide.batching import BATCH_NS, MAX_QUEUED_CALLS, device_timer
from gpuguide.clocks import CaptureError, GpuClock, HostClock, SystemClock
from gpuguide.errors import ArgumentError
from gpuguide.metrics import median, median_interval
from gpuguide.timers import Call, DeviceTimer, HostTimer, Samples, Timer, run

__all__ = [
    "BUDGET_S",
    "CPU_BUDGET_S",
    "MAX_SAMPLES",
    "CaptureError",
    "DeviceTimer",
    "GpuClock",
    "HostClock",
    "HostTimer",
    "Samples",
    "SystemClock",
    "Timer",
    "device_timer",
    "end_to_end_timer",
    "enough",
    "host_timer",
    "keep_busy",
    "launch_timer",
    "time_device",
    "time_end_to_end",
    "time_host",
    "time_launch",
]

BUDGET_S = 0.3
"""Seconds that a cell of a study may take on the GPU."""
CPU_BUDGET_S = 1.0
"""Seconds that a cell of a study may take on the CPU."""
MAX_SAMPLES = 100
MIN_SAMPLES, MIN_SLOW_SAMPLES = 20, 3
SLOW_NS = 200_000_000
HALF_WIDTH = 0.01


def enough(samples_ns: Sequence[int], *, spent_s: float = 0.0, budget_s: float = math.inf) -> bool:
    """Return whether sampling may stop.

    Parameters
    ----------
    samples_ns
        The samples so far, in nanoseconds.
    spent_s, budget_s
        Seconds spent on them, and the most that may be spent.

    Returns
    -------
    bool
        True when the 95 % interval of the median is within 1 % of it on either side and there are 20
        samples (3 when one takes over 0.2 s); when there are 100; or when the budget is spent.

    Examples
    --------
    >>> enough([1000] * 19), enough([1000] * 20), enough([300_000_000] * 3)
    (False, True, True)
    >>> enough([1000, 2000], spent_s=0.4, budget_s=0.3)
    True
    """
    n = len(samples_ns)
    if n == 0:
        return False
    if n >= MAX_SAMPLES or spent_s >= budget_s:
        return True
    if n < (MIN_SLOW_SAMPLES if max(samples_ns) > SLOW_NS else MIN_SAMPLES):
        return False
    low, high = median_interval(samples_ns)
    return (high - low) / 2 <= HALF_WIDTH * median(samples_ns)


def launch_timer(
    call: Call, gpu: GpuClock, *, host: HostClock | None = None, budget_s: float = BUDGET_S
) -> HostTimer:
    """Return a timer of the host's part of `call`: at most 256 launches between two synchronisations.

    Fewer launches make a sample when the work behind them would fill more than a twentieth of `budget_s`:
    a full queue would make the host wait for the GPU.
    """
    timer = end_to_end_timer(call, gpu, host=host)
    round_trip_ns = max(1, timer.sample())
    n_calls = int(min(MAX_QUEUED_CALLS, max(1, budget_s * 1e9 / 20 // round_trip_ns)))
    return replace(timer, n_calls=n_calls, finish=None, after=gpu.synchronize)


def end_to_end_timer(
    call: Call, gpu: GpuClock, *, host: HostClock | None = None, reset: Call | None = None
) -> HostTimer:
    """Return a timer of one call and the synchronisation that follows it, by the host's clock."""

    def settle() -> None:
        run(reset)
        gpu.synchronize()

    timer = HostTimer(host or SystemClock(), call, before=settle, finish=gpu.synchronize, context=gpu.use)
    timer.sample()
    return timer


def host_timer(call: Call, *, host: HostClock | None = None, reset: Call | None = None) -> HostTimer:
    """Return a timer of a CPU call; calls below 1 ms are repeated within a sample unless `reset` is given.

    The call is made twice before, once when it takes over a second.
    """
    timer = HostTimer(host or SystemClock(), call, before=reset)
    first_ns = timer.sample()
    if first_ns > CPU_BUDGET_S * 1e9 or reset is not None:
        return timer
    return replace(timer, n_calls=max(1, math.ceil(BATCH_NS / max(1, timer.sample()))))


def time_device(
    call: Call | Sequence[Call],
    gpu: GpuClock,
    *,
    n_samples: int | None = None,
    cold: bool = False,
    reset: Call | None = None,
    batchable: bool = True,
    capturable: bool = True,
    budget_s: float = BUDGET_S,
    host: HostClock | None = None,
) -> Samples:
    """Return GPU times of `call`, as many as the stopping rule wants or `n_samples`; see `device_timer`."""
    make = partial(
        device_timer, call, gpu, cold=cold, reset=reset, batchable=batchable, capturable=capturable
    )
    return _collect(make, host, n_samples, budget_s)


def time_launch(
    call: Call,
    gpu: GpuClock,
    *,
    n_samples: int | None = None,
    budget_s: float = BUDGET_S,
    host: HostClock | None = None,
) -> Samples:
    """Return host times of launching `call`; see `launch_timer`."""
    return _collect(partial(launch_timer, call, gpu, host=host, budget_s=budget_s), host, n_samples, budget_s)


def time_end_to_end(
    call: Call,
    gpu: GpuClock,
    *,
    n_samples: int | None = None,
    reset: Call | None = None,
    budget_s: float = BUDGET_S,
    host: HostClock | None = None,
) -> Samples:
    """Return host times of `call` and the synchronisation after it; see `end_to_end_timer`."""
    return _collect(partial(end_to_end_timer, call, gpu, host=host, reset=reset), host, n_samples, budget_s)


def time_host(
    call: Call,
    *,
    n_samples: int | None = None,
    reset: Call | None = None,
    budget_s: float = CPU_BUDGET_S,
    host: HostClock | None = None,
) -> Samples:
    """Return host times of a CPU call; see `host_timer`.

    Examples
    --------
    >>> samples = time_host(lambda: sum(range(100)), n_samples=5)
    >>> len(samples.ns), samples.method, samples.n_calls > 1
    (5, 'host', True)
    """
    return _collect(partial(host_timer, call, host=host, reset=reset), host, n_samples, budget_s)


def keep_busy(gpu: GpuClock, *, seconds: float = 0.2, host: HostClock | None = None) -> None:
    """Read memory on the GPU for `seconds`, so that its clocks are up again after work on the CPU."""
    clock = host or SystemClock()
    end = clock.now_ns() + int(seconds * 1e9)
    with gpu.use():
        while clock.now_ns() < end:
            for _ in range(MAX_QUEUED_CALLS // 4):
                gpu.flush()
            gpu.synchronize()


def _collect(
    make: Callable[[], Timer], host: HostClock | None, n_samples: int | None, budget_s: float
) -> Samples:
    """Make a timer and sample it: `n_samples` times, or until that is enough."""
    if n_samples is not None and not 1 <= n_samples <= MAX_SAMPLES:
        raise ArgumentError(f"expected 1 to {MAX_SAMPLES} samples, got n_samples={n_samples}")
    clock = host or SystemClock()
    start = clock.now_ns()
    timer = make()
    ns: list[int] = []
    while not (
        enough(ns, spent_s=(clock.now_ns() - start) / 1e9, budget_s=budget_s)
        if n_samples is None
        else len(ns) == n_samples
    ):
        was_host_bound = timer.host_bound
        sample = timer.sample()
        if timer.host_bound and not was_host_bound:
            ns.clear()  # device times and spans do not mix
        ns.append(sample)
    return timer.samples(ns)
