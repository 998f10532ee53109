"""What a recording consists of, as immutable data: its runs, and what their cells put out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sized
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar

from gpuguide.recordings.keys import Key
from gpuguide.results.arrays import KeptArray
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.counters import Counted
from gpuguide.results.description import StudyDescription
from gpuguide.results.findings import Finding
from gpuguide.results.records import ClaimResult, Fact, Provenance
from gpuguide.results.results import Results
from gpuguide.results.units import format_size

__all__ = ["ByName", "CellOutput", "ClaimsElsewhere", "Recording", "Run", "Stated", "machine_name"]


@dataclass(frozen=True)
class CellOutput:
    """What one recorded cell put out: text and data. Tables and figures are drawn when a page is built."""

    cell: int
    digest: str
    stdout: str = ""
    shows: str = ""
    study: StudyDescription | None = None
    names: tuple[tuple[str, str, str, str, bool], ...] = ()

    def __repr__(self) -> str:
        shows = f", shows {self.shows!r}" if self.shows else ", shows a study" if self.study else ""
        return f"<CellOutput {self.cell}: {_counted(self.stdout.splitlines(), 'line')}{shows}>"


T = TypeVar("T")


class ByName(dict[str, T]):
    """What a recording holds by name; in a session its first entries are shown, a line for each."""

    def __repr__(self) -> str:
        """Show a dict in a few lines, although a page has up to sixty facts."""
        shown = []
        for name, value in islice(self.items(), _MOST_ENTRIES):
            entry = f"{name!r}: {value.shown if isinstance(value, Fact) else repr(value)}"
            shown.append(entry if len(entry) <= _WIDEST else f"{entry[:_WIDEST]}...")
        if len(self) > _MOST_ENTRIES:
            shown.append(f"... and {len(self) - _MOST_ENTRIES} more")
        return "{" + ",\n ".join(shown) + "}"


_MOST_ENTRIES, _WIDEST = 12, 100


@dataclass(frozen=True, repr=False)
class Run:
    """One run of a page on a machine: what one file of a recording holds."""

    machine: str
    page: str
    provenance: Provenance
    key: Key
    names: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    ceilings: Ceilings | None = None
    studies: dict[str, Results] = field(default_factory=dict)
    arrays: dict[str, KeptArray] = field(default_factory=dict)
    cells: tuple[CellOutput, ...] = ()

    def __post_init__(self) -> None:
        for name in ("names", "facts", "studies", "arrays"):
            object.__setattr__(self, name, ByName(getattr(self, name)))

    @property
    def name(self) -> str:
        """Date and machine start: what its file is called."""
        start = re.sub("[^0-9a-z]", "", self.provenance.start.lower())[:6]
        return f"{self.provenance.utc_date[:10]}-{start or 'unknown'}"

    def __repr__(self) -> str:
        run = f"{self.provenance.utc_date[:10]} on start {self.provenance.start!r}"
        return f"<Run of {run}: {_counted(self.studies, 'study', 'studies')}>"


@dataclass(frozen=True, repr=False)
class Recording(Run):
    """What was measured for one page on one machine: the newest run, and the former ones in `runs`."""

    counters: tuple[Counted, ...] = ()
    runs: tuple[Run, ...] = ()
    folder: Path | None = None
    files: tuple[str, ...] = ()

    @property
    def provenances(self) -> tuple[Provenance, ...]:
        """Where, when and with what each run was made, oldest first."""
        return (*(run.provenance for run in self.runs), self.provenance)

    @property
    def n_starts(self) -> int:
        """Machine starts on which the page ran."""
        return len({each.start for each in self.provenances})

    def __repr__(self) -> str:
        described = self.provenances
        starts = {start: i for i, start in enumerate(dict.fromkeys(each.start for each in described), 1)}
        runs = [f"{each.utc_date[:10]} (start {starts[each.start]})" for each in described]
        lines = [
            f"<Recording of page {self.page!r} on {self.machine!r}: {self.provenance.gpu}",
            f" {_counted(runs, 'run')}: {', '.join(runs)}",
            f" {_counted(self.studies, 'study', 'studies')}" + (":" if self.studies else ""),
            *_first(_told(study) for study in self.studies.values()),
            f" {_counted(self.facts, 'fact')}" + (f": {_listed(self.facts)}" if self.facts else ""),
        ]
        if self.arrays:
            lines.append(f" {_counted(self.arrays, 'array')}: {_listed(self.arrays)}")
        if self.counters:
            cells = (f"{each.study}[{each.variant}, {format_size(each.size)}]" for each in self.counters)
            lines.append(f" counters of {_listed(cells)}")
        return "\n".join(lines) + ">"


# With seven lines of studies, a recording takes fifteen of a terminal: runs and facts may take two each.
_MOST_LINES, _MOST_LISTED = 6, 8


def _counted(things: Sized, one: str, many: str = "") -> str:
    return f"{len(things)} {one if len(things) == 1 else many or one + 's'}"


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - _MOST_LISTED} more" if len(known) > _MOST_LISTED else ""
    return ", ".join(known[:_MOST_LISTED]) + more


def _told(study: Results) -> str:
    sizes = [format_size(size) for size in study.sizes]
    span = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else "".join(sizes) or "none"
    return (
        f"  {study.name!r}: {_counted(study.variants, 'variant')}, {study.size_name} {span} ({study.dtype})"
    )


def _first(lines: Iterable[str]) -> list[str]:
    known = list(lines)
    more = len(known) - _MOST_LINES
    return known if more <= 0 else [*known[:_MOST_LINES], f"  and {more} more"]


@dataclass(frozen=True)
class ClaimsElsewhere:
    """What a page's claims come to on another machine, in the page's order."""

    machine: str
    claims: tuple[ClaimResult, ...] = ()


@dataclass(frozen=True)
class Stated:
    """What the drawn cells of a page state, besides the recorded facts; kept with their outputs."""

    by_run: dict[str, tuple[tuple[str, Fact], ...]] = field(default_factory=dict)
    claims: tuple[ClaimResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    elsewhere: tuple[ClaimsElsewhere, ...] = ()

    @cached_property
    def facts(self) -> dict[str, Fact]:
        """Each fact as it is shown: its median over the machine starts."""
        return {name: Fact.over_starts(of_runs) for name, of_runs in self.by_run.items()}


def machine_name(recording: Recording) -> str:
    """Name a machine as everybody does: "NVIDIA H100 80GB HBM3" is H100; without a GPU, by its CPU."""
    gpu = recording.provenance.gpu
    if gpu in ("", "none"):
        return recording.provenance.cpu.partition(" (")[0] or recording.machine
    # As the folders of machines are called: nvidia-h200-x2.
    several = re.search(r"-x(\d+)$", recording.machine)
    name = re.sub(r"NVIDIA | \d+GB.*", "", gpu)
    return f"{several[1]} {name}" if several else name
