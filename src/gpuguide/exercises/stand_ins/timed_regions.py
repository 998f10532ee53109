"""What happened between two readings of a clock, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import is_near, seconds
from gpuguide.exercises.stand_ins.virtual_gpu import Event, VirtualGpu

__all__ = ["Region", "clock_mistakes", "compiled_inside", "of_another_kind", "regions", "used_for"]

_ON_DEVICE = ("launch", "memset", "to_device", "to_host")


@dataclass(frozen=True)
class Region:
    """What happened between two consecutive readings of the clock.

    Attributes
    ----------
    start, stop : Event
        The readings.
    before, inside : tuple of Event
        What happened before the first reading, and between the two.
    """

    start: Event
    stop: Event
    before: tuple[Event, ...]
    inside: tuple[Event, ...]

    @property
    def seconds(self) -> float:
        """The difference between the two readings."""
        return (self.stop.end_ns - self.start.end_ns) * 1e-9

    def holds(self, name: str) -> bool:
        """Return whether something whose name begins so happened inside."""
        return any(event.name.startswith(name) for event in self.inside)

    @property
    def unfinished(self) -> Event | None:
        """The last work from inside that was not done when the clock stopped."""
        return _last_unfinished(self.inside, self.stop)

    @property
    def left_over(self) -> Event | None:
        """The last work from before that was not done when the clock started."""
        return _last_unfinished(self.before, self.start)


def regions(gpu: VirtualGpu, name: str = "") -> list[Region]:
    """Return the stretches between readings of the clock in which something happened.

    >>> gpu = VirtualGpu()
    >>> start = gpu.clock()
    >>> launch = gpu.launch("scale", busy_ns=1_000_000)
    >>> stop = gpu.clock()
    >>> [region] = regions(gpu, "scale")
    >>> region.unfinished.name, region.left_over
    ('scale', None)
    """
    reads = [i for i, event in enumerate(gpu.log) if event.kind == "clock"]
    found = [
        Region(gpu.log[a], gpu.log[b], tuple(gpu.log[:a]), tuple(gpu.log[a + 1 : b]))
        for a, b in pairwise(reads)
    ]
    return [region for region in found if region.inside and region.holds(name)]


def clock_mistakes(found: list[Region]) -> Iterator[Finding]:
    """Say what is wrong with the readings of a clock, each kind of mistake once."""
    # A reading that ends one stretch and begins the next is reported once, as an end.
    ends = [region.stop for region in found]
    begun = [region for region in found if region.start not in ends]
    mistakes = (
        _first(_stopped_early, found),
        _first(_started_early, begun),
        next(compiled_inside(found), None),
    )
    yield from (finding for finding in mistakes if finding is not None)


def compiled_inside(found: list[Region]) -> Iterator[Finding]:
    """Say which kernels were compiled while a clock ran."""
    for event in (event for region in found for event in region.inside if event.compiled):
        message = f"The first call of {event.what} compiled it while the clock ran."
        yield Finding("wrong", message, line=event.line)


def of_another_kind(figure_s: float, true_s: float) -> Iterator[Finding]:
    """Say if a figure is in milliseconds, or negative.

    >>> [finding.message for finding in of_another_kind(4.1, 0.004)]
    ['It is 1000 times as large: these are milliseconds, and seconds are wanted.']
    >>> [finding.message for finding in of_another_kind(-0.004, 0.004)]
    ['Only its sign is wrong: subtract the earlier reading of the clock from the later one.']
    """
    if is_near(-figure_s, true_s):
        message = "Only its sign is wrong: subtract the earlier reading of the clock from the later one."
        yield Finding("wrong", message)
    if is_near(figure_s, 1000 * true_s, share=0.05):
        message = "It is 1000 times as large: these are milliseconds, and seconds are wanted."
        yield Finding("wrong", message)


def used_for(figure_s: float, found: list[Region]) -> list[Region]:
    """Return the stretches that may make up a figure: those of its length, or those that a mean may hold.

    >>> gpu = VirtualGpu()
    >>> for work_ns in (900, 10, 30):
    ...     start = gpu.clock()
    ...     event = gpu.host("work", work_ns * 1000)
    >>> stop = gpu.clock()
    >>> found = regions(gpu)
    >>> [round(region.seconds * 1e6) for region in used_for(20e-6, found)]
    [10, 30]
    """
    same = [region for region in found if abs(region.seconds - figure_s) < 1e-9]
    smallest = min((region.seconds for region in found), default=0.0)
    # The least mean that holds a stretch is that of it and all others, if they were as short as the shortest.
    most = len(found) * figure_s - (len(found) - 1) * smallest
    return same or [region for region in found if region.seconds <= most + 1e-9] or found


def _first(mistake: Callable[[Region], Finding | None], found: list[Region]) -> Finding | None:
    return next((finding for region in found if (finding := mistake(region))), None)


def _stopped_early(region: Region) -> Finding | None:
    work = region.unfinished
    if work is None:
        return None
    left = seconds((work.done_ns - region.stop.end_ns) * 1e-9)
    message = "The clock stopped while the GPU was still busy:"
    if work.kind == "launch":
        message = "The clock stopped after the launch, while the work was still going on:"
    return _with_wait(f"{message} {work.what} had {left} left.", work, region.inside, region.stop)


def _started_early(region: Region) -> Finding | None:
    work = region.left_over
    if work is None:
        return None
    left = seconds((work.done_ns - region.start.end_ns) * 1e-9)
    message = f"The clock started while the GPU was still busy: {work.what} had {left} left."
    return _with_wait(message, work, region.before, region.start)


def _with_wait(message: str, work: Event, events: tuple[Event, ...], reading: Event) -> Finding:
    """Say that work was not done, and which wait after it was for something else."""
    after = events[events.index(work) + 1 :]
    waits = [event for event in after if event.kind == "synchronize" and event.line is not None]
    if waits:
        message += f" The wait in line {waits[-1].line} is for {waits[-1].name} without this work."
    return Finding("wrong", message, line=reading.line)


def _last_unfinished(events: tuple[Event, ...], reading: Event) -> Event | None:
    busy = [event for event in events if event.kind in _ON_DEVICE and event.done_ns > reading.end_ns]
    return busy[-1] if busy else None
