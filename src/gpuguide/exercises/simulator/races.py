"""What several threads together do wrong: races, and reads of memory that nothing was written to before.

Two accesses to one cell race if different threads make them, one of them writes (an atomic operation beside
a plain access counts as writing), and nothing puts one before the other: no barrier of their block, no
``syncwarp`` of their warp, and between blocks no fence and atomic operation that hand the memory over. Two
that write the same do not race: whichever wins, the element holds it. Nor does a read that only guesses what
a compare-and-swap of its thread then checks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from gpuguide.exercises.simulator.findings import Finding, element, more, numbers, with_capital
from gpuguide.exercises.simulator.machine import ATOMIC, EXCHANGE, FENCE, NO_CELL, READ, WRITE, Event, Segment
from gpuguide.exercises.simulator.results import same
from gpuguide.exercises.simulator.trace import Access, Trace

# Bits of what was done to a cell: loads, stores and atomic operations.
_READS, _WRITES, _ATOMICALLY = 1, 2, 4
ROLE = {READ: _READS, WRITE: _WRITES, ATOMIC: _ATOMICALLY, EXCHANGE: _ATOMICALLY}
_DOES = {_READS: "reads", _WRITES: "writes"}
#: Pairs that are checked one by one, at most; beyond that, only those of two units per line and role.
_MOST_PAIRS = 20_000
#: Stores of one line to one cell that are looked at, if all differ.
_MOST_VALUES = 4


def is_harmful(roles: int) -> bool:
    """Say whether these roles together make a race, if nothing orders them."""
    return bool(roles & _WRITES) or roles == _READS | _ATOMICALLY


def contested(accesses: Iterable[Access], unit: Callable[[Access], Any]) -> set[Any]:
    """Return the cells over which two units (threads, warps or blocks) conflict."""
    units: dict[Any, set[Any]] = defaultdict(set)
    roles: dict[Any, int] = defaultdict(int)
    for access in accesses:
        units[access.cell].add(unit(access))
        roles[access.cell] |= ROLE[access.kind]
    return {cell for cell, found in units.items() if len(found) > 1 and is_harmful(roles[cell])}


# --- Races ----------------------------------------------------------------------------------------------


def races(trace: Trace) -> list[Finding]:
    """Find all races of a launch: one finding per array and pair of lines."""
    suspects = _suspects(trace)
    groups: dict[tuple[int, int, int], list[tuple[Access, Access]]] = defaultdict(list)
    for pair in _unordered_pairs(suspects, trace):
        first, second = sorted(pair, key=lambda access: (access.line, access.thread))
        groups[first.region.number, first.line, second.line].append((first, second))
    return [_finding(groups[key], trace) for key in sorted(groups)]


def _suspects(trace: Trace) -> list[Access]:
    """Return the accesses that another one of the same cell may race with, whatever the order in a warp."""
    log, geometry = trace.machine.log, trace.geometry
    in_block = {
        (block, epoch, cell)
        for (block, epoch), events in trace.between_barriers().items()
        for cell in _met(events, 1)
    }
    across = _met(log, geometry.threads_per_block) if geometry.blocks > 1 else set()
    if not in_block and not across:
        return []
    return [
        trace.access(position)
        for position, (_, _, _, _, _, segment, cell) in enumerate(log)
        if cell in across or (geometry.block_of(segment.thread), segment.epoch, cell) in in_block
    ]


def _met(events: Sequence[Event], threads_per_unit: int) -> set[int]:
    """Return the cells over which two units conflict, each of so many threads."""
    # What nobody changes is no cause of conflict, and between two barriers little is changed.
    changed = {event[6] for event in events if event[2] != READ} - {NO_CELL}
    units: dict[int, int] = {}
    several: set[int] = set()
    for event in events if changed else ():
        cell = event[6]
        if cell in changed:
            unit = event[5].thread // threads_per_unit
            if units.setdefault(cell, unit) != unit:
                several.add(cell)
    roles: dict[int, int] = defaultdict(int)
    for event in events if several else ():
        if event[6] in several:
            roles[event[6]] |= ROLE[event[2]]
    return {cell for cell in several if is_harmful(roles[cell])}


def _unordered_pairs(suspects: list[Access], trace: Trace) -> Iterator[tuple[Access, Access]]:
    """Yield the conflicting pairs between blocks, between warps of a block, and within warps."""
    if not suspects:
        return
    loose, handovers = trace.loose_warps, _Handovers(trace)

    def phase(access: Access) -> int:
        return 0 if access.warp in loose else access.phase

    yield from _pairs(
        suspects,
        lambda access: access.cell,
        lambda access: access.block,
        handovers.between if handovers else None,
    )
    yield from _pairs(
        suspects, lambda access: (access.cell, access.block, access.epoch), lambda access: access.warp, None
    )
    yield from _pairs(
        suspects,
        lambda access: (access.cell, access.warp, access.epoch, phase(access)),
        lambda access: access.thread,
        _Before(trace) if loose else None,
    )


def _pairs(
    accesses: list[Access],
    key: Callable[[Access], Any],
    unit: Callable[[Access], int],
    before: Callable[[Access, Access], bool] | None,
) -> Iterator[tuple[Access, Access]]:
    """Yield pairs of equal keys and different units: enough to name every array, line and cell concerned."""
    groups: dict[Any, list[Access]] = defaultdict(list)
    for access in accesses:
        groups[key(access)].append(access)
    for accesses_of_key in groups.values():
        if len({unit(access) for access in accesses_of_key}) < 2 or not is_harmful(_roles(accesses_of_key)):
            continue
        group = sorted(
            accesses_of_key,
            key=lambda access: (access.line, ROLE[access.kind], unit(access), access.thread),
        )
        if before is None or len(group) ** 2 > 2 * _MOST_PAIRS:
            group = _two_units(group, unit)
        for first, second in combinations(group, 2):
            if unit(first) == unit(second) or not is_harmful(_roles((first, second))):
                continue
            if _is_harmless(first, second) or _is_harmless(second, first):
                continue
            if before is None or not (before(first, second) or before(second, first)):
                yield first, second


def _is_harmless(first: Access, second: Access) -> bool:
    """Say whether both store the same, or the first only guesses what an atomic operation changes."""
    if first.kind == second.kind == WRITE:
        return same(first.value, second.value)
    return first.kind == READ and first.value is True and ROLE[second.kind] == _ATOMICALLY


def _roles(group: Iterable[Access]) -> int:
    roles = 0
    for access in group:
        roles |= ROLE[access.kind]
    return roles


def _two_units(group: list[Access], unit: Callable[[Access], int]) -> list[Access]:
    """Keep the lowest thread of the two lowest units of each line, role, and value of a sorted group."""
    kept: dict[tuple[int, int], list[Access]] = defaultdict(list)
    for access in group:
        known = kept[access.line, ROLE[access.kind]]
        units = {unit(each) for each in known}
        is_new = all(not same(each.value, access.value) for each in known)
        if (len(units) < 2 and unit(access) not in units) or (is_new and len(known) < _MOST_VALUES):
            known.append(access)
    return [access for known in kept.values() for access in known]


def _finding(pairs: list[tuple[Access, Access]], trace: Trace) -> Finding:
    """Put races into words; the one over the lowest cell, by the lowest threads, stands for all."""
    first, second = min(pairs, key=_lowest)
    roles = {frozenset((ROLE[a.kind], ROLE[b.kind])) for a, b in pairs}
    name, index = first.region.name, first.region.index_of(first.at)
    who = (trace.geometry.thread_id(first.thread), trace.geometry.thread_id(second.thread))
    same_block = first.block == second.block
    begun = trace.machine.passed.get((first.block, first.epoch), 0) if same_block else 0
    if first.line == second.line and frozenset((_WRITES,)) in roles:
        changed = frozenset((_READS, _WRITES)) in roles
        does, harm = (
            ("change", "one of the changes can be lost") if changed else ("write", "either value can stay")
        )
        both = (
            f"Threads {numbers(who[0].thread)} and {numbers(who[1].thread)} of block {numbers(who[0].block)}"
            if same_block
            else f"{with_capital(str(who[0]))} and {who[1]}"
        )
        said = f"{both} both {does} {element(name, index)} in line {first.line}"
    else:
        one, other = first, second
        around = ""
        if first.line < begun <= second.line:
            # A barrier lies between the lines, but not from the second one round the loop to the first.
            one, other, around = second, first, ", in the next turn of the loop,"
            who = who[::-1]
        rival = f"thread {numbers(who[1].thread)}" if same_block else str(who[1])
        said = (
            f"{with_capital(str(who[0]))} {_does(one)} {element(name, index)} in line {one.line} and "
            f"{rival} {_does(other)} {_again(one, other)}{around}"
        )
        read = _READS in (ROLE[first.kind], ROLE[second.kind])
        harm = "the old value or the new one can be read" if read else "either value can stay"
    apart = ", and blocks do not wait for each other"
    if same_block:
        of_warps = first.warp != second.warp and first.phase != second.phase
        apart = (
            " with no barrier between but cuda.syncwarp(), which only the threads of one warp wait for"
            if of_warps
            else " with no barrier between"
        )
    n_cells = len({pair[0].cell for pair in pairs})
    lines = tuple(sorted({first.line, second.line}))
    message = f"{said}{apart}, so {harm}.{more(n_cells - 1, 'element')}"
    return Finding("race", message, lines[0], lines, name, index, who)


def _lowest(pair: tuple[Access, Access]) -> tuple[int, ...]:
    """Sort by the element, in shared memory that of the lowest block, then by the threads."""
    first, second = pair
    block = first.block if first.region.space == "shared" else 0
    return block, first.at, first.thread, second.thread


def _does(access: Access) -> str:
    return _DOES.get(ROLE[access.kind], "atomically changes")


def _again(first: Access, second: Access) -> str:
    """Name the second access's element and line, as briefly as it goes."""
    region = second.region
    same = first.region is region
    what = "it" if same else f"{element(region.name, region.index_of(second.at))}, the same memory,"
    return f"{what} in {'the same line' if first.line == second.line else f'line {second.line}'}"


