"""Times calls with four clocks that are never mixed: device, launch, host, end to end.

The rules are those of the guide's method page. A *timer* is made once for a call: it warms up, chooses how
to time it, and measures what an empty kernel costs. Each `sample()` of it is the nanoseconds of `n_calls`
calls. `time_device` and `time_host` make a timer and sample it until that is enough; a study makes all its
timers first and samples them in shuffled rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle
from statistics import median
from typing import Any, Protocol

from gpuguide.errors import ArgumentError
from gpuguide.measure.clocks import MAX_DELAY_NS, CaptureError, GpuClock, HostClock, SystemClock, quiet
from gpuguide.measure.host_pace import SHARED_NOTE, TRIES, taken_alone
from gpuguide.measure.stopping import MAX_SAMPLES, enough

__all__ = [
    "BUDGET_S",
    "CPU_BUDGET_S",
    "MAX_QUEUED_CALLS",
    "Call",
    "DeviceTimer",
    "HostTimer",
    "NoWorkError",
    "Samples",
    "Timer",
    "collect",
    "collect_enough",
    "device_timer",
    "end_to_end_timer",
    "host_timer",
    "keep_busy",
    "launch_timer",
    "next_sample",
    "time_device",
    "time_host",
]

Call = Callable[[], Any]

BUDGET_S = 0.2
"""Seconds that a cell of a study may take on the GPU."""
CPU_BUDGET_S = 0.3
"""Seconds that the samples of a cell may take on the CPU; a slow call still gets its three samples."""
MAX_QUEUED_CALLS = 256
"""The most launches between two synchronisations: the queue holds about a thousand."""

_SHORT_NS = 50_000  # calls below this are timed many at once
_BATCH_NS = 1_000_000  # how long many calls together should last
_MAX_GRAPH_CALLS = 2_000
# The initial delay: longer than the host needs for a launch, 8 to 81 us on the GPU build machine.
_DELAY_NS = 200_000
# Once or twice the host may have been late by chance.
_MISSES_AT_LIMIT = 3
_SETTLED_NS = 100_000_000  # a call that takes longer is not called again to warm up or to estimate it
_SLOW_FIRST_NS = 500_000_000  # a first call may compile; above this it is not made again to find out
_LONG_NS = 20_000_000  # the host's pace changes within such a sample, which loops at its ends cannot see


@dataclass(frozen=True)
class Samples:
    """What a timer measured."""

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


class NoWorkError(ArgumentError):
    """A call put no work into the clock's stream."""


class Timer(Protocol):
    """Anything that takes samples: `DeviceTimer` or `HostTimer`."""

    @property
    def host_bound(self) -> bool:
        """True when the samples are spans."""
        ...

    @property
    def pace_ns(self) -> int:
        """Time of the host's pace loop beside the last sample; 0 if the host's pace does not matter."""
        ...

    def sample(self) -> int:
        """Return the nanoseconds of one sample."""
        ...

    def samples(self, ns: Sequence[int]) -> Samples:
        """Return the samples `ns` of this timer, together with how they were taken."""
        ...


@dataclass
class DeviceTimer:
    """GPU time of `launch`, by two events behind a delay that hides the host's part."""

    gpu: GpuClock
    launch: Call
    n_calls: int = 1
    method: str = "events"
    cold: bool = False
    reset: Call | None = None
    delay_ns: int = _DELAY_NS
    host_bound: bool = False
    floor_ns: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def pace_ns(self) -> int:
        """0: the GPU's clock does not run on the host's processor."""
        return 0

    def sample(self) -> int:
        """Return the nanoseconds of one launch; samples for which the host was late are taken again."""
        misses = 0
        while True:
            ns, hidden = self._attempt()
            if hidden or self.host_bound:
                return ns
            # The host was late: this sample includes some of its time and is dropped.
            if self.delay_ns < MAX_DELAY_NS:
                self.delay_ns = min(2 * self.delay_ns, MAX_DELAY_NS)
            else:
                misses += 1
                self.host_bound = misses == _MISSES_AT_LIMIT

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
            # A span must hold the whole launch; a delay would hide part of it.
            if not self.host_bound:
                gpu.delay(self.delay_ns)
            start = gpu.record()
            self.launch()
            stop = gpu.record()
            # Tested before anything waits, because after `elapsed_ns` no event is pending.
            hidden = gpu.pending(start)
            return gpu.elapsed_ns(start, stop), hidden


