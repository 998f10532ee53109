"""Times calls by four clocks that are never mixed: device, launch, host, end to end.

The rules are those of the guide's method page. A *timer* is made once for a call (it warms up, chooses how
to time it, and measures what an empty kernel costs); each `sample()` of it is one integer of nanoseconds
for `n_calls` calls. `time_device` and its sisters make a timer and sample it until that is enough; a study
makes all its timers first and samples them in shuffled rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from gpuguide.batching import MAX_QUEUED_CALLS, device_timer
from gpuguide.clocks import CaptureError, GpuClock, HostClock, SystemClock
from gpuguide.errors import ArgumentError
from gpuguide.host_timers import BUDGET_S, CPU_BUDGET_S, end_to_end_timer, host_timer, launch_timer
from gpuguide.metrics import median, median_interval
from gpuguide.timers import Call, DeviceTimer, HostTimer, Samples, Timer

__all__ = [
    "BUDGET_S",
    "CPU_BUDGET_S",
    "MAX_SAMPLES",
    "SLOW_NS",
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

MAX_SAMPLES = 100
"""Most samples of a cell; longer batches take the place of more."""
MIN_SAMPLES, MIN_SLOW_SAMPLES = 20, 3
SLOW_NS = 200_000_000
"""Nanoseconds above which a sample is slow, so that three are enough."""
HALF_WIDTH = 0.01


def enough(samples_ns: Sequence[int], *, spent_s: float = 0.0, budget_s: float = math.inf) -> bool:
    """Return whether sampling may stop.

    Parameters
    ----------
    samples_ns : sequence of int
        The samples so far, in nanoseconds.
    spent_s, budget_s : float
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
    """Return GPU times of `call`, as many as the stopping rule wants or `n_samples`.

    Parameters
    ----------
    call : callable or sequence of callables
        The work, or several such calls to rotate over.
    gpu : GpuClock
        The clock; the call runs with its stream as the current one.
    n_samples : int, optional
        How many samples, 1 to 100; by default as many as `enough` wants.
    cold, reset, batchable, capturable
        As for `device_timer`.
    budget_s : float
        Seconds for everything, the warm-up included.
    host : HostClock, optional
        The host's clock; by default the system's.

    Returns
    -------
    Samples
        Spans, marked ``host_bound``, where the host could not stay ahead of the GPU.

    Raises
    ------
    ArgumentError
        The call puts its work into another stream, or an argument is not as described.
    """
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
    """Return host times of launching `call`; see `launch_timer`.

    Parameters
    ----------
    call : callable
        Puts work into the current stream and does not wait for it.
    gpu : GpuClock
        The clock; the call runs with its stream as the current one.
    n_samples : int, optional
        How many samples, 1 to 100; by default as many as `enough` wants.
    budget_s : float
        Seconds for everything, the warm-up included.
    host : HostClock, optional
        The host's clock; by default the system's.

    Returns
    -------
    Samples
        Of up to 256 launches each.
    """
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
    """Return host times of `call` and the synchronisation after it.

    Parameters
    ----------
    call : callable
        The work, transfers included.
    gpu : GpuClock
        The clock; the call runs with its stream as the current one.
    n_samples : int, optional
        How many samples, 1 to 100; by default as many as `enough` wants.
    reset : callable, optional
        Restores what the call changes; called before each sample, untimed.
    budget_s : float
        Seconds for everything, the warm-up included.
    host : HostClock, optional
        The host's clock; by default the system's.

    Returns
    -------
    Samples
        Of one call each.
    """
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

    Parameters
    ----------
    call : callable
        The work.
    n_samples : int, optional
        How many samples, 1 to 100; by default as many as `enough` wants.
    reset : callable, optional
        Restores what the call changes; called before each sample, untimed.
    budget_s : float
        Seconds for everything, the warm-up included.
    host : HostClock, optional
        The host's clock; by default the system's.

    Returns
    -------
    Samples
        Each lasting about 1 ms or more, unless `reset` is given.

    Examples
    --------
    >>> samples = time_host(lambda: sum(range(100)), n_samples=5)
    >>> len(samples.ns), samples.method, samples.n_calls > 1
    (5, 'host', True)
    """
    return _collect(partial(host_timer, call, host=host, reset=reset), host, n_samples, budget_s)


def keep_busy(gpu: GpuClock, *, seconds: float = 0.2, host: HostClock | None = None) -> None:
    """Read memory on the GPU for `seconds`, so that its clocks are up again after work on the CPU.

    Parameters
    ----------
    gpu : GpuClock
        The clock.
    seconds : float
        How long.
    host : HostClock, optional
        The host's clock; by default the system's.
    """
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