# --- Which of two accesses comes first, whatever the order of execution ---------------------------------


class _Before:
    """Says whether an access of a block is certain to come before another one of it."""

    def __init__(self, trace: Trace) -> None:
        self.clocks = trace.clocks

    def __call__(self, first: Access, second: Access) -> bool:
        if first.thread == second.thread:
            return first.position < second.position
        if first.epoch < second.epoch:
            return True
        known = self.clocks[second.clock][first.lane] > first.phase
        return first.warp == second.warp and first.epoch == second.epoch and known


@dataclass(frozen=True)
class _End:
    """One end of a handover: an atomic operation of a thread, and the fence before it, if any."""

    cell: int
    thread: int
    epoch: int
    position: int
    fence: int = -1


class _Handovers:
    """The handovers between the blocks of a launch.

    A thread hands over what it, and its block before its last barrier, wrote before a fence, by an atomic
    operation; a thread of another block takes it over by a later atomic operation on the same element.
    """

    def __init__(self, trace: Trace) -> None:
        self._ends: dict[int, list[_End]] = defaultdict(list)
        fences: dict[int, int] = {}
        for access in trace.handovers():
            if access.kind == FENCE:
                fences[access.thread] = access.position
            else:
                fence = fences.get(access.thread, -1)
                end = _End(access.cell, access.thread, access.epoch, access.position, fence)
                self._ends[access.block].append(end)

    def __bool__(self) -> bool:
        return any(end.fence >= 0 for ends in self._ends.values() for end in ends)

    def between(self, first: Access, second: Access) -> bool:
        """Say whether a handover puts an access of a block before one of another block."""
        for end in self._ends[first.block]:
            own = first.thread == end.thread
            if end.fence < 0 or not (first.position < end.fence if own else first.epoch < end.epoch):
                continue
            for other in self._ends[second.block]:
                if other.cell == end.cell and other.position > end.position:
                    taker = second.thread == other.thread
                    if second.position > other.position if taker else second.epoch > other.epoch:
                        return True
        return False