@dataclass
class HostTimer:
    """Host time of `n_calls` calls."""

    host: HostClock
    call: Call
    n_calls: int = 1
    before: Call | None = None
    finish: Call | None = None
    after: Call | None = None
    # A factory, so that the reference does not print the class itself as the default.
    context: Callable[[], AbstractContextManager[Any]] = field(default_factory=lambda: nullcontext)
    host_bound: bool = False
    threads: int = 1
    pace_ns: int = 0
    shortest_ns: int | None = None

    def sample(self) -> int:
        """Return the nanoseconds of one sample, of the first that was taken alone or of the last of four."""
        if self.threads > 1:
            ns, self.pace_ns = self._attempt(lambda: 0)
            return ns
        pace = self.host.pace
        once = self.shortest_ns is None or self.shortest_ns > _LONG_NS  # the first one warms up
        take = partial(self._attempt, pace.read)
        ns, self.pace_ns = taken_alone(take, pace, tries=1 if once else TRIES)
        return ns

    def _attempt(self, read_pace: Callable[[], int]) -> tuple[int, int]:
        """Return the nanoseconds of one sample, and of the pace loop beside it."""
        # Looked up and made before the clock starts.
        call, repeats = self.call, range(self.n_calls)
        with self.context(), quiet():
            _run(self.before)
            pace_before = read_pace()
            start = self.host.now_ns()
            for _ in repeats:
                call()
            _run(self.finish)
            stop = self.host.now_ns()
            pace_after = read_pace()  # at once: the host's pace may change during `after`
            _run(self.after)
        ns = stop - start
        self.shortest_ns = ns if self.shortest_ns is None else min(ns, self.shortest_ns)
        return ns, max(pace_before, pace_after)

    def samples(self, ns: Sequence[int]) -> Samples:
        """Return `ns` as samples of the method ``"host"``."""
        return Samples(tuple(ns), self.n_calls, "host")


def _run(action: Call | None) -> None:
    if action is not None:
        action()


def device_timer(
    call: Call | Sequence[Call],
    gpu: GpuClock,
    *,
    cold: bool = False,
    reset: Call | None = None,
    batchable: bool = True,
    capturable: bool = True,
) -> DeviceTimer:
    """Warm up, choose how to time `call` on the device, and return the timer."""
    calls = _as_calls(call)
    launch: Call = calls[0] if len(calls) == 1 else _rotation(calls)
    with gpu.use():
        for _ in calls:
            _run(reset)
            launch()
        gpu.synchronize()
    timer = DeviceTimer(gpu, launch, cold=cold, reset=reset)
    call_ns = _estimate(timer)
    # The second of two calls would find what the first one changed, or left in the cache.
    alone = not batchable or reset is not None or (cold and len(calls) == 1)
    if call_ns < _SHORT_NS and not timer.host_bound and not alone:
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
    """Return the smallest of three samples (of one, if it is long); this also fixes the delay."""
    first = timer.sample()
    return first if first > 10 * _BATCH_NS else min(first, timer.sample(), timer.sample())


def _many(timer: DeviceTimer, call_ns: int, n_sets: int, capturable: bool) -> DeviceTimer:
    """Return a timer of many calls to replace `timer`, whose single call is too short."""
    note = "not captured: the call is declared not capturable"
    if capturable:
        try:
            return _not_nothing(_graph(timer, call_ns, n_sets))
        except CaptureError as error:
            note = f"not captured: {error}"
    return replace(_batch(timer, call_ns, n_sets), notes=(*timer.notes, note))


def _graph(timer: DeviceTimer, call_ns: int, n_sets: int) -> DeviceTimer:
    """Return a timer of a graph that lasts at least 1 ms; inside it calls are shorter than one alone."""
    # A guess from calls timed alone; the time of the graph itself then shows how many calls it needs.
    n = _multiple(_BATCH_NS / max(1, call_ns), n_sets, _MAX_GRAPH_CALLS)
    graph = _captured(timer, n)
    longer = _multiple(n * _BATCH_NS / max(1, graph.sample()), n_sets, _MAX_GRAPH_CALLS)
    return graph if longer <= n else _captured(timer, longer)


