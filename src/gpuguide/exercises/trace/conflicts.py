"""Races: two accesses to one element, by different threads, in no order, of which one writes.

Two atomic operations do not conflict. The rule looks at what was accessed, never at what came out of it, so
the findings are the same in whichever order the threads ran.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses
from gpuguide.exercises.trace.columns import (
    Flags,
    Ints,
    in_runs,
    number_of_pairs,
    pairs_within,
    ranks,
    run_starts,
)
from gpuguide.exercises.trace.events import ATOMIC, EXCHANGE, WRITE
from gpuguide.exercises.trace.ordering import Handovers, before_in_block

__all__ = ["PLAIN_READ", "PLAIN_WRITE", "Race", "Touch", "contested", "races"]

#: What the rule tells apart: loads, stores and atomic operations.
PLAIN_READ, PLAIN_WRITE, ATOMICALLY = 0, 1, 2
_ROLES = np.zeros(8, np.int64)
_ROLES[[WRITE, ATOMIC, EXCHANGE]] = PLAIN_WRITE, ATOMICALLY, ATOMICALLY
#: Pairs that are checked one by one, at most; beyond that, only those of two units per line and role.
_MOST_PAIRS = 2_000_000
_Before = Callable[[Ints, Ints], Flags]


@dataclass(frozen=True)
class Touch:
    """One side of a race.

    Attributes
    ----------
    thread, line, region, address, role : int
        Who, where in the source, which array, which cell, and PLAIN_READ, PLAIN_WRITE or ATOMICALLY.
    """

    thread: int
    line: int
    region: int
    address: int
    role: int


@dataclass(frozen=True)
class Race:
    """All races between the same lines over the same array, represented by the one over the lowest element.

    Attributes
    ----------
    first, second : Touch
        The one on the lower line first; on the same line that of the lower thread.
    same_block : bool
        Whether a barrier could have ordered the two.
    roles : frozenset of tuple of int
        Which roles meet in any of these races, the lower one first.
    elements : int
        How many elements are concerned.
    """

    first: Touch
    second: Touch
    same_block: bool
    roles: frozenset[tuple[int, int]]
    elements: int


def races(accesses: Accesses, handovers: Handovers) -> list[Race]:
    """Find all races of a launch.

    Parameters
    ----------
    accesses : Accesses
        Those to global and shared memory.
    handovers : Handovers
        What orders accesses of different blocks.

    Returns
    -------
    list of Race
        One for each array and pair of lines.
    """
    suspects = accesses[_contested(accesses, [accesses.cell], accesses.thread)]
    if not len(suspects):
        return []
    first, second = (np.concatenate(side) for side in zip(*_levels(suspects, handovers), strict=True))
    return _told(suspects, first, second) if len(first) else []


def _contested(accesses: Accesses, keys: list[Ints], unit: Ints) -> Ints:
    """Return the positions of accesses in groups (of equal keys) in which two units conflict.

    A group of at least two units conflicts if it holds a store, or both loads and atomic operations: each is
    by some unit, and any other unit's access that is not of the same harmless kind makes the pair.
    """
    order = np.lexsort(keys[::-1])
    starts = run_starts(*(key[order] for key in keys))
    if not len(starts):
        return order
    role, unit = _ROLES[accesses.kind[order]], unit[order]
    several = np.minimum.reduceat(unit, starts) != np.maximum.reduceat(unit, starts)
    met = np.bitwise_or.reduceat(1 << role, starts)
    harmful = (met & (1 << PLAIN_WRITE) != 0) | (met == 1 << PLAIN_READ | 1 << ATOMICALLY)
    return order[in_runs(several & harmful, starts, len(order))]


def contested(accesses: Accesses, unit: Ints) -> Flags:
    """Say which accesses are to elements over which two units (threads or blocks) conflict.

    Parameters
    ----------
    accesses : Accesses
        Those that nothing orders.
    unit : ndarray of int64
        The unit of each of them.

    Returns
    -------
    ndarray of bool
        One per access.
    """
    found = np.zeros(len(accesses), bool)
    found[_contested(accesses, [accesses.cell], unit)] = True
    return found


def _levels(accesses: Accesses, handovers: Handovers) -> Iterator[tuple[Ints, Ints]]:
    """Yield the conflicting pairs between blocks, between warps of a block, and within warps."""
    loose = accesses.setting.loose_warps
    phase = np.where(np.isin(accesses.warp, list(loose)), 0, accesses.phase)
    cell, block, warp, epoch = accesses.cell, accesses.block, accesses.warp, accesses.epoch

    def handed_over(first: Ints, second: Ints) -> Flags:
        return handovers.between(accesses, first, second)

    def synchronised(first: Ints, second: Ints) -> Flags:
        return before_in_block(accesses, first, second)

    yield _pairs(accesses, [cell], block, handed_over if handovers else None)
    yield _pairs(accesses, [cell, block, epoch], warp, None)
    yield _pairs(accesses, [cell, warp, epoch, phase], accesses.thread, synchronised if loose else None)


def _pairs(accesses: Accesses, keys: list[Ints], unit: Ints, before: _Before | None) -> tuple[Ints, Ints]:
    """Return conflicting pairs of positions: enough to name every array, line and element concerned.

    Parameters
    ----------
    accesses : Accesses
        To look at.
    keys : list of ndarray
        Only accesses that agree in all of these can conflict.
    unit : ndarray
        Only accesses that differ in this can.
    before : callable, optional
        Says which of two come in order after all; without it, two units per line and role are enough.
    """
    chosen = _contested(accesses, keys, unit)
    role, line = _ROLES[accesses.kind], accesses.line
    by = [*keys, line, role]
    chosen = chosen[np.lexsort([accesses.thread[chosen], unit[chosen], *(key[chosen] for key in by[::-1])])]
    if before is None:
        chosen = _two_units(chosen, by, unit)
    starts = run_starts(*(key[chosen] for key in keys))
    if before is not None and number_of_pairs(starts, len(chosen)) > _MOST_PAIRS:
        chosen = _two_units(chosen, by, unit)
        starts = run_starts(*(key[chosen] for key in keys))
    first, second = pairs_within(starts, len(chosen))
    first, second = chosen[first], chosen[second]
    conflict = (unit[first] != unit[second]) & ((role[first] == PLAIN_WRITE) | (role[first] != role[second]))
    first, second = first[conflict], second[conflict]
    if before is not None:
        unordered = ~(before(first, second) | before(second, first))
        first, second = first[unordered], second[unordered]
    return first, second


def _two_units(chosen: Ints, by: list[Ints], unit: Ints) -> Ints:
    """Keep the lowest thread of the two lowest units of each group of sorted positions."""
    columns = [key[chosen] for key in by]
    chosen = chosen[run_starts(*columns, unit[chosen])]
    starts = run_starts(*(key[chosen] for key in by))
    return chosen[ranks(starts, len(chosen)) < 2]


def _told(accesses: Accesses, first: Ints, second: Ints) -> list[Race]:
    """Group pairs by array and lines, each represented by the lowest element and threads."""
    thread, line, region = accesses.thread, accesses.line, accesses.region
    swap = (line[first] > line[second]) | ((line[first] == line[second]) & (thread[first] > thread[second]))
    first, second = np.where(swap, second, first), np.where(swap, first, second)
    lines = [line[second], line[first], region[first]]
    order = np.lexsort([thread[second], thread[first], accesses.cell[first], *lines])
    first, second = first[order], second[order]
    starts = run_starts(region[first], line[first], line[second])
    ends = [*starts[1:], len(first)]
    return [_race(accesses, first[a:b], second[a:b]) for a, b in zip(starts, ends, strict=True)]


def _race(accesses: Accesses, first: Ints, second: Ints) -> Race:
    role = _ROLES[accesses.kind]
    roles = {tuple(sorted(pair)) for pair in zip(role[first].tolist(), role[second].tolist(), strict=True)}
    return Race(
        _touch(accesses, int(first[0])),
        _touch(accesses, int(second[0])),
        bool(accesses.block[first[0]] == accesses.block[second[0]]),
        frozenset((low, high) for low, high in roles),
        len(np.unique(accesses.cell[first])),
    )


def _touch(accesses: Accesses, at: int) -> Touch:
    return Touch(
        int(accesses.thread[at]),
        int(accesses.line[at]),
        int(accesses.region[at]),
        int(accesses.address[at]),
        int(_ROLES[accesses.kind[at]]),
    )