# --- Reads of memory that nothing was written to before -------------------------------------------------


def unset_reads(trace: Trace) -> list[Finding]:
    """Find reads that cannot know what they get, whatever the order: one finding per array and line."""
    groups: dict[tuple[int, int], list[Access]] = defaultdict(list)
    for access in early_reads(trace):
        groups[access.region.number, access.line].append(access)
    return [_unset_finding(group, trace) for _, group in sorted(groups.items())]


def early_reads(trace: Trace) -> list[Access]:
    """Return the reads of unset memory before which nothing was certainly written."""
    suspects = _read_too_early(trace)
    if not suspects:
        return []
    by_cell: dict[int, list[Access]] = {cell: [] for cell in suspects}
    for position, event in enumerate(trace.machine.log):
        if event[6] in by_cell:
            by_cell[event[6]].append(trace.access(position))
    before = _Before(trace)
    found = [read for accesses in by_cell.values() for read in _early(accesses, before)]
    return sorted(found, key=lambda access: access.position)


def _read_too_early(trace: Trace) -> set[int]:
    """Return cells that may be read before they are written: no write came before for certain."""
    log, block_of = trace.machine.log, trace.geometry.block_of
    memories = {id(region.memory) for region in trace.regions if region.unset}
    unset = {region for region in trace.regions if id(region.memory) in memories}
    # Most kernels only write to what holds nothing.
    if not any(event[2] in (READ, ATOMIC) and event[0] in unset for event in log):
        return set()
    written: dict[int, Segment] = {}
    suspects: set[int] = set()
    for region, _, kind, _, _, segment, cell in log:
        if region not in unset:
            continue
        first = written.get(cell)
        if kind in (READ, ATOMIC) and not (
            first is not None
            and (
                first.thread == segment.thread
                or first.epoch < segment.epoch
                or block_of(first.thread) != block_of(segment.thread)
            )
        ):
            suspects.add(cell)
        if first is None and (kind in (WRITE, EXCHANGE) or (kind == ATOMIC and region.space == "global")):
            written[cell] = segment
    return suspects


