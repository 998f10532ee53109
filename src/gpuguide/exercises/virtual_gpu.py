"""A GPU that takes no real time: one clock, streams with events, and a log of all that the host asks for."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from gpuguide.exercises.answer import FILE, EndlessError

__all__ = ["Costs", "Event", "Step", "Stream", "VirtualGpu", "cuda_names"]

_START_S = 41.0317  # like a real clock, this one does not start at a round figure
_MOST_STEPS = 20_000
_ASK_S = 1e-6
Memory = tuple[int, int]
"""First byte and end of what a step reads or writes."""


@dataclass(frozen=True)
class Costs:
    """What things cost on a machine: seconds, and bytes per second."""

    launch_s: float = 8e-6
    compile_s: float = 0.18
    wake_s: float = 5e-6
    clock_s: float = 4e-8
    in_rate: float = 50e9
    out_rate: float = 50e9
    memory_rate: float = 4e12


@dataclass(frozen=True)
class Step:
    """Something that the host asked for.

    `kind` is "launch", "to_device", "to_host", "wait", "clock" or "host"; `line` is the reader's, 0 if nobody
    knows it. The host was busy from `begin_s` to `end_s`, the GPU from `started_s` to `done_s`.
    """

    kind: str
    name: str
    line: int
    begin_s: float
    end_s: float
    started_s: float = 0.0
    done_s: float = 0.0
    nbytes: int = 0
    compiled: bool = False
    blocking: bool = False
    stream: int = 0
    number: int = 0
    reads: tuple[Memory, ...] = ()
    writes: tuple[Memory, ...] = ()
    # Stream -> how many of its steps have certainly ended before this one begins.
    knows: dict[int, int] = field(default_factory=dict, repr=False)

    def follows(self, other: Step) -> bool:
        """Say whether the other one has certainly ended before this one begins."""
        return self.knows.get(other.stream, 0) >= other.number

    def disturbs(self, other: Step) -> bool:
        """Say whether one of the two writes what the other one reads or writes."""
        return (
            _overlap(self.writes, other.reads)
            or _overlap(self.writes, other.writes)
            or _overlap(self.reads, other.writes)
        )


def _overlap(some: tuple[Memory, ...], others: tuple[Memory, ...]) -> bool:
    return any(a[0] < b[1] and b[0] < a[1] for a in some for b in others)


class VirtualGpu:
    """A host with one GPU: what is asked for goes into streams, and the clock moves only on request.

    Steps of a stream run one after the other, and so do all copies in one direction. What a step does to data
    is done at once: without a race that makes no difference. `log` holds every step in the order of asking.
    """

    def __init__(self, costs: Costs | None = None) -> None:
        self.costs = costs or Costs()
        self.now_s = _START_S
        self.log: list[Step] = []
        self.pinned: list[Memory] = []
        self._compiled: set[str] = set()
        self._engines = {"to_device": 0.0, "to_host": 0.0}
        self._host_knows: dict[int, int] = {}
        self._streams: list[Stream] = []
        self.default = self.stream()
        self.current = self.default

    def stream(self) -> Stream:
        """Return a new stream."""
        self._streams.append(Stream(self, len(self._streams)))
        return self._streams[-1]

    def steps(self, *kinds: str) -> list[Step]:
        """Return the steps of some kinds."""
        return [step for step in self.log if step.kind in kinds]

    def clock(self) -> float:
        """Read the host's clock, in seconds since an unknown moment."""
        begin_s = self.now_s
        self.now_s += self.costs.clock_s
        self._note("clock", "clock", begin_s)
        return self.now_s

    def host(self, name: str, busy_s: float, nbytes: int = 0) -> None:
        """Let the host work."""
        begin_s = self.now_s
        self.now_s += busy_s
        self._note("host", name, begin_s, nbytes=nbytes)

    def launch(
        self,
        name: str,
        busy_s: float = 0.0,
        reads: tuple[Memory, ...] = (),
        writes: tuple[Memory, ...] = (),
    ) -> None:
        """Put a kernel into the current stream; it is compiled if none of its name was launched before."""
        begin_s, is_new = self.now_s, name not in self._compiled
        self._compiled.add(name)
        self.now_s += self.costs.launch_s + self.costs.compile_s * is_new
        nbytes = sum(end - first for first, end in {*reads, *writes})
        busy_s += nbytes / self.costs.memory_rate
        memory: dict[str, Any] = {"reads": reads, "writes": writes, "nbytes": nbytes}
        self._enqueue("launch", name, begin_s, busy_s, compiled=is_new, **memory)

    def copy(
        self,
        kind: str,
        name: str,
        reads: Memory,
        writes: Memory,
        stream: Stream | None = None,
        *,
        wait: bool,
    ) -> None:
        """Copy memory "to_device" or "to_host"; Python goes on at once only if it asked for that."""
        begin_s, nbytes = self.now_s, reads[1] - reads[0]
        self.now_s += self.costs.launch_s
        rate = self.costs.in_rate if kind == "to_device" else self.costs.out_rate
        memory = {"reads": (reads,), "writes": (writes,), "nbytes": nbytes}
        step = self._enqueue(kind, name, begin_s, nbytes / rate, stream, blocking=wait, **memory)
        if wait:
            self._learn(step.done_s, {**step.knows, step.stream: step.number})

    def is_pinned(self, memory: Memory) -> bool:
        """Say whether memory of the host is pinned, so that copies do not make Python wait."""
        return any(first <= memory[0] and memory[1] <= end for first, end in self.pinned)

    def synchronize(self) -> None:
        """Let Python wait for all streams."""
        self.wait(max(each.free_s for each in self._streams), _merged(*(s.knows for s in self._streams)))

    def wait(self, until_s: float, knows: dict[int, int], name: str = "the GPU") -> None:
        """Let Python wait for a moment of the GPU, and for what has ended by then."""
        begin_s = self.now_s
        self._learn(until_s, knows)
        self._note("wait", name, begin_s)

    def has_done(self, until_s: float, knows: dict[int, int]) -> bool:
        """Let Python ask whether a moment has come, which takes a while, too."""
        self.now_s += _ASK_S
        if self.now_s < until_s:
            return False
        self._host_knows = _merged(self._host_knows, knows)
        return True

    def _learn(self, until_s: float, knows: dict[int, int]) -> None:
        self.now_s = max(self.now_s, until_s) + self.costs.wake_s
        self._host_knows = _merged(self._host_knows, knows)

    @property
    def races(self) -> list[tuple[Step, Step]]:
        """Pairs of steps on the same memory that nothing keeps in order, as they were asked for."""
        steps = self.steps("launch", "to_device", "to_host")
        return [
            (earlier, later)
            for n, later in enumerate(steps)
            for earlier in steps[:n]
            if later.disturbs(earlier) and not later.follows(earlier)
        ]

    @property
    def unfinished(self) -> list[Step]:
        """The steps that Python has not waited for."""
        steps = self.steps("launch", "to_device", "to_host")
        return [step for step in steps if self._host_knows.get(step.stream, 0) < step.number]

    def _enqueue(
        self, kind: str, name: str, begin_s: float, busy_s: float, stream: Stream | None = None, **fields: Any
    ) -> Step:
        stream = stream or self.current
        knows = _merged(stream.knows, self._host_knows)
        started_s = max(self.now_s, stream.free_s, self._engines.get(kind, 0.0))
        stream.free_s = started_s + busy_s
        if kind in self._engines:
            self._engines[kind] = stream.free_s
        number = stream.knows.get(stream.ptr, 0) + 1
        stream.knows = {**knows, stream.ptr: number}
        fields |= {"stream": stream.ptr, "number": number, "knows": knows}
        return self._note(kind, name, begin_s, started_s=started_s, done_s=stream.free_s, **fields)

    def _note(self, kind: str, name: str, begin_s: float, **fields: Any) -> Step:
        if len(self.log) == _MOST_STEPS:
            raise EndlessError(f"{_MOST_STEPS:,} requests to the GPU")
        self.log.append(Step(kind, name, _line(), begin_s, self.now_s, **fields))
        return self.log[-1]


