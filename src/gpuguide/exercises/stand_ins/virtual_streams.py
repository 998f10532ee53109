"""A GPU with streams, events and two copy engines, which says what nothing keeps in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuguide.exercises.simulator.machine import UnsupportedError
from gpuguide.exercises.stand_ins.cuda_names import Device, Names, StreamClass
from gpuguide.exercises.stand_ins.cupy_imports import stand_in
from gpuguide.exercises.stand_ins.host_memory import unset
from gpuguide.exercises.stand_ins.lines import line_now
from gpuguide.exercises.stand_ins.time_limit import TooLongError

__all__ = ["Delay", "Event", "Race", "Step", "Stream", "StreamArray", "StreamingGpu", "Wait", "run_on"]

_MOST_STEPS = 1_000
_CALL_NS = 1_000  # host time of a call that only puts something into a stream
_Region = tuple[int, int]


@dataclass(frozen=True)
class Step:
    """Something that a stream does; times in nanoseconds of the machine's clock.

    Attributes
    ----------
    kind : str
        ``"copy in"``, ``"work"`` or ``"copy out"``; each has an engine of its own.
    what : str
        The step in words.
    line : int or None
        Line of the reader's code.
    stream, number : int
        Its stream, and its place in there.
    started_ns, done_ns : int
        When the GPU began and ended.
    reads, writes : tuple of int
        First byte and end of the memory that it reads and writes.
    knows : dict of int to int
        Stream -> how many of its steps are certain to have ended before this one begins.
    """

    kind: str
    what: str
    line: int | None
    stream: int
    number: int
    started_ns: int
    done_ns: int
    reads: _Region
    writes: _Region
    knows: dict[int, int] = field(repr=False)

    def follows(self, other: Step) -> bool:
        """Say whether it is certain that the other one has ended before this one begins."""
        return self.knows.get(other.stream, 0) >= other.number

    def disturbs(self, other: Step) -> bool:
        """Say whether one of the two writes what the other reads or writes."""
        pairs = ((self.writes, other.reads), (self.writes, other.writes), (self.reads, other.writes))
        return any(a[0] < b[1] and b[0] < a[1] for a, b in pairs)


@dataclass(frozen=True)
class Race:
    """Two steps on the same memory that nothing keeps in order, in the order they were asked for."""

    earlier: Step
    later: Step


@dataclass(frozen=True)
class Wait:
    """A wait of one stream for an event of another: the line that asked for it, and what the event knew."""

    stream: int
    line: int | None
    knows: dict[int, int]


@dataclass(frozen=True)
class Delay:
    """A step that began only when another had ended that it has no use for.

    Attributes
    ----------
    step, other : Step
        The one that was late, and the one that it was late for.
    line : int or None
        The line that let the stream wait; None if both are in one stream.
    """

    step: Step
    other: Step
    line: int | None


class Event:
    """A mark in a stream, as ``stream.record()`` returns it."""

    def __init__(self, gpu: StreamingGpu) -> None:
        self._gpu = gpu
        self.time_ns = 0
        self.knows: dict[int, int] = {}

    @property
    def done(self) -> bool:
        """Whether the GPU has reached it."""
        return self._gpu.has_reached(self.time_ns, self.knows)

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark at the end of a stream."""
        (stream or self._gpu.current).record(self)

    def synchronize(self) -> None:
        """Let the host wait for it."""
        self._gpu.wait(self.time_ns, self.knows)


class Stream:
    """A queue of steps, as ``cupy.cuda.Stream(non_blocking=True)`` is one."""

    def __init__(self, gpu: StreamingGpu, number: int) -> None:
        self._gpu, self.number = gpu, number
        self.free_at_ns = self.n_steps = 0
        self.knows: dict[int, int] = {}

    def __enter__(self) -> Stream:
        self._gpu.entered.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._gpu.entered.pop()

    def use(self) -> Stream:
        """Make it the current one."""
        self._gpu.entered[-1] = self
        return self

    @property
    def done(self) -> bool:
        """Whether it has done everything."""
        return self._gpu.has_reached(self.free_at_ns, self.knows)

    def record(self, event: Event | None = None) -> Event:
        """Put a mark at its end."""
        event = event or Event(self._gpu)
        event.time_ns, event.knows = self.free_at_ns, dict(self.knows)
        return event

    def wait_event(self, event: Event) -> None:
        """Let what comes after this wait for an event of another stream; the host goes on."""
        if not isinstance(event, Event):
            raise TypeError(f"expected an event, as stream.record() returns it; got {type(event).__name__}")
        self._gpu.awaited.append(Wait(self.number, line_now(self._gpu.source), event.knows))
        self.free_at_ns = max(self.free_at_ns, event.time_ns)
        self.knows = merged(self.knows, event.knows)

    def synchronize(self) -> None:
        """Let the host wait until it has done everything."""
        self._gpu.wait(self.free_at_ns, self.knows)