def _early(accesses: list[Access], before: _Before) -> Iterator[Access]:
    """Yield the reads of one cell that nothing was certainly written before."""
    writes = [access for access in accesses if access.kind in (WRITE, EXCHANGE) or _sets_a_result(access)]
    blocks = {write.block for write in writes}
    first_epoch = min((write.epoch for write in writes), default=0)
    rivals = [write for write in writes if write.epoch == first_epoch]
    own: dict[int, int] = {}
    for write in writes:
        own.setdefault(write.thread, write.position)
    for read in accesses:
        if read.kind not in (READ, ATOMIC):
            continue
        early = read.epoch < first_epoch or (
            read.epoch == first_epoch
            and not own.get(read.thread, read.position) < read.position
            and all(before(read, write) or read is write for write in rivals)
        )
        if not writes or (blocks == {read.block} and early):
            yield read


def _sets_a_result(access: Access) -> bool:
    """Say whether an atomic operation may be the first on an element, as those that take NaN for nothing."""
    return access.kind == ATOMIC and access.region.space == "global"


def _unset_finding(reads: list[Access], trace: Trace) -> Finding:
    first = min(reads, key=lambda access: (access.thread, access.at))
    region = first.region
    index = region.index_of(first.at)
    who = trace.geometry.thread_id(first.thread)
    holds = (
        "holds nothing yet, not even zero"
        if region.space == "global"
        else f"is {region.space} memory, which starts unset"
    )
    others = len({read.thread for read in reads}) - 1
    does = "changes" if first.kind == ATOMIC else "reads"
    message = (
        f"{with_capital(str(who))} {does} {element(region.name, index)} in line {first.line} before anything "
        f"was written to it; {region.name} {holds}.{more(others, 'thread', holds='The same happens in')}"
    )
    return Finding("uninitialised", message, first.line, array=region.name, index=index, threads=(who,))
