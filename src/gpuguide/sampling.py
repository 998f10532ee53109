"""Cells: one variant at one size on one clock, with its timer and the samples taken so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuguide.gate import Trial
from gpuguide.intervals import is_bimodal
from gpuguide.plan import Variant
from gpuguide.results import Measurement
from gpuguide.timing import (
    MAX_SAMPLES,
    SLOW_NS,
    DeviceTimer,
    GpuClock,
    HostClock,
    HostTimer,
    Timer,
    device_timer,
    end_to_end_timer,
    enough,
    host_timer,
    launch_timer,
)

__all__ = ["MIN_ROUNDS", "Cell", "KeptCall", "make_cells"]

MIN_ROUNDS = 5
"""Rounds that every cell is sampled in, unless its budget is spent before."""

_MIN_SLOW_ROUNDS = 3
_LONG_NS = 10_000_000
_HOST_WARM_NS = 100_000_000


@dataclass
class KeptCall:
    """A call that allocates its result, with the last result kept for the check after timing.

    The old result is dropped before the new one is made, so that the memory pool hands out the same block.

    Attributes
    ----------
    call : callable
        Without arguments.
    result : object
        What it returned last.
    """

    call: Callable[[], Any]
    result: Any = None

    def __call__(self) -> Any:
        """Make the call and keep what it returns."""
        self.result = None
        self.result = self.call()
        return self.result


@dataclass
class Cell:
    """One variant at one size on one clock, while it is measured.

    Attributes
    ----------
    variant : Variant
        What is measured.
    clock : str
        ``"device"``, ``"launch"``, ``"end_to_end"`` or ``"host"``.
    timer : Timer
        Takes the samples.
    budget_s : float
        Seconds that all samples together may take.
    warm : bool
        Whether the first sample of each turn is dropped when it is short: others used the cache before.
    """

    variant: Variant
    clock: str
    timer: Timer
    budget_s: float
    warm: bool = True
    ns: list[int] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spent_s: float = 0.0

    def take(self, number: int, n: int, host: HostClock) -> None:
        """Take up to `n` samples in one round, within a share of the budget.

        Parameters
        ----------
        number : int
            The round.
        n : int
            Most samples; 100 in all.
        host : HostClock
            Tells what it costs.
        """
        begin = before = host.now_ns()
        turn_ns = self.budget_s / MIN_ROUNDS * 1e9
        pending = self._sample() if self.warm and n > 1 else None
        if pending is not None and pending < _LONG_NS:
            pending = None
        for _ in range(min(n, MAX_SAMPLES - len(self.ns))):
            sample = pending or self._sample()
            pending = None
            self.ns.append(sample)
            self.rounds.append(number)
            started, before = before, host.now_ns()
            if before - begin + (before - started) > turn_ns:  # another one would not fit
                break
        self.spent_s += (host.now_ns() - begin) / 1e9

    def _sample(self) -> int:
        was_host_bound = self.timer.host_bound
        sample = max(1, self.timer.sample())
        if self.timer.host_bound and not was_host_bound:
            self.ns.clear()  # device times and spans do not mix
            self.rounds.clear()
        return sample

    def discard(self, number: int) -> None:
        """Forget the samples of one round."""
        kept = [(ns, at) for ns, at in zip(self.ns, self.rounds, strict=True) if at != number]
        self.ns, self.rounds = [ns for ns, _ in kept], [at for _, at in kept]

    def note(self, text: str) -> None:
        """Add a warning once."""
        if text not in self.notes:
            self.notes.append(text)

    def finished(self, n_rounds: int) -> bool:
        """Say whether enough samples were taken.

        Parameters
        ----------
        n_rounds : int
            Rounds that are over.

        Returns
        -------
        bool
            True when the budget is spent and there were five rounds (three, when a sample takes over 0.2 s);
            from the fifth round on also by the stopping rule of `timing.enough`.
        """
        if not self.ns:
            return False
        if self.spent_s >= self.budget_s:
            return n_rounds >= (_MIN_SLOW_ROUNDS if max(self.ns) > SLOW_NS else MIN_ROUNDS)
        return n_rounds >= MIN_ROUNDS and enough(self.ns)

    def measurement(self, size: int, dtype: np.dtype[Any], cache: str) -> Measurement:
        """Return what was measured as a record.

        Parameters
        ----------
        size : int
            The size.
        dtype : numpy dtype
            Of the study, for the traffic.
        cache : str
            ``"warm"`` or ``"cold"``.

        Returns
        -------
        Measurement
            With the variant's traffic, unless the clock is the launch's.
        """
        samples = self.timer.samples(self.ns)
        traffic = self.variant.traffic if self.clock != "launch" else None
        if len(self.ns) >= 20 and is_bimodal(self.ns):
            self.note("two modes: the median stands for neither")
        return Measurement(
            self.variant.name,
            size,
            self.clock,
            tuple(self.ns),
            tuple(self.rounds),
            n_calls=samples.n_calls,
            method=samples.method,
            cache=cache if self.clock == "device" else "warm",
            host_bound=samples.host_bound,
            floor_ns=samples.floor_ns,
            traffic=None if traffic is None else traffic(size, dtype),
            notes=(*samples.notes, *self.notes),
        )


def make_cells(
    trial: Trial, variant: Variant, gpu: GpuClock | None, host: HostClock, *, cache: str, budget_s: float
) -> tuple[list[Cell], KeptCall | None]:
    """Make the timers of one variant at one size: they warm up and choose how to time it.

    Parameters
    ----------
    trial : Trial
        The random inputs, which the variant has passed.
    variant : Variant
        Any but those of clock ``"first_call"``.
    gpu, host
        The clocks.
    cache : str
        ``"cold"`` flushes the L2 before each device sample.
    budget_s : float
        Seconds for the samples of each cell.

    Returns
    -------
    list of Cell
        For the device clock the launch first, so that the last output is that of a device sample.
    KeptCall or None
        Holds the last result of a variant that allocates it.
    """
    with trial.on_stream(variant):
        trial.buffers(variant).restore()  # how long a call takes may depend on what it finds
    kept = KeptCall(trial.call(variant)) if variant.allocates else None
    call = kept or trial.call(variant)
    reset = trial.buffers(variant).reset if variant.mutates else None
    if gpu is None or not variant.needs_gpu:
        timer: HostTimer | DeviceTimer = _host_timer(call, host, reset, trial.call_ns.get(variant.name, 0))
        return [Cell(variant, "host", timer, budget_s)], kept
    if variant.clock == "end_to_end":
        timer = end_to_end_timer(call, gpu, host=host, reset=reset)
        return [Cell(variant, "end_to_end", timer, budget_s)], kept
    launch = launch_timer(call, gpu, host=host, budget_s=budget_s / 2)
    timer = device_timer(
        call,
        gpu,
        cold=cache == "cold",
        reset=reset,
        batchable=variant.batchable,
        capturable=not variant.allocates,
    )
    warm = cache == "warm"
    return [Cell(variant, "launch", launch, budget_s), Cell(variant, "device", timer, budget_s, warm)], kept


def _host_timer(call: Callable[[], Any], host: HostClock, reset: Any, checked_ns: int) -> HostTimer:
    # A slow call was warmed up by the gate: two more of it would be most of what the cell may take.
    if checked_ns > _HOST_WARM_NS:
        return HostTimer(host, call, before=reset)
    return host_timer(call, host=host, reset=reset)
