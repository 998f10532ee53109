"""Races of a launch: two accesses to one cell, of which nothing says which one comes first.

They race if different threads make them, one of them writes (an atomic operation beside a plain access counts as
writing), and nothing puts one before the other: no barrier of their block, no operation of their warp. Blocks never
wait for each other. Two that write the same do not race: whichever wins, the cell holds it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from gpuguide.tracer.memory import ATOMIC, READ, WRITE, Access
from gpuguide.tracer.run import Grid

__all__ = ["Race", "races"]

#: Values of one instruction to one cell that are looked at, if all differ.
_MOST_VALUES = 3


class Race(NamedTuple):
    """Two accesses that race, the lowest ones of their array and lines, and over how many cells such pairs do."""

    first: Access
    second: Access
    n_cells: int


def races(accesses: Iterable[Access], grid: Grid, *, between_blocks: bool = True) -> list[Race]:
    """Find the races of a launch: one for each array and pair of instructions."""
    by_cell = _contested(accesses)
    pairs: dict[Hashable, list[tuple[Access, Access]]] = defaultdict(list)
    for events in by_cell.values():
        for first, second in _pairs(events, grid, between_blocks=between_blocks):
            one, other = sorted((first, second), key=lambda each: (each.site, each.thread))
            pairs[id(one.array.memory.cells), one.site, other.site].append((first, second))
    found = []
    for group in pairs.values():
        first, second = min(group, key=lambda pair: _place(pair, grid))
        n_cells = len({(id(each.array.memory), each.cell) for each, _ in group})
        found.append(Race(*sorted((first, second), key=lambda each: each.thread), n_cells))
    return _merged(found)


def _merged(found: list[Race]) -> list[Race]:
    """Count the races of one line of a block's own memory, which is another one in each block, as one."""
    kept: dict[Hashable, Race] = {}
    for race in found:
        first, second = race.first, race.second
        key = (first.array.name, first.array.memory.space, *sorted((first.site, second.site)))
        known = kept.get(key)
        if known is None:
            kept[key] = race
        else:
            least = min(known, race, key=lambda each: (each.first.thread, each.first.cell))
            kept[key] = least._replace(n_cells=known.n_cells + race.n_cells)
    return list(kept.values())


def _contested(accesses: Iterable[Access]) -> dict[tuple[int, int], list[Access]]:
    """Return the accesses to cells that one thread changes and another one touches, too."""
    cells: dict[tuple[int, int], list[Access]] = {}
    for access in accesses:
        memory = access[0].memory
        if memory.space != "local":
            key = id(memory), access[1]
            if key in cells:
                cells[key].append(access)
            else:
                cells[key] = [access]
    return {
        key: events
        for key, events in cells.items()
        if len(events) > 1 and len({event[4] for event in events}) > 1 and _harmful(events)
    }


def _harmful(events: Iterable[Access]) -> bool:
    """Say whether such accesses together make a race, if nothing orders them."""
    kinds = {event[2] for event in events}
    return WRITE in kinds or (ATOMIC in kinds and READ in kinds)


def conflict(first: Access, second: Access) -> bool:
    """Say whether two accesses of different threads do harm, if nothing orders them."""
    kinds = {first.kind, second.kind}
    if kinds == {WRITE}:
        same = first.value == second.value or (first.value != first.value and second.value != second.value)
        return not same
    return WRITE in kinds or kinds == {ATOMIC, READ}


def _pairs(events: list[Access], grid: Grid, *, between_blocks: bool) -> Iterator[tuple[Access, Access]]:
    """Yield pairs of a cell that race: between blocks, between warps of a block, and within warps."""
    per_block = grid.per_block
    if between_blocks:
        yield from _of_units(events, lambda each: each.thread // per_block)
    together: dict[Hashable, list[Access]] = defaultdict(list)
    for event in events:
        together[event.thread // per_block, event.epoch].append(event)
    for group in together.values():
        if len(group) < 2:
            continue
        yield from _of_units(group, lambda each: grid.warp(each.thread))
        in_warps: dict[Hashable, list[Access]] = defaultdict(list)
        for event in group:
            in_warps[grid.warp(event.thread), event.phase].append(event)
        for lanes in in_warps.values():
            yield from _of_units(lanes, lambda each: each.thread)


def _of_units(events: list[Access], unit: Callable[[Access], int]) -> Iterator[tuple[Access, Access]]:
    """Yield conflicting pairs of different units: enough to name every pair of instructions."""
    if len(events) < 2 or len({unit(event) for event in events}) < 2 or not _harmful(events):
        return
    kept: dict[Hashable, list[Access]] = defaultdict(list)
    for event in events:
        known = kept[event.site, event.kind]
        alike = [each for each in known if each.value == event.value]
        if len(alike) < 2 and all(unit(each) != unit(event) for each in alike) and (
            alike or len({each.value for each in known}) < _MOST_VALUES
        ):  # fmt: skip
            known.append(event)
    for first, second in combinations([each for group in kept.values() for each in group], 2):
        if unit(first) != unit(second) and conflict(first, second):
            yield first, second


def _place(pair: tuple[Access, Access], grid: Grid) -> tuple[int, ...]:
    """Sort by the block if the memory is its own, then by the cell and the threads."""
    first, second = pair
    block = first.thread // grid.per_block if first.array.memory.space == "shared" else 0
    return block, first.cell, min(first.thread, second.thread), max(first.thread, second.thread)
