"""What one launch did: findings, figures, and methods that query it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.geometry import Geometry
from gpuguide.exercises.simulator.machine import (
    ATOMIC,
    EXCHANGE,
    FENCE,
    READ,
    WRITE,
    Event,
    Machine,
    Remark,
    Segment,
)
from gpuguide.exercises.simulator.memory import Region

__all__ = ["Access", "ArrayFigures", "Figures", "Trace", "Work"]

_CHANGES = (ATOMIC, EXCHANGE)


class Access(NamedTuple):
    """One access to memory, or a fence, with all that the log says of it.

    The value of a store is what it stored, that of a read whether it is one of `Trace.guesses`.
    """

    position: int
    region: Region
    at: int
    kind: int
    cell: int
    line: int
    thread: int
    block: int
    warp: int
    lane: int
    epoch: int
    phase: int
    clock: int
    value: Any


@dataclass
class Trace:
    """What a launch did. Arrays bear the names that the reader's kernel gives them.

    Attributes
    ----------
    machine : Machine
        What was noted.
    names : mapping
        The kernel's names of the arguments by the caller's.
    barriers, loop_turns : int
        The most that a block passed, and that a thread made.
    loose_warps : frozenset of int
        Warps of which only some lanes synchronised.
    findings : tuple of Finding
        What is wrong with the launch, the most important first.
    remarks : mapping
        What single threads did wrong, by the finding that sums it up.

    Examples
    --------
    >>> from gpuguide.exercises.simulator.memory import View
    >>> from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES
    >>> from gpuguide.exercises.simulator.scheduler import run
    >>> from gpuguide.exercises.simulator.source import prepare
    >>> kernel = prepare("def double(x): x[cuda.grid(1)] *= 2", usual_imports=True)
    >>> trace = run(kernel, 2, 32, {"x": View.of(NUMBER_TYPES["float32"], range(64), (64,))})
    >>> trace.findings, trace.figures.sectors_per_request
    ((), 4.0)
    """

    machine: Machine = field(repr=False)
    names: Mapping[str, str]
    barriers: int = 0
    loop_turns: int = 0
    loose_warps: frozenset[int] = frozenset()
    findings: tuple[Finding, ...] = ()
    remarks: Mapping[Finding, tuple[Remark, ...]] = field(default_factory=dict, repr=False)

    @property
    def geometry(self) -> Geometry:
        """The shape of the launch."""
        return self.machine.geometry

    @property
    def regions(self) -> list[Region]:
        """All arrays: the arguments in order, then those that the kernel made."""
        return self.machine.regions

    @property
    def clocks(self) -> list[tuple[int, ...]]:
        """What threads knew of the other lanes of their warp, by their segments' clocks."""
        return self.machine.clocks

    def between_barriers(self) -> dict[tuple[int, int], list[Event]]:
        """Return what was noted, by the block and the number of barriers that it had passed."""
        log = self.machine.log
        found: dict[tuple[int, int], list[Event]] = defaultdict(list)
        for (block, epoch, start), (_, _, end) in pairwise([*self.machine.stretches, (0, 0, len(log))]):
            found[block, epoch] += log[start:end]
        return found

    def access(self, position: int) -> Access:
        """Return what the log says at a position."""
        region, at, kind, site, _, segment, cell = self.machine.log[position]
        geometry, thread = self.geometry, segment.thread
        return Access(
            position,
            region,
            at,
            kind,
            cell,
            self.machine.sites.line(site),
            thread,
            geometry.block_of(thread),
            geometry.warp_of(thread),
            geometry.lane_of(thread),
            segment.epoch,
            segment.phase,
            segment.clock,
            self.machine.stored.get(position, position in self.guesses),
        )

    @cached_property
    def memory(self) -> list[Access]:
        """All accesses to memory."""
        return [
            self.access(position) for position, event in enumerate(self.machine.log) if event[0] is not None
        ]

    @cached_property
    def guesses(self) -> set[int]:
        """Positions of reads that only guess what a later compare-and-swap of the thread checks."""
        log = self.machine.log
        checked: set[tuple[int, int]] = set()
        found = set()
        for position in reversed(range(len(log) if self.machine.swaps else 0)):
            _, _, kind, _, _, segment, cell = log[position]
            if position in self.machine.swaps:
                checked.add((cell, segment.thread))
            elif kind == READ and (cell, segment.thread) in checked:
                found.add(position)
        return found

    @property
    def depends_on_turns(self) -> bool:
        """Whether it can matter that another thread comes between two atomic operations of a thread."""
        if not self.machine.n_changes and not self.machine.idle:
            return False  # there is none
        sites: dict[int, set[int]] = defaultdict(set)
        for region, _, kind, site, *_ in self.machine.log:
            if kind in _CHANGES:
                sites[id(region.memory)].add(site)
        used = {site for found in sites.values() for site in found} - self.machine.sites.unused
        return bool(used or self.guesses or any(len(found) > 1 for found in sites.values()))

    def parted(self, cell: int | None, *, idle: bool) -> tuple[Access, Access, Access] | None:
        """Return two operations of a thread on one element, and between them one of another thread.

        The second one is atomic, no barrier keeps them apart, and the one between them is not just a read;
        unless an idle one will do, it changed something. If a cell is given, they are on it.
        """
        block_of = self.geometry.block_of
        last: dict[tuple[int, int], tuple[int, Segment]] = {}
        latest: dict[int, tuple[int, Segment]] = {}
        for position, (region, _, kind, _, _, segment, own) in enumerate(self.machine.log):
            if region is None or region.space == "local" or cell not in (None, own):
                continue
            key = (own, segment.thread)
            first, between = last.get(key), latest.get(own)
            # What came later than the thread's own last operation is another thread's.
            if first and between and kind in _CHANGES and between[0] > first[0]:
                # A barrier on the way keeps apart what threads of one block do, and nothing else.
                of_block = block_of(between[1].thread) == block_of(segment.thread)
                if not of_block or first[1].epoch == segment.epoch:
                    return self.access(first[0]), self.access(between[0]), self.access(position)
            last[key] = position, segment
            if kind != READ and (idle or position not in self.machine.idle):
                latest[own] = position, segment
        return None

    def handovers(self) -> list[Access]:
        """Return atomic operations and fences, if there is a fence at all."""
        kinds = {event[2] for event in self.machine.log}
        if FENCE not in kinds:
            return []
        chosen = (ATOMIC, EXCHANGE, FENCE)
        return [self.access(n) for n, event in enumerate(self.machine.log) if event[2] in chosen]

    @cached_property
    def figures(self) -> Figures:
        """All figures, counted on first use."""
        return Figures(self)


