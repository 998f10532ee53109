"""A GPU that takes no real time: a launch queue and a clock that move only on request."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from gpuguide.exercises.stand_ins.lines import line_now
from gpuguide.exercises.stand_ins.time_limit import TooLongError

__all__ = ["Costs", "Event", "VirtualGpu"]

_START_NS = 41_000_000_000  # like a real clock, this one does not start at a round figure
_MOST_EVENTS = 40_000  # most right answers need a few hundred; thousands of samples are many, but no mistake


@dataclass(frozen=True)
class Costs:
    """What things cost on a virtual machine; a rate of one byte per nanosecond is 1 GB/s.

    Attributes
    ----------
    launch_ns : int
        Host time of a launch.
    compile_ns : int
        Extra host time of the first launch of a kernel.
    wake_up_ns : int
        Host time from the end of the work until a waiting host goes on.
    clock_ns : int
        Host time of reading the clock.
    memory_rate, cache_rate : float
        Bytes per nanosecond from the GPU's memory and, for buffers that are in it, from its L2 cache.
    l2_bytes : int
        Size of the L2 cache.
    link_rate : float
        Bytes per nanosecond between host and device.
    staging_rate : float
        Bytes per nanosecond at which the host copies pageable memory into the buffer from which the device
        fetches it.
    first_touch_rate : float
        Bytes per nanosecond at which the system provides host memory that has never been written.
    queue_length : int
        Launches that can wait; one more makes the host wait.
    """

    launch_ns: int = 8_000
    compile_ns: int = 180_000_000
    wake_up_ns: int = 5_000
    clock_ns: int = 40
    memory_rate: float = 4_000.0
    cache_rate: float = 10_000.0
    l2_bytes: int = 50_000_000
    link_rate: float = 50.0
    staging_rate: float = 12.0
    first_touch_rate: float = 4.0
    queue_length: int = 1_024


@dataclass(frozen=True)
class Event:
    """One thing that happened on a virtual machine; all times in nanoseconds of its clock.

    Attributes
    ----------
    kind : str
        ``"launch"``, ``"memset"``, ``"to_device"``, ``"to_host"``, ``"synchronize"``, ``"clock"`` or
        ``"host"``.
    name : str
        Of the kernel, or of what was copied.
    line : int or None
        Line of the reader's code.
    begin_ns, end_ns : int
        When the host began, and when it went on.
    started_ns, done_ns : int
        When the device began and ended; those of the host if the device takes no part.
    nbytes : int
        Bytes copied, or read and written.
    compiled : bool
        Whether the kernel was compiled first.
    buffers : tuple
        Those that it reads and writes, each once.
    """

    kind: str
    name: str
    line: int | None
    begin_ns: int
    end_ns: int
    started_ns: int
    done_ns: int
    nbytes: int = 0
    compiled: bool = False
    buffers: tuple[Hashable, ...] = ()

    @property
    def what(self) -> str:
        """The event in words, to put into a sentence."""
        if self.kind in ("to_device", "to_host"):
            return f"a copy of {self.name}"
        return f"the kernel {self.name!r}" if self.kind == "launch" else self.name


class VirtualGpu:
    """A host with one GPU, simulated: launches are queued, and nothing takes real time.

    A launch costs host time and goes into the queue; the device works through it in order. A copy to the
    device costs the host the time of copying into a staging buffer, and the device that of fetching it; a
    copy to the host waits for everything before it. The first launch of a kernel compiles it. Buffers that
    were touched lately are in the L2 cache.

    Attributes
    ----------
    costs : Costs
        As given.
    source : str
        As given.
    now_ns : int
        The host's time.
    free_at_ns : int
        When the device will have done everything that is queued.
    stream : int
        The stream that work goes into; 0 is the default one.
    done_ns : dict of int to int
        Stream -> when the device will have done what is queued there.
    log : list of Event
        Everything that happened, in the order in which the host asked for it.

    >>> gpu = VirtualGpu(Costs(launch_ns=10, compile_ns=0, wake_up_ns=5, clock_ns=0))
    >>> start = gpu.now_ns
    >>> launch = gpu.launch("scale", busy_ns=1000)
    >>> gpu.now_ns - start
    10
    >>> gpu.synchronize()
    >>> gpu.now_ns - start
    1015
    """

    def __init__(self, costs: Costs | None = None, source: str = "") -> None:
        self.costs = costs or Costs()
        self.source = source
        self.now_ns = self.free_at_ns = _START_NS
        self.stream, self.done_ns = 0, dict[int, int]()
        self.log: list[Event] = []
        self._compiled: set[str] = set()
        self._queue: deque[int] = deque()
        self._cache: OrderedDict[Hashable, int] = OrderedDict()
        self._cached_bytes = 0

    def clock(self) -> float:
        """Read the host's clock, in seconds from an arbitrary start."""
        begin = self.now_ns
        self.now_ns += self.costs.clock_ns
        self._note("clock", "clock", begin)
        return self.now_ns * 1e-9

    def synchronize(self) -> None:
        """Wait until the device has done everything."""
        begin = self.now_ns
        self._wait_until(self.free_at_ns)
        self.now_ns += self.costs.wake_up_ns
        self._note("synchronize", "synchronize", begin)

    def host(self, name: str, busy_ns: float, nbytes: int = 0) -> Event:
        """Let the host work."""
        begin = self.now_ns
        self.now_ns += round(busy_ns)
        return self._note("host", name, begin, nbytes=nbytes)

    def launch(
        self,
        name: str,
        touches: Mapping[Hashable, int] | None = None,
        busy_ns: float = 0,
        *,
        kind: str = "launch",
    ) -> Event:
        """Queue a kernel, and compile it if none of its name was launched before.

        `touches` holds bytes by buffer: they take the time of the memory, or of the cache that has them.
        """
        begin = self.now_ns
        is_new = kind == "launch" and name not in self._compiled
        self._compiled.add(name)
        self.now_ns += self.costs.launch_ns + (self.costs.compile_ns if is_new else 0)
        buffers = dict(touches or {})
        started = self._work(busy_ns + sum(self._touch(*item) for item in buffers.items()))
        nbytes = sum(buffers.values())
        return self._note(kind, name, begin, started, nbytes, compiled=is_new, buffers=tuple(buffers))

    def copy_to_device(self, name: str, buffer: Hashable, nbytes: int) -> Event:
        """Copy host memory: the host fills a staging buffer, from which the device fetches it later."""
        begin = self.now_ns
        self.now_ns += self.costs.launch_ns + round(nbytes / self.costs.staging_rate)
        started = self._work(nbytes / self.costs.link_rate)
        self._touch(buffer, nbytes)  # what arrives passes through the cache
        return self._note("to_device", name, begin, started, nbytes)

    def copy_to_host(self, name: str, nbytes: int) -> Event:
        """Wait for the device, and for the bytes to cross the link."""
        begin = self.now_ns
        self.now_ns += self.costs.launch_ns
        started = self._work(nbytes / self.costs.link_rate)
        self._wait_until(self.free_at_ns)
        self.now_ns += self.costs.wake_up_ns
        return self._note("to_host", name, begin, started, nbytes)

    def wait_for(self, name: str, time_ns: int) -> None:
        """Wait for less than everything."""
        begin = self.now_ns
        self._wait_until(time_ns)
        self.now_ns += self.costs.wake_up_ns
        self._note("synchronize", name, begin)

    def flush(self) -> None:
        """Empty the L2 cache."""
        self._cache.clear()
        self._cached_bytes = 0

    def events(self, *kinds: str) -> list[Event]:
        """Return what the log holds of some kinds."""
        return [event for event in self.log if event.kind in kinds]

    def _work(self, busy_ns: float) -> int:
        """Put work into the queue; return when it will start."""
        while self._queue and self._queue[0] <= self.now_ns:
            self._queue.popleft()
        if len(self._queue) >= self.costs.queue_length:
            self._wait_until(self._queue.popleft())
        started = max(self.now_ns, self.free_at_ns)
        self.free_at_ns = self.done_ns[self.stream] = started + round(busy_ns)
        self._queue.append(self.free_at_ns)
        return started

    def _touch(self, buffer: Hashable, nbytes: int) -> float:
        """Bring a buffer into the cache, push out the oldest, and return the time that this takes."""
        cached = self._cache.pop(buffer, 0)
        if nbytes <= self.costs.l2_bytes:
            self._cache[buffer] = max(nbytes, cached)
        self._cached_bytes += self._cache.get(buffer, 0) - cached
        while self._cached_bytes > self.costs.l2_bytes:
            self._cached_bytes -= self._cache.popitem(last=False)[1]
        hit = min(cached, nbytes)
        return hit / self.costs.cache_rate + (nbytes - hit) / self.costs.memory_rate

    def _wait_until(self, time_ns: int) -> None:
        self.now_ns = max(self.now_ns, time_ns)

    def _note(
        self,
        kind: str,
        name: str,
        begin: int,
        started: int | None = None,
        nbytes: int = 0,
        *,
        compiled: bool = False,
        buffers: tuple[Hashable, ...] = (),
    ) -> Event:
        done = self.now_ns if started is None else self.free_at_ns
        span = (begin, self.now_ns, begin if started is None else started, done)
        event = Event(kind, name, line_now(self.source), *span, nbytes, compiled, buffers)
        self.log.append(event)
        if len(self.log) == _MOST_EVENTS:  # once: the judge may still look at the arrays
            raise TooLongError(f"{_MOST_EVENTS} requests to the GPU and readings of the clock")
        return event
