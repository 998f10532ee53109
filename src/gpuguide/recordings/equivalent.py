"""Code that was shown to measure the same, so that recordings stay current when only the harness changed.

`make equivalent` lets two trees take turns on one machine start and writes an entry with the medians of both.
The verdict is never stored: it is computed from them, whenever an entry is used.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gpuguide.errors import RecordingError
from gpuguide.recordings.limits import read_toml, toml_text

__all__ = [
    "COVERED_ROOMS",
    "FILE",
    "N_TURNS",
    "Cell",
    "Entry",
    "Part",
    "is_covered",
    "problems",
    "ratios",
    "read_entries",
    "render",
    "sealed",
    "verdict",
    "with_entries",
]

FILE = "equivalent.toml"
"""Where the entries lie, beside the recordings."""

COVERED_ROOMS = ("gpuguide.machine", "gpuguide.measure", "gpuguide_docs.record")
"""Packages that an entry may cover; a changed topic or cell measures something else."""

N_TURNS = 5
"""Runs of each tree."""

MOST_DEVICE, MOST_OTHER = 0.01, 0.03
"""How far from 1 the median ratio of a clock may lie: the device's, and any other's."""


@dataclass(frozen=True)
class Part:
    """A module before and after.

    Parameters
    ----------
    name : str
        Dotted name.
    old, new : str
        Its digests; `old` is empty for a module that pages load since, `new` for one that is gone.
    old_docstrings, new_docstrings : str
        Its digests on pages where docstrings count.
    page : str
        One that loaded it while the trees took turns; empty for what pages load since.
    """

    name: str
    old: str
    new: str
    old_docstrings: str
    new_docstrings: str
    page: str


@dataclass(frozen=True)
class Cell:
    """What both trees measured of one variant at one size on one clock.

    Parameters
    ----------
    what : str
        ``"page study variant size"``.
    clock : str
        The region that was timed.
    old_ns, new_ns : tuple of float
        Median nanoseconds per call, one for each turn.
    """

    what: str
    clock: str
    old_ns: tuple[float, ...]
    new_ns: tuple[float, ...]


@dataclass(frozen=True)
class Entry:
    """One change of the harness that left the times as they were.

    Parameters
    ----------
    reason : str
        Why the code changed.
    machine : str
        Where it was tried.
    parts : tuple of Part
        What changed, and what pages load since.
    clocks : tuple of str
        Those that recordings of this machine have, each of which was tried.
    cells : tuple of Cell
        The evidence.
    seal : str
        Digest of all of it, so that nothing is changed by hand.
    """

    reason: str
    machine: str
    parts: tuple[Part, ...]
    clocks: tuple[str, ...]
    cells: tuple[Cell, ...]
    seal: str = ""


def is_covered(name: str) -> bool:
    """Tell whether an entry may cover a module."""
    return any(f"{name}.".startswith(f"{room}.") for room in COVERED_ROOMS)


def ratios(cells: Iterable[Cell]) -> dict[str, float]:
    """Give the median over all cells of new to old time, for each clock."""
    found: dict[str, list[float]] = {}
    for cell in cells:
        ratio = statistics.median(cell.new_ns) / statistics.median(cell.old_ns)
        found.setdefault(cell.clock, []).append(ratio)
    return {clock: statistics.median(each) for clock, each in sorted(found.items())}


def verdict(entry: Entry) -> tuple[str, ...]:
    """Return the objections to an entry, judged by its evidence.

    Parameters
    ----------
    entry : Entry
        Read, or about to be written.

    Returns
    -------
    tuple of str
        Empty if both trees measure the same.
    """
    return tuple(_objections(entry))


def _objections(entry: Entry) -> Iterable[str]:
    yield from _objections_to_parts(entry)
    for cell in entry.cells:
        times = [*cell.old_ns, *cell.new_ns]
        sound = len(cell.old_ns) == len(cell.new_ns) == N_TURNS and all(0 < ns < math.inf for ns in times)
        if not sound:
            yield f"{cell.what} on clock {cell.clock}: expected {N_TURNS} times of each tree, all above 0"
            # The ratios below would divide by what is not there, or by 0.
            return
    found = ratios(entry.cells)
    # Without a clock that must be there, an entry without times would hold.
    for clock in entry.clocks or ("any",):
        if clock not in found:
            yield f"there are no times of clock {clock}"
    for clock, ratio in found.items():
        most = MOST_DEVICE if clock == "device" else MOST_OTHER
        if abs(ratio - 1) > most:
            yield (
                f"clock {clock}: the new tree takes {ratio:.4f} times as long in the middle; "
                f"at most {most:.0%} apart is allowed"
            )


def _objections_to_parts(entry: Entry) -> Iterable[str]:
    pages = {cell.what.partition(" ")[0] for cell in entry.cells}
    changed = [part for part in entry.parts if part.old]
    if not changed:
        yield "it names no module that changed"
    for part in entry.parts:
        if not is_covered(part.name):
            yield f"{part.name} lies in none of {', '.join(COVERED_ROOMS)}"
    for part in changed:
        if part.page not in pages:
            yield f"{part.name} was loaded by no page whose times are there"


def with_entries(parts: Mapping[str, str], entries: Iterable[Entry]) -> tuple[dict[str, str], ...]:
    """Give the parts that a recording may be of, by the entries that hold.

    Parameters
    ----------
    parts : mapping of str to str
        Name -> digest of the modules of a recording's key.
    entries : iterable of Entry
        In the order in which they were made: one may lead on from the one before.

    Returns
    -------
    tuple of dict
        The parts themselves first. Modules that pages load since are among those of the others.
    """
    reached = [dict(parts)]
    for entry in entries:
        if not verdict(entry):
            # Where one part of a page reads docstrings, all are digested with them: both kinds are tried.
            carried = [_carried(each, entry, docstrings) for each in reached for docstrings in (False, True)]
            reached += [each for each in carried if each and each not in reached]
    return tuple(reached)


def _carried(parts: Mapping[str, str], entry: Entry, docstrings: bool) -> dict[str, str]:
    """Replace what an entry replaces, if all that it names of these is as it says; else nothing."""
    added: dict[str, str] = {}
    after = dict(parts)
    for part in entry.parts:
        old, new = (part.old_docstrings, part.new_docstrings) if docstrings else (part.old, part.new)
        if not old:
            added[part.name] = new
        elif part.name in parts:
            if parts[part.name] != old:
                return {}
            after[part.name] = new
    if after == parts:
        return {}
    return {**added, **{name: digest for name, digest in after.items() if digest}}


def problems(recorded: Path) -> tuple[str, ...]:
    """Say which entries do not hold, and why: they keep no recording current.

    Parameters
    ----------
    recorded : Path
        Folder of the recordings.

    Returns
    -------
    tuple of str
        For `make check`.
    """
    entries, damaged = _read(recorded)
    failed = (
        f"the entry {entry.reason!r} does not hold: {objection}"
        for entry in entries
        for objection in verdict(entry)
    )
    return (*damaged, *failed)


def read_entries(recorded: Path) -> tuple[Entry, ...]:
    """Read the entries beside the recordings that `make equivalent` wrote; `problems` names the others.

    Parameters
    ----------
    recorded : Path
        Folder of the recordings.

    Returns
    -------
    tuple of Entry
        In the order of the file; empty without one.
    """
    return _read(recorded)[0]


def _read(recorded: Path) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    path = recorded / FILE
    if not path.is_file():
        return (), ()
    try:
        return _parsed(toml_text(path))
    except RecordingError as error:
        return (), (str(error),)


# By the text: each page of a build asks for the entries, and a changed file must not answer from before.
@functools.lru_cache(maxsize=8)
def _parsed(text: str) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    try:
        listed = read_toml(text, FILE).get("entry", [])
    except RecordingError as error:
        return (), (str(error),)
    if not isinstance(listed, list):
        return (), (f"{FILE}: expected a list of entries",)
    entries, damaged = [], []
    for i, each in enumerate(listed, start=1):
        try:
            entries.append(_entry(each))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            damaged.append(f"entry {i} is not what `make equivalent` writes ({error!r}); take it out")
    return tuple(entries), tuple(damaged)


def _entry(data: Any) -> Entry:
    entry = Entry(
        reason=_text(data["reason"]),
        machine=_text(data["machine"]),
        parts=tuple(Part(*map(_text, each)) for each in data["parts"]),
        clocks=tuple(map(_text, data["clocks"])),
        cells=tuple(
            Cell(_text(what), _text(clock), tuple(map(float, old)), tuple(map(float, new)))
            for what, clock, old, new in data["cells"]
        ),
        seal=_text(data["seal"]),
    )
    if entry != sealed(entry):
        raise ValueError("its seal is that of another")
    return entry


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r}")
    return value


def sealed(entry: Entry) -> Entry:
    """Give an entry with the digest of all that it says."""
    # Without the seal itself, which cannot be part of what it is made from.
    whole = asdict(entry) | {"seal": ""}
    seal = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()
    return Entry(**{name: getattr(entry, name) for name in whole if name != "seal"}, seal=seal)


def render(entries: Sequence[Entry]) -> str:
    """Write entries as TOML, one part and one measured cell a line.

    Parameters
    ----------
    entries : sequence of Entry
        Sealed.

    Returns
    -------
    str
        What `read_entries` reads.
    """
    lines = ["# Written by `make equivalent`, never by hand: `make check` recomputes the verdict of each."]
    for entry in entries:
        lines += ["", "[[entry]]"]
        lines += [
            f"{name} = {_line(getattr(entry, name))}" for name in ("reason", "machine", "clocks", "seal")
        ]
        rows = {
            "parts": [list(asdict(part).values()) for part in entry.parts],
            "cells": [[cell.what, cell.clock, cell.old_ns, cell.new_ns] for cell in entry.cells],
        }
        for name, listed in rows.items():
            lines += [f"{name} = [", *(f"  {_line(row)}," for row in listed), "]"]
    return "\n".join(lines) + "\n"


def _line(value: object) -> str:
    # Strings, lists and finite numbers look the same in JSON and in TOML, but for a lone DEL.
    return json.dumps(value, ensure_ascii=True)