# --- Figures --------------------------------------------------------------------------------------------

SECTOR_BYTES = 32
BANKS, BANK_BYTES = 32, 4


@dataclass(frozen=True)
class Instruction:
    """All requests of one place in the source to one array, in the order of their warps.

    Attributes
    ----------
    region : Region
        The array.
    line, kind : int
        Where, and what it does.
    requests : list
        The events of each request, by ascending lane.
    costs : list of int
        Sectors in global memory, passes in shared memory, of each request.
    """

    region: Region
    line: int
    kind: int
    requests: list[list[Event]]
    costs: list[int]

    @property
    def mean(self) -> float:
        """Cost of a request on average."""
        return sum(self.costs) / len(self.costs)

    @property
    def dearest(self) -> list[Event]:
        """The most expensive request; if several are, that of the lowest warp."""
        return self.requests[self.costs.index(max(self.costs))]


@dataclass(frozen=True)
class ArrayFigures:
    """How one array was used; an atomic operation counts as one read and one write of its element."""

    name: str
    space: str
    reads: int = 0
    writes: int = 0
    atomics: int = 0
    reads_per_element: int = 0
    writes_per_element: int = 0


@dataclass(frozen=True)
class Work:
    """What a launch did, as a verdict tells it. Reads, writes, atomics and bytes are those of global memory.

    Attributes
    ----------
    threads : int
        Threads of the launch.
    reads, writes, atomics : int
        How often they accessed global memory.
    bytes_read, bytes_written : int
        Bytes of these accesses.
    barriers : int
        Barriers that a block passed.
    sectors_per_request : float
        Sectors of 32 bytes that a request of a warp touched on average, at the worst line.
    bank_conflict_degree : int
        Passes of the worst request to shared memory.
    shared_bytes : int
        Shared memory of a block.
    accesses : int
        All accesses, to shared and local memory as well.
    """

    threads: int = 0
    reads: int = 0
    writes: int = 0
    atomics: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    barriers: int = 0
    sectors_per_request: float = 0.0
    bank_conflict_degree: int = 1
    shared_bytes: int = 0
    accesses: int = 0


