"""Races of a launch: two accesses to one cell, of which nothing says which one comes first.

They race if different threads make them, one of them writes (an atomic operation beside a plain access
counts as writing), and nothing puts one before the other: no barrier of their block, no operation of their
warp. Blocks never wait for each other. Two that write the same do not race: whichever wins, the cell holds
it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from gpuguide.tracer.memory import ATOMIC, READ, WRITE, Access, Site
from gpuguide.tracer.run import Grid

__all__ = ["Race", "races"]

#: Values of one instruction to one cell that are looked at, if all differ.
_MOST_VALUES = 3


class Race(NamedTuple):
    """Two accesses that race, the lowest of their array and lines, and over how many cells such pairs do."""

    first: Access
    second: Access
    n_cells: int


def races(
    accesses: Iterable[Access], grid: Grid, line_of: Callable[[Site], int], *, between_blocks: bool = True
) -> list[Race]:
    """Find the races of a launch: one for each array and pair of lines, that over the lowest cell.

    Memory of a block counts once for all blocks.
    """
    pairs: dict[Hashable, list[tuple[Access, Access]]] = defaultdict(list)
    for events in _contested(accesses):
        for first, second in _pairs(events, grid, between_blocks=between_blocks):
            lines = sorted((line_of(first.site), line_of(second.site)))
            pairs[first.array.name, first.array.memory.space, *lines].append((first, second))
    found = []
    for group in pairs.values():
        pair = min(group, key=lambda pair: _place(pair, grid))
        first, second = sorted(pair, key=lambda each: (line_of(each.site), each.thread))
        n_cells = len({(id(each.array.memory), each.cell) for each, _ in group})
        found.append(Race(first, second, n_cells))
    return found


def _contested(accesses: Iterable[Access]) -> list[list[Access]]:
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
    return [
        events
        for events in cells.values()
        if len(events) > 1 and len({event[4] for event in events}) > 1 and _harmful(events)
    ]


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
