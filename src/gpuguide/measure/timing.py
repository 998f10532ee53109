"""Times calls with four clocks that are never mixed: device, launch, host, end to end.

The rules are those of the guide's method page. A *timer* is made once for a call: it warms up, chooses how
to time it, and measures what an empty kernel costs. Each `sample()` of it is the nanoseconds of `n_calls`
calls. `time_device` makes a timer and samples it until that is enough; a study makes all its timers first
and samples them in shuffled rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import Any, ClassVar, TypeVar

from gpuguide.errors import ArgumentError
from gpuguide.measure.clocks import MAX_DELAY_NS, CaptureError, GpuClock, HostClock, SystemClock, quiet
from gpuguide.measure.host_pace import SHARED_NOTE, TRIES, taken_alone
from gpuguide.measure.stopping import MAX_SAMPLES, enough

Call = Callable[[], Any]
T = TypeVar("T")
R = TypeVar("R")

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
    host_bound: bool = False  # the samples are spans
    floor_ns: int | None = None
    notes: tuple[str, ...] = ()
    pace_ns: ClassVar[int] = 0  # the GPU's clock does not run on the host's processor

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
        """Return nanoseconds with this timer's method, floor and notes."""
        return Samples(tuple(ns), self.n_calls, self.method, self.host_bound, self.floor_ns, self.notes)

    def kept(self, paces: Sequence[int]) -> tuple[list[int], bool]:
        """Choose all samples, since the host's pace does not matter."""
        return list(range(len(paces))), False

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
    """Host time of `n_calls` calls, each sample beside a loop that shows the host's pace."""

    host: HostClock
    call: Call
    n_calls: int = 1
    before: Call | None = None
    finish: Call | None = None
    after: Call | None = None
    context: Callable[[], AbstractContextManager[Any]] = field(default=nullcontext)
    host_bound: ClassVar[bool] = False
    threads: int = 1
    pace_ns: int = 0  # of the loop beside the last sample
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

    def samples(self, ns: Sequence[int]) -> Samples:
        """Return nanoseconds as samples of the method ``"host"``."""
        return Samples(tuple(ns), self.n_calls, "host")

    def kept(self, paces: Sequence[int]) -> tuple[list[int], bool]:
        """Choose the samples taken alone, or say that they are too few."""
        return self.host.pace.kept(paces)

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


Timer = DeviceTimer | HostTimer


def _run(action: Call | None) -> None:
    if action is not None:
        action()


def device_timer(
    call: Call,
    gpu: GpuClock,
    *,
    cold: bool = False,
    reset: Call | None = None,
    batchable: bool = True,
    capturable: bool = True,
) -> DeviceTimer:
    """Warm up, choose how to time a call on the device, and return the timer."""
    with gpu.use():
        _run(reset)
        call()
        gpu.synchronize()
    timer = DeviceTimer(gpu, call, cold=cold, reset=reset)
    call_ns = _estimate(timer)
    # The second of two calls would find what the first one changed, or left in the cache.
    alone = not batchable or reset is not None or cold
    if call_ns < _SHORT_NS and not timer.host_bound and not alone:
        timer = _many(timer, call_ns, capturable)
    return replace(timer, floor_ns=_floor(gpu, timer.method))


def _estimate(timer: DeviceTimer) -> int:
    """Return the smallest of three samples (of one, if it is long); this also fixes the delay."""
    first = timer.sample()
    return first if first > 10 * _BATCH_NS else min(first, timer.sample(), timer.sample())


def _many(timer: DeviceTimer, call_ns: int, capturable: bool) -> DeviceTimer:
    """Return a timer of many calls to replace one whose single call is too short."""
    note = "not captured: the call is declared not capturable"
    if capturable:
        try:
            return _not_empty(_graph(timer, call_ns))
        except CaptureError as error:
            note = f"not captured: {error}"
    return replace(_batch(timer, call_ns), notes=(*timer.notes, note))


def _graph(timer: DeviceTimer, call_ns: int) -> DeviceTimer:
    """Return a timer of a graph that lasts at least 1 ms; inside it calls are shorter than one alone."""
    # A guess from calls timed alone; the time of the graph itself then shows how many calls it needs.
    n = _count(_BATCH_NS / max(1, call_ns), _MAX_GRAPH_CALLS)
    graph = _captured(timer, n)
    longer = _count(n * _BATCH_NS / max(1, graph.sample()), _MAX_GRAPH_CALLS)
    return graph if longer <= n else _captured(timer, longer)


def _not_empty(timer: DeviceTimer) -> DeviceTimer:
    """Return a timer; raise if its graph is faster than empty kernels, and so must be empty."""
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