def _not_nothing(timer: DeviceTimer) -> DeviceTimer:
    """Return `timer`; raise if its graph is faster than empty kernels, and so must be empty."""
    call_ns = timer.sample() / timer.n_calls
    floor_ns = _floor(timer.gpu, "graph")
    # Work that went into another stream leaves the graph empty: an error, not a fast kernel.
    if call_ns < floor_ns / 2:
        raise NoWorkError(
            f"expected work on the clock's stream; {timer.n_calls} captured calls took {call_ns:.0f} ns each "
            f"and an empty kernel takes {floor_ns} ns. Launch on CuPy's current stream; "
            "a launch that names no stream goes there (kernel[grid, block](x) in Numba)."
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
    """Return a timer of as many calls as the host can safely launch under one delay.

    A batch that needs the longest delay has no reserve if the host is slower later.
    """
    n = _multiple(_BATCH_NS / max(1, call_ns), n_sets, MAX_QUEUED_CALLS)
    while n > 1:
        batch = replace(timer, launch=partial(_repeated, timer.launch, n), n_calls=n, method="batch")
        batch.sample()
        if not batch.host_bound and batch.delay_ns < MAX_DELAY_NS:
            return batch
        # Fewer than one call for each set of buffers would leave some of them out.
        if n <= n_sets:
            break
        n = _multiple(n / 2, n_sets, n // 2)
    return timer


def _multiple(n: float, of: int, limit: int) -> int:
    """Return the smallest multiple of `of` from `n` up, but at most `limit` (or `of` itself)."""
    return of * max(1, min(math.ceil(n / of), limit // of))


def _floor(gpu: GpuClock, method: str) -> int:
    """Return the nanoseconds of an empty kernel timed by `method`, measured once for each clock."""
    # An empty kernel costs the same for every variant, so one measurement serves all of them.
    if method not in gpu.floors:
        timer = DeviceTimer(gpu, gpu.empty)
        _estimate(timer)
        if method == "graph":
            timer = _graph(timer, 1_000, 1)
        elif method == "batch":
            timer = _batch(timer, 1_000, 1)
        gpu.floors[method] = round(median(collect(timer, 11).ns) / timer.n_calls)
    return gpu.floors[method]


def launch_timer(
    call: Call,
    gpu: GpuClock,
    *,
    host: HostClock | None = None,
    budget_s: float = BUDGET_S,
    known_ns: int = 0,
) -> HostTimer:
    """Return a timer of the host's part of `call`: at most 256 launches between two synchronisations.

    Fewer launches make a sample when the work behind them would fill more than a fortieth of `budget_s`:
    a full queue would make the host wait for the GPU.
    """
    # Its context, stream and way of settling are the same; only the clock stops at another place.
    timer = end_to_end_timer(call, gpu, host=host, known_ns=known_ns)
    round_trip_ns = known_ns if known_ns > _SETTLED_NS else max(1, timer.sample())
    n_calls = int(min(MAX_QUEUED_CALLS, max(1, budget_s * 1e9 / 40 // round_trip_ns)))
    # The clock stops before the wait: only the host's part counts.
    return replace(timer, n_calls=n_calls, finish=None, after=gpu.synchronize)


def end_to_end_timer(
    call: Call,
    gpu: GpuClock,
    *,
    host: HostClock | None = None,
    reset: Call | None = None,
    known_ns: int = 0,
) -> HostTimer:
    """Return a timer of one call and the synchronisation that follows it, by the host's clock."""

    def settle() -> None:
        _run(reset)
        gpu.synchronize()

    timer = HostTimer(host or SystemClock(), call, before=settle, finish=gpu.synchronize, context=gpu.use)
    if known_ns <= _SETTLED_NS:
        timer.sample()
    return timer


def host_timer(
    call: Call,
    *,
    host: HostClock | None = None,
    reset: Call | None = None,
    threads: int = 1,
    known_ns: int = 0,
) -> HostTimer:
    """Return a timer of a CPU call; calls below 1 ms are repeated within a sample unless `reset` is given."""
    timer = HostTimer(host or SystemClock(), call, before=reset, threads=threads)
    if known_ns > _SETTLED_NS:
        return timer
    first_ns = timer.sample()
    # Calls that change their input would need a reset in between, inside the timed span.
    if first_ns > _SLOW_FIRST_NS or reset is not None:
        return timer
    return replace(timer, n_calls=max(1, math.ceil(_BATCH_NS / max(1, timer.sample()))))


def next_sample(timer: Timer, *before: list[int]) -> int:
    """Return the next sample of a timer; first empty the lists `before` if it cannot be combined with them.

    A device timer whose host cannot keep ahead turns to spans, and device times and spans do not mix.
    """
    was_host_bound = timer.host_bound
    sample = timer.sample()
    if timer.host_bound and not was_host_bound:
        for samples in before:
            samples.clear()
    return sample


def collect(timer: Timer, n_samples: int) -> Samples:
    """Take this many samples of a timer; return those that can be kept, see `HostPace.kept`."""
    ns: list[int] = []
    paces: list[int] = []
    while len(ns) < n_samples:
        ns.append(next_sample(timer, ns, paces))
        paces.append(timer.pace_ns)
    return _kept(timer, ns, paces)


def collect_enough(timer: Timer, host: HostClock, *, budget_s: float, since_ns: int | None = None) -> Samples:
    """Return samples of a timer until they are `enough`; the budget began at `since_ns`, by default now."""
    start_ns = host.now_ns() if since_ns is None else since_ns
    ns: list[int] = []
    paces: list[int] = []
    while len(ns) < MAX_SAMPLES and not enough(
        _kept(timer, ns, paces).ns, spent_s=(host.now_ns() - start_ns) / 1e9, budget_s=budget_s
    ):
        ns.append(next_sample(timer, ns, paces))
        paces.append(timer.pace_ns)
    return _kept(timer, ns, paces)


def _kept(timer: Timer, ns: list[int], paces: list[int]) -> Samples:
    """Return the samples taken alone, or all of them with a note when those are too few."""
    if not isinstance(timer, HostTimer):
        return timer.samples(ns)
    chosen, shared = timer.host.pace.kept(paces)
    samples = timer.samples([ns[i] for i in chosen])
    return replace(samples, notes=(*samples.notes, SHARED_NOTE)) if shared else samples


def _time(
    make: Callable[[], Timer], host: HostClock | None, n_samples: int | None, budget_s: float
) -> Samples:
    """Make a timer and sample it: `n_samples` times, or until that is enough."""
    if n_samples is not None and not 1 <= n_samples <= MAX_SAMPLES:
        raise ArgumentError(f"expected 1 to {MAX_SAMPLES} samples, got n_samples={n_samples}")
    clock = host or SystemClock()
    # Before the timer is made, because the budget includes its warm-up.
    start_ns = clock.now_ns()
    timer = make()
    if n_samples is not None:
        return collect(timer, n_samples)
    return collect_enough(timer, clock, budget_s=budget_s, since_ns=start_ns)


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
    """Return GPU times of `call`: as many as the stopping rule asks for, or `n_samples`."""
    make = partial(
        device_timer, call, gpu, cold=cold, reset=reset, batchable=batchable, capturable=capturable
    )
    return _time(make, host, n_samples, budget_s)


def time_host(
    call: Call,
    *,
    n_samples: int | None = None,
    reset: Call | None = None,
    budget_s: float = CPU_BUDGET_S,
    host: HostClock | None = None,
) -> Samples:
    """Return host times of a CPU call; see `host_timer`."""
    return _time(partial(host_timer, call, host=host, reset=reset), host, n_samples, budget_s)


def keep_busy(gpu: GpuClock, *, seconds: float = 0.2, host: HostClock | None = None) -> None:
    """Read memory on the GPU for `seconds`, to bring its clocks up again after work on the CPU."""
    clock = host or SystemClock()
    end = clock.now_ns() + int(seconds * 1e9)
    with gpu.use():
        while clock.now_ns() < end:
            # On an H200 about two milliseconds of reading between two looks at the clock.
            for _ in range(MAX_QUEUED_CALLS // 4):
                gpu.flush()
            gpu.synchronize()