def _merged(*known: dict[int, int]) -> dict[int, int]:
    """Join what several know: the more of each stream."""
    merged: dict[int, int] = {}
    for each in known:
        for stream, number in each.items():
            merged[stream] = max(number, merged.get(stream, 0))
    return merged


def _line() -> int:
    """Return the line of the reader's code that is being executed; 0 if there is none."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != FILE:
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_lineno if frame is not None else 0


class Event:
    """A mark in a stream, as `cupy.cuda.Event`."""

    def __init__(self, gpu: VirtualGpu) -> None:
        self._gpu = gpu
        self.time_s = 0.0
        self.knows: dict[int, int] = {}

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark at the end of a stream."""
        (stream or self._gpu.current).record(self)

    def synchronize(self) -> None:
        """Let Python wait for it."""
        self._gpu.wait(self.time_s, self.knows, "an event")

    @property
    def done(self) -> bool:
        """Whether the GPU has come to it."""
        return self._gpu.has_done(self.time_s, self.knows)


class Stream:
    """A queue of steps, as `cupy.cuda.Stream(non_blocking=True)`."""

    def __init__(self, gpu: VirtualGpu, number: int) -> None:
        self._gpu, self.ptr = gpu, number
        self.free_s = 0.0
        self.knows: dict[int, int] = {}
        self._around: list[Stream] = []

    def __enter__(self) -> Stream:
        self._around.append(self._gpu.current)
        return self.use()

    def __exit__(self, *_: object) -> None:
        self._gpu.current = self._around.pop()

    def use(self) -> Stream:
        """Let what comes next go into it."""
        self._gpu.current = self
        return self

    def record(self, event: Event | None = None) -> Event:
        """Put a mark at its end."""
        event = event or Event(self._gpu)
        event.time_s, event.knows = max(self._gpu.now_s, self.free_s), dict(self.knows)
        return event

    def wait_event(self, event: Event) -> None:
        """Let what comes after this wait for a mark; Python goes on."""
        if not isinstance(event, Event):
            raise TypeError(f"expected an event, as stream.record() returns it; got {type(event).__name__}")
        self.free_s = max(self.free_s, event.time_s)
        self.knows = _merged(self.knows, event.knows)

    def synchronize(self) -> None:
        """Let Python wait until it has done everything."""
        self._gpu.wait(self.free_s, self.knows, "a stream")

    @property
    def done(self) -> bool:
        """Whether it has done everything."""
        return self._gpu.has_done(self.free_s, self.knows)


class _Device:
    """The one GPU, whatever its number."""

    def __init__(self, gpu: VirtualGpu) -> None:
        self.id, self.synchronize = 0, gpu.synchronize

    def __enter__(self) -> _Device:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class _NewStream:
    """Makes streams, as the class `cupy.cuda.Stream` does."""

    def __init__(self, gpu: VirtualGpu) -> None:
        self._gpu, self.null = gpu, gpu.default

    def __call__(self, null: bool = False, non_blocking: bool = False) -> Stream:
        return self._gpu.default if null else self._gpu.stream()


def cuda_names(gpu: VirtualGpu) -> SimpleNamespace:
    """Return what a virtual GPU has as `cupy.cuda`."""
    return SimpleNamespace(
        Stream=_NewStream(gpu),
        Event=lambda block=False, disable_timing=False: Event(gpu),
        Device=lambda device_id=0: _Device(gpu),
        get_current_stream=lambda: gpu.current,
        get_elapsed_time=lambda start, end: 1e3 * (end.time_s - start.time_s),
        runtime=SimpleNamespace(deviceSynchronize=gpu.synchronize),
    )
