"""A fake host and a fake GPU: a small simulation of a launch queue, so that no test takes real time.

`FakeHost` is a clock that moves only when told. `FakeGpu` is a `gpuguide.measure.clocks.GpuClock` whose
kernels cost host time to launch and GPU time to run. `gpu.kernel(...)` makes a call to be timed; `gpu.log`
holds, in order, what was asked of the GPU.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gpuguide.measure.clocks import MAX_DELAY_NS, CaptureError
from gpuguide.measure.host_pace import HostPace


@dataclass
class FakeHost:
    """A host clock: `advance(ns)` is the only thing that moves it, besides what a fake GPU makes it wait.

    With `slowness` the host has phases: ``slowness(now)`` is how many times as long its work takes then, the
    pace loop's included.
    """

    now: int = 0
    slowness: Callable[[int], float] | None = None

    def __post_init__(self) -> None:
        self.pace = HostPace(self.now_ns, self._pace_loop, n_learning=1)

    def now_ns(self) -> int:
        return self.now

    def advance(self, ns: int) -> None:
        self.now += ns if self.slowness is None else round(ns * self.slowness(self.now))

    def _pace_loop(self) -> None:
        """Take 20 us; no time at all on a host without phases, so that tests can tell times by heart."""
        self.advance(0 if self.slowness is None else 20_000)

    def wait_until(self, ns: int) -> None:
        self.now = max(self.now, ns)

    def work(self, *durations_ns: int) -> Callable[[], None]:
        """Return a CPU call that takes `durations_ns` in turn, the last one for ever."""
        left = list(durations_ns)

        def call() -> None:
            self.advance(left.pop(0) if len(left) > 1 else left[0])

        return call


@dataclass
class FakeGpu:
    """A GPU clock over a simulated stream.

    `launch_ns` is the host time of one launch, `overhead_ns` what each kernel costs the GPU besides its
    own time, `gap_ns` what it costs in addition when it is not part of a graph, `event_ns` what an event
    costs. `capturable=False` makes every capture fail. The default stream is another one, and free at
    `default_free_at`. `collector` notes whether garbage collection was on, at each call.
    """

    host: FakeHost = field(default_factory=FakeHost)
    launch_ns: int = 3_000
    overhead_ns: int = 1_000
    gap_ns: int = 1_000
    event_ns: int = 0
    capturable: bool = True
    flush_ns: int = 30_000
    log: list[str] = field(default_factory=list)
    collector: list[bool] = field(default_factory=list)
    delays: list[int] = field(default_factory=list)
    floors: dict[str, int] = field(default_factory=dict)
    free_at: int = 0
    default_free_at: int = 0
    cold: bool = True
    depth: int = 0
    recording: list[Callable[[], None]] | None = None

    @property
    def stream(self) -> str:
        return "fake stream"

    @contextmanager
    def use(self) -> Iterator[str]:
        self.depth += 1
        try:
            yield self.stream
        finally:
            self.depth -= 1

    def kernel(
        self,
        duration_ns: int,
        *,
        launch_ns: int | None = None,
        cold_ns: int = 0,
        name: str = "call",
        synchronizes: bool = False,
    ) -> Callable[[], None]:
        """Return a call: one kernel of `duration_ns`, `cold_ns` longer when the cache was flushed before."""

        def run() -> None:
            self._busy(self.overhead_ns + duration_ns + (cold_ns if self.cold else 0))
            self.cold = False

        def call() -> None:
            assert self.depth, "a call must run with the clock's stream as the current one"
            self.log.append(name)
            self.collector.append(gc.isenabled())
            if self.recording is not None:
                if synchronizes:
                    raise RuntimeError("operation not permitted when stream is capturing")
                self.recording.append(run)
                return
            self.host.advance(self.launch_ns if launch_ns is None else launch_ns)
            self._busy(self.gap_ns)
            run()
            if synchronizes:
                self.host.wait_until(self.free_at)

        return call

    def in_default_stream(
        self, duration_ns: int, *, launch_ns: int, synchronizes: bool = False
    ) -> Callable[[], bool]:
        """Return a call whose kernel is in the default stream, which the clock does not see, and a result."""

        def call() -> bool:
            self.log.append("call")
            self.host.advance(launch_ns)
            self.hold_up_default_stream(duration_ns)
            if synchronizes:
                self.host.wait_until(self.default_free_at)
            return True

        return call

    def hold_up_default_stream(self, ns: int = MAX_DELAY_NS) -> None:
        self.default_free_at = max(self.default_free_at, self.host.now) + ns

    def record(self) -> int:
        self.log.append("record")
        self._busy(self.event_ns)
        return self.free_at

    def pending(self, event: int) -> bool:
        self.log.append("pending")
        return event > self.host.now

    def elapsed_ns(self, start: int, stop: int) -> int:
        self.host.wait_until(stop)
        return stop - start

    def delay(self, ns: int) -> None:
        assert 0 <= ns <= MAX_DELAY_NS
        self.log.append("delay")
        self.delays.append(ns)
        self.host.advance(self.launch_ns)
        self._busy(ns)

    def flush(self) -> None:
        self.log.append("flush")
        self.host.advance(self.launch_ns)
        self._busy(self.flush_ns)
        self.cold = True

    def empty(self) -> None:
        self.kernel(0, name="empty")()

    def capture(self, call: Callable[[], Any], n: int) -> list[Callable[[], None]]:
        self.log.append(f"capture {n}")
        if not self.capturable:
            raise CaptureError("the fake GPU captures nothing")
        self.recording = []
        try:
            for _ in range(n):
                call()
            return self.recording
        except RuntimeError as error:
            raise CaptureError(str(error)) from error
        finally:
            self.recording = None

    def replay(self, graph: list[Callable[[], None]]) -> None:
        self.log.append("replay")
        self.host.advance(self.launch_ns)
        self._busy(0)
        for node in graph:
            node()

    def synchronize(self) -> None:
        self.log.append("synchronize")
        self.host.wait_until(self.free_at)

    def synchronize_all(self) -> None:
        self.log.append("synchronize all")
        self.host.wait_until(max(self.free_at, self.default_free_at))

    def _busy(self, ns: int) -> None:
        self.free_at = max(self.free_at, self.host.now) + ns
