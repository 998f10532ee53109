"""Puts races and reads of unset memory into words."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gpuguide.exercises.trace.accesses import Accesses, Setting
from gpuguide.exercises.trace.columns import Ints
from gpuguide.exercises.trace.conflicts import PLAIN_READ, PLAIN_WRITE, Race, Touch
from gpuguide.exercises.trace.findings import Finding, numbers
from gpuguide.exercises.trace.wording import count, element, with_capital

__all__ = ["race_finding", "unset_findings"]

_DOES = {PLAIN_READ: "reads", PLAIN_WRITE: "writes"}


def race_finding(race: Race, setting: Setting) -> Finding:
    """Return the finding on a race.

    Parameters
    ----------
    race : Race
        What was found.
    setting : Setting
        Of the launch.

    Returns
    -------
    Finding
        Of kind ``"race"``.
    """
    regions, geometry = setting.regions, setting.geometry
    first, second = race.first, race.second
    name = regions[first.region].name
    index = regions[first.region].index_of(first.address)
    who = (geometry.thread_id(first.thread), geometry.thread_id(second.thread))
    if first.line == second.line and (PLAIN_WRITE, PLAIN_WRITE) in race.roles:
        changed = (PLAIN_READ, PLAIN_WRITE) in race.roles
        does, harm = (
            ("change", "one of the changes can be lost") if changed else ("write", "either value can stay")
        )
        said = f"{_both(race, setting)} both {does} {element(name, index)} in line {first.line}"
    else:
        said = (
            f"{with_capital(str(who[0]))} {_touches(first)} {element(name, index)} in line {first.line} and "
            f"{_other(race, setting)} {_touches(second)} {_again(first, second, setting)}"
        )
        read = PLAIN_READ in (first.role, second.role)
        harm = "the old value or the new one can be read" if read else "either value can stay"
    apart = " with no barrier between" if race.same_block else ", and blocks do not wait for each other"
    message = f"{said}{apart}, so {harm}.{_more(race.elements)}"
    lines = tuple(sorted({first.line, second.line}))
    return Finding("race", message, lines[0], lines, name, index, who)


def _both(race: Race, setting: Setting) -> str:
    first, second = (setting.geometry.thread_id(touch.thread) for touch in (race.first, race.second))
    if race.same_block:
        return f"Threads {numbers(first.thread)} and {numbers(second.thread)} of block {numbers(first.block)}"
    return f"{with_capital(str(first))} and {second}"


def _other(race: Race, setting: Setting) -> str:
    thread = setting.geometry.thread_id(race.second.thread)
    return f"thread {numbers(thread.thread)}" if race.same_block else str(thread)


def _touches(touch: Touch) -> str:
    return _DOES.get(touch.role, "atomically changes")


def _again(first: Touch, second: Touch, setting: Setting) -> str:
    """Name the second access's element and line, as briefly as it goes."""
    region = setting.regions[second.region]
    same = first.region == second.region
    what = "it" if same else f"{element(region.name, region.index_of(second.address))}, the same memory,"
    return f"{what} in {'the same line' if first.line == second.line else f'line {second.line}'}"


def _more(elements: int) -> str:
    return "" if elements == 1 else f" The same holds for {count(elements - 1, 'more element')}."


def unset_findings(accesses: Accesses, positions: Ints) -> list[Finding]:
    """Return the findings on reads of memory that nothing was written to, one for each array and line.

    Parameters
    ----------
    accesses : Accesses
        Of the launch.
    positions : ndarray of int64
        Which of them are such reads.

    Returns
    -------
    list of Finding
        Of kind ``"uninitialised"``.
    """
    reads = accesses[positions]
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for at, key in enumerate(zip(reads.region.tolist(), reads.line.tolist(), strict=True)):
        groups[key].append(at)
    return [_unset_finding(reads[np.array(group)]) for group in groups.values()]


def _unset_finding(reads: Accesses) -> Finding:
    first = reads[np.lexsort([reads.address, reads.thread])[:1]]
    region = reads.setting.regions[int(first.region[0])]
    index = region.index_of(int(first.address[0]))
    line, who = int(first.line[0]), reads.setting.geometry.thread_id(int(first.thread[0]))
    holds = (
        "holds nothing yet" if region.space == "global" else f"is {region.space} memory, which starts unset"
    )
    n = len(np.unique(reads.thread))
    more = "" if n == 1 else f" The same happens in {count(n - 1, 'more thread')}."
    message = (
        f"{with_capital(str(who))} reads {element(region.name, index)} in line {line} before anything was "
        f"written to it; {region.name} {holds}.{more}"
    )
    return Finding("uninitialised", message, line, array=region.name, index=index, threads=(who,))