class StreamArray:
    """An array on the GPU with the two copies of CuPy's arrays; everything else is up to the exercise."""

    def __init__(self, gpu: StreamingGpu, data: np.ndarray[Any, Any], name: str) -> None:
        self.gpu, self._data, self.name = gpu, data, name
        self.data = _Pointer(self)
        self.shape, self.dtype, self.size, self.nbytes = data.shape, data.dtype, data.size, data.nbytes

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def __len__(self) -> int:
        return len(self._data)

    def set(self, arr: Any, stream: Stream | None = None) -> None:
        """Copy an array of the host into this one."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if self.dtype != arr.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if self.shape != arr.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        self._copy_in(arr, self._data, stream, blocking=False)

    def get(
        self, stream: Stream | None = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> Any:
        """Copy this array to the host."""
        made = np.empty(self.shape, self.dtype) if out is None else out
        if not isinstance(made, np.ndarray):
            raise TypeError("Only numpy.ndarray can be obtained from cupy.ndarray")
        if made.dtype != self.dtype:
            raise TypeError(f"{made.dtype} array cannot be obtained from {self.dtype} array")
        if made.shape != self.shape:
            raise ValueError(f"Shape mismatch. Expected shape: {self.shape}, actual shape: {made.shape}")
        self._copy_out(self._data, made, stream, blocking)
        return made

    def _copy_in(self, source: Any, part: Any, stream: Stream | None, blocking: bool) -> None:
        what = f"the copy of {self.gpu.called(source)} into {self.name}"
        busy_ns = source.nbytes / self.gpu.in_rate
        self.gpu.step("copy in", what, busy_ns, bounds(source), bounds(part), stream)
        part[...] = source
        if blocking or not self.gpu.is_pinned(source):
            self.gpu.wait_for_last()

    def _copy_out(self, part: Any, out: Any, stream: Stream | None, blocking: bool) -> None:
        what = f"the copy of {self.name} into {self.gpu.called(out)}"
        busy_ns = part.nbytes / self.gpu.out_rate
        self.gpu.step("copy out", what, busy_ns, bounds(part), bounds(out), stream)
        out[...] = part
        if blocking or not self.gpu.is_pinned(out):
            self.gpu.wait_for_last()


class _Pointer:
    """The memory of an array, as ``cupy.cuda.MemoryPointer``: it copies by addresses and bytes."""

    def __init__(self, array: StreamArray) -> None:
        self._array = array

    def copy_from_host(self, mem: Any, size: int) -> None:
        """Copy bytes of the host into it, and wait."""
        self._array._copy_in(*self._bytes(mem, size), None, blocking=True)

    def copy_from_host_async(self, mem: Any, size: int, stream: Stream | None = None) -> None:
        """Let a stream copy bytes of the host into it."""
        self._array._copy_in(*self._bytes(mem, size), stream, blocking=False)

    def copy_to_host(self, mem: Any, size: int) -> None:
        """Copy its first bytes to the host, and wait."""
        self._array._copy_out(*self._bytes(mem, size)[::-1], None, blocking=True)

    def copy_to_host_async(self, mem: Any, size: int, stream: Stream | None = None) -> None:
        """Let a stream copy its first bytes to the host."""
        self._array._copy_out(*self._bytes(mem, size)[::-1], stream, blocking=False)

    def _bytes(self, mem: Any, size: int) -> tuple[Any, Any]:
        """Return bytes of the host, and as many of the array."""
        if size > self._array.nbytes:
            raise ValueError(f"{size} bytes were to be copied; {self._array.name} has {self._array.nbytes}")
        own = self._array._data.reshape(-1).view(np.uint8)[:size]
        return self._array.gpu.pinned_bytes(mem if isinstance(mem, int) else mem.value, size), own


class StreamingGpu:
    """A host and a GPU that copies in, works and copies out at the same time; nothing takes real time.

    Steps of one stream run in order; steps of one kind run in the order in which they were asked for. What
    they do to the data is done at once: as long as there is no race, that makes no difference.

    Attributes
    ----------
    now_ns : int
        The host's time.
    steps : list of Step
        In the order in which the host asked for them.
    races : list of Race
        What nothing keeps in order.
    waits : list of int or None
        Lines in which the host waited while it still had something to ask for.
    awaited : list of Wait
        Every wait of a stream for an event.

    >>> rows = np.ones((2, 1000))
    >>> gpu = StreamingGpu(in_rate=1, out_rate=1, pinned={"rows": rows})
    >>> first, second, x = gpu.stream(), gpu.stream(), gpu.array(rows[0], "x")
    >>> x.set(rows[0], stream=first)
    >>> found = x.get(out=rows[1], stream=second, blocking=False)
    >>> [(race.earlier.kind, race.later.kind) for race in gpu.races]
    [('copy in', 'copy out')]
    """

    def __init__(
        self,
        in_rate: float,
        out_rate: float,
        source: str = "",
        pinned: dict[str, np.ndarray[Any, Any]] | None = None,
    ) -> None:
        self.in_rate, self.out_rate, self.source = in_rate, out_rate, source
        self.now_ns = 0
        self.steps: list[Step] = []
        self.races: list[Race] = []
        self.waits: list[int | None] = []
        self.awaited: list[Wait] = []
        self._pinned = pinned or {}
        self._waited: list[int | None] = []
        self._asked_in_vain = False
        self._engines: dict[str, int] = {}
        self._knows: dict[int, int] = {}
        self._streams: list[Stream] = []
        # Steps are told apart by addresses, so no second array may get that of a first one.
        self._kept: list[np.ndarray[Any, Any]] = []
        self._default = self.stream()
        self.entered = [self._default]
        stand_in(Names("cupy", cuda=self._cuda_names()))

    @property
    def current(self) -> Stream:
        """The stream that work goes into if none is named."""
        return self.entered[-1]

    @property
    def unfinished(self) -> list[Step]:
        """The steps that the host has not waited for."""
        return [step for step in self.steps if self._knows.get(step.stream, 0) < step.number]

    @property
    def delay(self) -> Delay | None:
        """The longest wait of a step for another one that neither it nor what it builds on has to do with."""
        needs: list[set[int]] = []
        longest_ns, found = 0, None
        for i, step in enumerate(self.steps):
            direct = {j for j in range(i) if step.disturbs(self.steps[j])}
            needs.append(direct.union(*(needs[j] for j in direct)))
            # Its engine could not have taken it sooner, either.
            before = [
                other for j, other in enumerate(self.steps[:i]) if j in needs[i] or other.kind == step.kind
            ]
            late_ns = step.started_ns - max((other.done_ns for other in before), default=0)
            for other in self.steps[:i]:
                if late_ns > longest_ns and other.done_ns == step.started_ns and step.follows(other):
                    longest_ns, found = late_ns, Delay(step, other, self._line_of_wait(step, other))
        return found

    def _line_of_wait(self, step: Step, other: Step) -> int | None:
        lines = (
            wait.line
            for wait in self.awaited
            if wait.stream == step.stream and wait.knows.get(other.stream, 0) >= other.number
        )
        return next(lines, None) if step.stream != other.stream else None

    def _cuda_names(self) -> Names:
        """Return what of ``cupy.cuda`` makes and waits for events and streams."""
        streams: dict[str, Any] = {
            "Event": self.event,
            "Stream": StreamClass(self._default, lambda non_blocking: self.stream()),
            "get_current_stream": lambda: self.current,
        }
        return Names(
            "cupy.cuda",
            Device=lambda device=0: Device(self, device),
            runtime=Names("cupy.cuda.runtime", deviceSynchronize=self.synchronize),
            stream=Names("cupy.cuda.stream", **streams),
            **streams,
        )

    def event(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> Event:
        """Return a new event, by the arguments of ``cupy.cuda.Event``."""
        return Event(self)

    def stream(self) -> Stream:
        """Return a new stream."""
        self._streams.append(Stream(self, len(self._streams)))
        return self._streams[-1]

    def array(self, like: np.ndarray[Any, Any], name: str) -> StreamArray:
        """Return a new array on the GPU that has not been written."""
        contents = unset(like.shape, like.dtype)
        self._kept.append(contents)
        return StreamArray(self, contents, name)

    def work(self, what: str, busy_ns: float, x: StreamArray, out: StreamArray) -> None:
        """Put work that reads `x` and writes `out` into the current stream."""
        self.step("work", what, busy_ns, bounds(x._data), bounds(out._data), None)

    def step(
        self, kind: str, what: str, busy_ns: float, reads: _Region, writes: _Region, stream: Stream | None
    ) -> None:
        """Put a step into a stream, and note what it is not kept apart from."""
        if len(self.steps) >= _MOST_STEPS:
            raise TooLongError(f"{_MOST_STEPS} steps that it asked the GPU for")
        into = stream or self.current
        if not isinstance(into, Stream):
            raise TypeError(f"stream must be a stream; got {type(into).__name__}")
        self.now_ns += _CALL_NS
        # A wait of the host counts when it goes on to ask for more.
        self.waits += self._waited
        self._waited.clear()
        self._asked_in_vain = False
        into.n_steps += 1
        into.knows = merged(into.knows, self._knows)
        started = max(self.now_ns, into.free_at_ns, self._engines.get(kind, 0))
        into.free_at_ns = self._engines[kind] = started + round(busy_ns)
        made = Step(
            kind, what, line_now(self.source), into.number, into.n_steps, started, into.free_at_ns,
            reads, writes, dict(into.knows),
        )  # fmt: skip
        self.races += [
            Race(step, made) for step in self.steps if made.disturbs(step) and not made.follows(step)
        ]
        into.knows[into.number] = into.n_steps
        self.steps.append(made)

    def wait(self, until_ns: int, knows: dict[int, int]) -> None:
        """Let the host wait, after which it is certain of what `knows` says."""
        if until_ns > self.now_ns:
            self._waited.append(line_now(self.source))
        self.now_ns = max(self.now_ns, until_ns)
        self._knows = merged(self._knows, knows)

    def synchronize(self) -> None:
        """Let the host wait for all streams."""
        knows: dict[int, int] = {}
        for stream in self._streams:
            knows = merged(knows, stream.knows)
        self.wait(max(stream.free_at_ns for stream in self._streams), knows)

    def has_reached(self, time_ns: int, knows: dict[int, int]) -> bool:
        """Let the host ask whether a time has come, which takes time: who goes on asking waits for it."""
        self.now_ns += _CALL_NS
        if self.now_ns < time_ns:
            self._asked_in_vain = True
            return False
        if self._asked_in_vain:
            self._waited.append(line_now(self.source))
        self._asked_in_vain = False
        self._knows = merged(self._knows, knows)
        return True

    def wait_for_last(self) -> None:
        """Let the host wait for the step that it asked for last."""
        last = self.steps[-1]
        self.wait(last.done_ns, {**last.knows, last.stream: last.number})

    def is_pinned(self, array: np.ndarray[Any, Any]) -> bool:
        """Say whether an array of the host lies in one of those that the GPU copies by itself."""
        return any(_within(bounds(array), bounds(whole)) for whole in self._pinned.values())

    def pinned_bytes(self, address: int, size: int) -> np.ndarray[Any, Any]:
        """Return what lies at an address of the host."""
        for whole in self._pinned.values():
            if _within((address, address + size), bounds(whole)):
                first = address - bounds(whole)[0]
                return whole.reshape(-1).view(np.uint8)[first : first + size]
        raise UnsupportedError("an address outside of the arrays in pinned memory")

    def called(self, array: np.ndarray[Any, Any]) -> str:
        """Return what messages call an array of the host."""
        for name, whole in self._pinned.items():
            inside = bounds(array)
            if _within(inside, bounds(whole)) and len(whole):
                return f"{name}[{(inside[0] - bounds(whole)[0]) // (whole.nbytes // len(whole))}]"
        return "another array of the host"


def bounds(array: np.ndarray[Any, Any]) -> _Region:
    """Return the first byte of an array and the end of it."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(low), int(high) if array.size else int(low)


def merged(a: dict[int, int], b: dict[int, int]) -> dict[int, int]:
    """Return what both know together.

    >>> merged({0: 1, 1: 5}, {0: 2})
    {0: 2, 1: 5}
    """
    return {key: max(a.get(key, 0), b.get(key, 0)) for key in sorted({*a, *b})}


def _within(inner: _Region, outer: _Region) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def run_on(gpu: StreamingGpu, function: Callable[..., Any], busy_ns: float) -> Callable[..., None]:
    """Return the work of an exercise: it computes at once, and takes its time in the current stream."""

    def work(x: Any, out: Any) -> None:
        for name, array in (("x", x), ("out", out)):
            if not isinstance(array, StreamArray):
                raise TypeError(f"work: {name} must be an array on the GPU; got {type(array).__name__}")
        gpu.work(f"the work from {x.name} into {out.name}", busy_ns, x, out)
        out._data[...] = function(x._data)

    return work
