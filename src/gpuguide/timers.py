"""Timers: objects that take one sample at a time, on the device's clock or on the host's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from gpuguide.clocks import MAX_DELAY_NS, GpuClock, HostClock, quiet

__all__ = ["Call", "DeviceTimer", "HostTimer", "Samples", "Timer", "run"]

Call = Callable[[], Any]

DELAY_NS = 200_000
MISSES_AT_LIMIT = 3


@dataclass(frozen=True)
class Samples:
    """What a timer measured.

    Attributes
    ----------
    ns
        One total per sample, in nanoseconds, each of `n_calls` calls.
    n_calls
        Calls per sample.
    method
        ``"events"``, ``"graph"``, ``"batch"``, ``"host"`` or ``"process"``.
    host_bound
        True when the host could not stay ahead of the GPU: the samples are spans, launches included.
    floor_ns
        Nanoseconds that an empty kernel takes by the same method, or None where that means nothing.
    notes
        What a reader of the numbers should know, for example why no graph was used.

    Examples
    --------
    >>> Samples((2_000, 4_000), n_calls=2).seconds
    (1e-06, 2e-06)
    """

    ns: tuple[int, ...]
    n_calls: int = 1
    method: str = "events"
    host_bound: bool = False
    floor_ns: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> tuple[float, ...]:
        """Seconds per call, one for each sample."""
        return tuple(ns / self.n_calls / 1e9 for ns in self.ns)


class Timer(Protocol):
    """Anything that takes samples: `DeviceTimer` or `HostTimer`."""

    @property
    def host_bound(self) -> bool:
        """True when the samples are spans."""
        ...

    def sample(self) -> int:
        """Return the nanoseconds of one sample."""
        ...

    def samples(self, ns: Sequence[int]) -> Samples:
        """Return `ns`, taken by this timer, together with how they were taken."""
        ...


@dataclass
class DeviceTimer:
    """GPU time of `launch`, by two events behind a delay that hides the host's part.

    Attributes
    ----------
    gpu, launch
        The clock, and what it times: one call, many, or the replay of a graph of many.
    n_calls, method
        How many calls one `launch` stands for, and by which method.
    cold, reset
        Whether the L2 cache is flushed, and what is called, untimed, before each sample.
    delay_ns
        Delay put before the work; doubled whenever the host was too late.
    host_bound
        Set when the longest delay was too short three times; from then on samples are spans without delay.
    """

    gpu: GpuClock
    launch: Call
    n_calls: int = 1
    method: str = "events"
    cold: bool = False
    reset: Call | None = None
    delay_ns: int = DELAY_NS
    host_bound: bool = False
    floor_ns: int | None = None
    notes: tuple[str, ...] = ()

    def sample(self) -> int:
        """Return the nanoseconds of one launch; samples for which the host was late are taken again."""
        misses = 0
        while True:
            ns, hidden = self._attempt()
            if hidden or self.host_bound:
                return ns
            if self.delay_ns < MAX_DELAY_NS:
                self.delay_ns = min(2 * self.delay_ns, MAX_DELAY_NS)
            else:
                misses += 1
                self.host_bound = misses == MISSES_AT_LIMIT

    def samples(self, ns: Sequence[int]) -> Samples:
        """Return `ns` with this timer's method, floor and notes."""
        return Samples(tuple(ns), self.n_calls, self.method, self.host_bound, self.floor_ns, self.notes)

    def _attempt(self) -> tuple[int, bool]:
        """Launch once; return the nanoseconds and whether the host returned before the work began."""
        gpu = self.gpu
        with gpu.use(), quiet():
            if self.reset is not None:
                self.reset()
            if self.cold:
                gpu.flush()
            if not self.host_bound:
                gpu.delay(self.delay_ns)
            start = gpu.record()
            self.launch()
            stop = gpu.record()
            hidden = gpu.pending(start)
            return gpu.elapsed_ns(start, stop), hidden


@dataclass
class HostTimer:
    """Host time of `n_calls` calls.

    Attributes
    ----------
    host, call, n_calls
        The clock, what it times, and how many calls make one sample.
    before, finish, after
        Called before the clock starts, before it stops, and after it stopped.
    context
        Entered around each sample (a GPU's stream, or nothing).
    """

    host: HostClock
    call: Call
    n_calls: int = 1
    before: Call | None = None
    finish: Call | None = None
    after: Call | None = None
    context: Callable[[], AbstractContextManager[Any]] = nullcontext
    host_bound: bool = False

    def sample(self) -> int:
        """Return the nanoseconds of one sample."""
        call, repeats = self.call, range(self.n_calls)
        with self.context(), quiet():
            run(self.before)
            start = self.host.now_ns()
            for _ in repeats:
                call()
            run(self.finish)
            stop = self.host.now_ns()
            run(self.after)
        return stop - start

    def samples(self, ns: Sequence[int]) -> Samples:
        """Return `ns` as samples of the method ``"host"``."""
        return Samples(tuple(ns), self.n_calls, "host")


def run(action: Call | None) -> None:
    """Call `action` unless it is None."""
    if action is not None:
        action()
