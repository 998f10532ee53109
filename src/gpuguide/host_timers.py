"""Makes the timers that read the host's clock: launches, calls with their synchronisation, CPU calls."""

from __future__ import annotations

import math
from dataclasses import replace

from gpuguide.batching import BATCH_NS, MAX_QUEUED_CALLS
from gpuguide.clocks import GpuClock, HostClock, SystemClock
from gpuguide.timers import Call, HostTimer, run

__all__ = ["BUDGET_S", "CPU_BUDGET_S", "end_to_end_timer", "host_timer", "launch_timer"]

BUDGET_S = 0.3
"""Seconds that a cell of a study may take on the GPU."""
CPU_BUDGET_S = 0.5
"""Seconds that the samples of a cell may take on the CPU; a slow call gets its three samples all the same."""


def launch_timer(
    call: Call, gpu: GpuClock, *, host: HostClock | None = None, budget_s: float = BUDGET_S
) -> HostTimer:
    """Return a timer of the host's part of `call`: at most 256 launches between two synchronisations.

    Fewer launches make a sample when the work behind them would fill more than a sixtieth of `budget_s`:
    a full queue would make the host wait for the GPU.

    Parameters
    ----------
    call : callable
        Puts work into the current stream and does not wait for it.
    gpu : GpuClock
        The clock; the call runs with its stream as the current one.
    host : HostClock, optional
        The host's clock; by default the system's.
    budget_s : float
        Seconds that all samples may take.

    Returns
    -------
    HostTimer
        Warmed up by two calls.
    """
    timer = end_to_end_timer(call, gpu, host=host)
    round_trip_ns = max(1, timer.sample())
    n_calls = int(min(MAX_QUEUED_CALLS, max(1, budget_s * 1e9 / 60 // round_trip_ns)))
    return replace(timer, n_calls=n_calls, finish=None, after=gpu.synchronize)


def end_to_end_timer(
    call: Call, gpu: GpuClock, *, host: HostClock | None = None, reset: Call | None = None
) -> HostTimer:
    """Return a timer of one call and the synchronisation that follows it, by the host's clock.

    Parameters
    ----------
    call : callable
        The work, transfers included.
    gpu : GpuClock
        The clock; the call runs with its stream as the current one.
    host : HostClock, optional
        The host's clock; by default the system's.
    reset : callable, optional
        Restores what the call changes; called before each sample, untimed.

    Returns
    -------
    HostTimer
        Warmed up by one call.
    """

    def settle() -> None:
        run(reset)
        gpu.synchronize()

    timer = HostTimer(host or SystemClock(), call, before=settle, finish=gpu.synchronize, context=gpu.use)
    timer.sample()
    return timer


def host_timer(call: Call, *, host: HostClock | None = None, reset: Call | None = None) -> HostTimer:
    """Return a timer of a CPU call; calls below 1 ms are repeated within a sample unless `reset` is given.

    Parameters
    ----------
    call : callable
        The work.
    host : HostClock, optional
        The host's clock; by default the system's.
    reset : callable, optional
        Restores what the call changes; called before each sample, untimed.

    Returns
    -------
    HostTimer
        Warmed up by two calls, or by one that took over a second.
    """
    timer = HostTimer(host or SystemClock(), call, before=reset)
    first_ns = timer.sample()
    if first_ns > CPU_BUDGET_S * 1e9 or reset is not None:
        return timer
    return replace(timer, n_calls=max(1, math.ceil(BATCH_NS / max(1, timer.sample()))))