class Figures:
    """What a launch did, in numbers. Reads, writes, atomics and bytes are those of global memory."""

    def __init__(self, trace: Trace) -> None:
        # Not the trace, which knows these figures: what knows itself is not freed at once.
        self._machine, self._geometry = trace.machine, trace.geometry
        self.threads = trace.geometry.threads
        self.barriers, self.loop_turns = trace.barriers, trace.loop_turns
        self._log = trace.machine.log
        counts = Counter(map(itemgetter(0, 2), self._log))  # by array and kind
        self.accesses = sum(n for (region, _), n in counts.items() if region is not None)
        self.reads = self.writes = self.atomics = self.bytes_read = self.bytes_written = 0
        for (region, kind), n in counts.items():
            if region is not None and region.space == "global":
                self.reads += n * (kind == READ)
                self.writes += n * (kind == WRITE)
                self.atomics += n * (kind in _CHANGES)
                self.bytes_read += n * region.dtype.itemsize * (kind != WRITE)
                self.bytes_written += n * region.dtype.itemsize * (kind != READ)

    def _in(self, space: str) -> list[Event]:
        return [event for event in self._log if event[0] is not None and event[0].space == space]

    @property
    def work(self) -> Work:
        """What a verdict tells of it."""
        return Work(**{each.name: getattr(self, each.name) for each in fields(Work)})

    @cached_property
    def working(self) -> int:
        """Threads that touched global memory."""
        return len({event[5].thread for event in self._in("global")})

    @cached_property
    def in_global(self) -> list[Instruction]:
        """What touches global memory, with sectors as cost."""
        return self._instructions("global", _sectors)

    @cached_property
    def in_shared(self) -> list[Instruction]:
        """What touches shared memory, with passes as cost."""
        return self._instructions("shared", lambda request: _passes(request, self._geometry))

    @cached_property
    def plain(self) -> list[Instruction]:
        """Loads and stores of global memory; atomic operations go where the data says."""
        return [each for each in self.in_global if each.kind in (READ, WRITE)]

    @property
    def sectors_per_request(self) -> float:
        """Of the worst line, on average."""
        return max((each.mean for each in self.plain), default=0.0)

    @property
    def bank_conflict_degree(self) -> int:
        """Passes of the worst request to shared memory."""
        return max((max(each.costs) for each in self.in_shared), default=1)

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block."""
        shared = (region for region in self._machine.regions if region.space == "shared")
        return sum(len(region.memory.cells) * region.dtype.itemsize for region in shared)

    @cached_property
    def divergent_branches(self) -> float:
        """Share of the branches met by a warp at which its threads part; 0 if branches were not noted."""
        parted = [len({event[1] for event in request}) > 1 for request in self.branches]
        return sum(parted) / len(parted) if parted else 0.0

    @cached_property
    def branches(self) -> list[list[Event]]:
        """What the threads of a warp do when they meet a branch together."""
        return self._requests(self._machine.branches)

    @property
    def most_divergent_line(self) -> int | None:
        """The line of the branch at which the threads of a warp part most often."""
        lines = [
            self.line_of(request[0]) for request in self.branches if len({event[1] for event in request}) > 1
        ]
        return max(sorted(set(lines)), key=lines.count, default=None)

    @cached_property
    def atomic_events(self) -> list[Event]:
        """Atomic operations on global memory."""
        return [event for event in self._in("global") if event[2] in _CHANGES]

    def line_of(self, event: Event) -> int:
        """Return the line of an access."""
        return self._machine.sites.line(event[3])

    def times_touched(self, kind: int, *, by_block: bool = False) -> dict[Region, list[Event]]:
        """Return, for each array of global memory, the accesses to its most touched element.

        Arrays on which an atomic operation works are left out: to repeat it on one element is its purpose.
        """
        changed = {event[0] for event in self.atomic_events}
        touches: dict[tuple[Region, int, int], list[Event]] = defaultdict(list)
        for event in self._in("global"):
            if event[2] == kind and event[0] not in changed:
                block = self._geometry.block_of(event[5].thread) if by_block else 0
                touches[event[0], event[1], block].append(event)
        most: dict[Region, list[Event]] = {}
        for (region, _, _), events in touches.items():
            if len(events) > len(most.get(region, ())):
                most[region] = events
        return most

    @cached_property
    def arrays(self) -> tuple[ArrayFigures, ...]:
        """The arguments in order, then the shared arrays from the top of the source down."""
        regions = self._machine.regions
        shared = sorted(
            (each for each in regions if each.space == "shared"), key=lambda each: (each.line, each.name)
        )
        return tuple(
            self._array(each) for each in [*(each for each in regions if each.space == "global"), *shared]
        )

    def _array(self, region: Region) -> ArrayFigures:
        reads: dict[int, int] = {}
        writes: dict[int, int] = {}
        n_reads = n_writes = n_atomics = 0
        for touched, at, kind, *_ in self._log:
            if touched is region:
                n_reads += kind == READ
                n_writes += kind == WRITE
                n_atomics += kind in _CHANGES
                if kind != WRITE:
                    reads[at] = reads.get(at, 0) + 1
                if kind != READ:
                    writes[at] = writes.get(at, 0) + 1
        most_read, most_written = max(reads.values(), default=0), max(writes.values(), default=0)
        return ArrayFigures(region.name, region.space, n_reads, n_writes, n_atomics, most_read, most_written)

    def _requests(self, events: Iterable[Event]) -> list[list[Event]]:
        """Gather events into the requests of warps, sorted by place and array, then by warp.

        The lanes of a warp that are at the same place in the same turns of all loops belong together; one
        that comes there twice makes two requests.
        """
        together: dict[tuple[int, int, int, int], list[Event]] = defaultdict(list)
        segment, warp = None, 0
        for event in events:
            region, _, _, site, path, own, _ = event
            if own is not segment:
                segment, warp = own, self._geometry.warp_of(own.thread)
            together[site, -1 if region is None else region.number, warp, path].append(event)
        return [request for _, found in sorted(together.items()) for request in _one_a_lane(found)]

    def _instructions(self, space: str, cost: Callable[[list[Event]], int]) -> list[Instruction]:
        gathered: dict[tuple[int, Region], Instruction] = {}
        for request in self._requests(self._in(space)):
            region, _, kind, site, *_ = request[0]
            instruction = gathered.get((site, region))
            if instruction is None:
                line = self._machine.sites.line(site)
                instruction = gathered[site, region] = Instruction(region, line, kind, [], [])
            instruction.requests.append(request)
            instruction.costs.append(cost(request))
        return list(gathered.values())


def _one_a_lane(events: list[Event]) -> list[list[Event]]:
    """Return what lanes do together: the first event of each, then the second of each, and so on."""
    events.sort(key=lambda event: event[5].thread)
    if len({event[5].thread for event in events}) == len(events):
        return [events]
    times: Counter[int] = Counter()
    requests: list[list[Event]] = []
    for event in events:
        thread = event[5].thread
        if times[thread] == len(requests):
            requests.append([])
        requests[times[thread]].append(event)
        times[thread] += 1
    return requests


def _sectors(request: list[Event]) -> int:
    """Return how many sectors of 32 bytes a request to global memory touches."""
    return len({byte_of(event) // SECTOR_BYTES for event in request})


def byte_of(event: Event) -> int:
    """Return where in its allocation an access begins."""
    region = event[0]
    offset: int = event[1] * region.dtype.itemsize + region.byte_offset
    return offset


def _passes(request: list[Event], geometry: Geometry) -> int:
    """Return how many passes shared memory takes for a request: 1 without a conflict.

    A bank serves one word at a time, to all lanes that want it. Words wider than a bank are served to a part
    of the warp after the other.
    """
    region = request[0][0]
    size, first = region.dtype.itemsize, region.byte_offset
    width = max(size, BANK_BYTES)
    lanes = BANKS * BANK_BYTES // width
    parts = [request]
    if lanes < BANKS:
        part_of = lambda event: geometry.lane_of(event[5].thread) // lanes  # noqa: E731
        parts = [[*part] for _, part in groupby(request, part_of)]
    words = [{(event[1] * size + first) // width for event in part} for part in parts]
    return max(_most_alike([word % lanes for word in each]) for each in words)


def _most_alike(numbers: list[int]) -> int:
    """Return how often the most frequent of some numbers comes."""
    return 1 if len({*numbers}) == len(numbers) else max(Counter(numbers).values())


def word_and_bank(event: Event) -> tuple[int, int]:
    """Return the word of shared memory that an access wants, and the bank, or group of banks, with it."""
    width = max(event[0].dtype.itemsize, BANK_BYTES)
    word = byte_of(event) // width
    return word, word % (BANKS * BANK_BYTES // width)