def _batch(timer: DeviceTimer, call_ns: int) -> DeviceTimer:
    """Return a timer of as many calls as the host can safely launch under one delay.

    A batch that needs the longest delay has no reserve if the host is slower later.
    """
    n = _count(_BATCH_NS / max(1, call_ns), MAX_QUEUED_CALLS)
    while n > 1:
        batch = replace(timer, launch=partial(_repeated, timer.launch, n), n_calls=n, method="batch")
        batch.sample()
        if not batch.host_bound and batch.delay_ns < MAX_DELAY_NS:
            return batch
        n //= 2
    return timer


def _repeated(call: Call, n: int) -> None:
    for _ in range(n):
        call()


def _count(n: float, limit: int) -> int:
    return max(1, min(math.ceil(n), limit))


def _floor(gpu: GpuClock, method: str) -> int:
    """Return the nanoseconds of an empty kernel timed by a method, measured once for each clock."""
    # An empty kernel costs the same for every variant, so one measurement serves all of them.
    if method not in gpu.floors:
        timer = DeviceTimer(gpu, gpu.empty)
        _estimate(timer)
        if method == "graph":
            timer = _graph(timer, 1_000)
        elif method == "batch":
            timer = _batch(timer, 1_000)
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
    """Return a timer of the host's part of a call: at most 256 launches between two synchronisations.

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


@dataclass
class Series:
    """The samples of one timer, each with its round and the host's pace beside it (0 on the GPU's clock)."""

    timer: Timer
    ns: list[int] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    paces: list[int] = field(default_factory=list)

    def sample(self) -> int:
        """Return the next sample; those before are forgotten if it cannot be combined with them.

        A device timer whose host cannot keep ahead turns to spans, and device times and spans do not mix.
        """
        was_host_bound = self.timer.host_bound
        sample = self.timer.sample()
        if self.timer.host_bound and not was_host_bound:
            self.ns, self.rounds, self.paces = [], [], []
        return sample

    def add(self, sample: int, number: int = 0) -> None:
        """Keep the sample that was just taken."""
        self.ns.append(sample)
        self.rounds.append(number)
        self.paces.append(self.timer.pace_ns)

    def kept(self) -> tuple[list[int], list[int], bool]:
        """Return samples and rounds that a median may use: those taken alone, or all if these are too few."""
        chosen, shared = self.timer.kept(self.paces)
        return [self.ns[i] for i in chosen], [self.rounds[i] for i in chosen], shared

    def samples(self) -> Samples:
        """Return what may be used, with a note where the processor was shared."""
        ns, _, shared = self.kept()
        samples = self.timer.samples(ns)
        return replace(samples, notes=(*samples.notes, SHARED_NOTE)) if shared else samples


def collect(timer: Timer, n_samples: int) -> Samples:
    """Take this many samples of a timer; return those that can be kept, see `HostPace.kept`."""
    series = Series(timer)
    while len(series.ns) < n_samples:
        series.add(series.sample())
    return series.samples()


def collect_enough(timer: Timer, host: HostClock, *, budget_s: float, since_ns: int | None = None) -> Samples:
    """Return samples of a timer until they are `enough`; the budget began at `since_ns`, by default now."""
    start_ns = host.now_ns() if since_ns is None else since_ns
    series = Series(timer)
    while len(series.ns) < MAX_SAMPLES and not enough(
        series.kept()[0], spent_s=(host.now_ns() - start_ns) / 1e9, budget_s=budget_s
    ):
        series.add(series.sample())
    return series.samples()


def time_device(
    call: Call,
    gpu: GpuClock,
    *,
    n_samples: int | None = None,
    budget_s: float = BUDGET_S,
    host: HostClock | None = None,
    **options: Any,
) -> Samples:
    """Return GPU times of a call: as many as the stopping rule asks for, or `n_samples`."""
    if n_samples is not None and not 1 <= n_samples <= MAX_SAMPLES:
        raise ArgumentError(f"expected 1 to {MAX_SAMPLES} samples, got n_samples={n_samples}")
    clock = host or SystemClock()
    # Before the timer is made, because the budget includes its warm-up.
    start_ns = clock.now_ns()
    timer = device_timer(call, gpu, **options)
    if n_samples is not None:
        return collect(timer, n_samples)
    return collect_enough(timer, clock, budget_s=budget_s, since_ns=start_ns)


def in_rounds(
    active: Callable[[], Sequence[T]], turn: Callable[[T], R], order: Callable[[Sequence[T]], Sequence[T]]
) -> Iterator[dict[T, R]]:
    """Give each that is active a turn, in an order of its own, round after round until none is active."""
    while waiting := active():
        yield {one: turn(one) for one in order(waiting)}


def keep_busy(gpu: GpuClock, *, seconds: float = 0.2, host: HostClock | None = None) -> None:
    """Read memory on the GPU for a while, to bring its clocks up again after work on the CPU."""
    clock = host or SystemClock()
    end = clock.now_ns() + int(seconds * 1e9)
    with gpu.use():
        while clock.now_ns() < end:
            # On an H200 about two milliseconds of reading between two looks at the clock.
            for _ in range(MAX_QUEUED_CALLS // 4):
                gpu.flush()
            gpu.synchronize()
