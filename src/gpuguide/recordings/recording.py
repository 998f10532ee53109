"""What a recording consists of, as immutable data: the run, what its cells put out, its files."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar

from gpuguide.recordings.keys import Keys
from gpuguide.results.arrays import KeptArray
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.counters import Counted
from gpuguide.results.description import StudyDescription
from gpuguide.results.records import ClaimResult, Fact, Provenance
from gpuguide.results.results import Results
from gpuguide.results.units import format_size

__all__ = [
    "ByName",
    "CellOutput",
    "CellText",
    "FileEntry",
    "FormerRun",
    "KeptArrays",
    "Manifest",
    "Measured",
    "Recording",
    "RunEntry",
    "SavedRun",
    "Stated",
    "Transcript",
]


@dataclass(frozen=True)
class CellOutput:
    """What one recorded cell put out: text and data. Tables and figures are drawn when a page is built.

    Parameters
    ----------
    cell : int
        Place among the page's recorded cells, from 0.
    digest : str
        Canonical digest of the cell's code.
    stdout : str
        What it printed, and its last value as text.
    shows : str
        Where its last value is the results of a study: the study's name.
    study : StudyDescription or None
        Where its last value is a study: what it is going to compare.
    names : tuple of (str, str, str, str, bool)
        Names used and what they were resolved to: as used, module, name, shortest module, is a class.
    """

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


@dataclass(frozen=True)
class FormerRun:
    """What is kept of a run once a newer one is there.

    Parameters
    ----------
    measuring : str
        Its measuring key, which is that of the newest run.
    provenance : Provenance
        Where, when and with what.
    facts : dict of str to Fact
        By name, without samples.
    ceilings : Ceilings or None
        As medians.
    studies : dict of str to Results
        By name; the cells are summarised.
    """

    measuring: str
    provenance: Provenance
    facts: dict[str, Fact] = field(default_factory=dict)
    ceilings: Ceilings | None = None
    studies: dict[str, Results] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _by_name(self, "facts", "studies")

    def __repr__(self) -> str:
        run = f"{self.provenance.utc_date[:10]} on start {self.provenance.start!r}"
        return f"<FormerRun of {run}: {_counted(self.studies, 'study', 'studies')}>"


@dataclass(frozen=True, repr=False)
class Recording:
    """What was measured for one page on one machine: the newest run, and what is kept of the former ones.

    Parameters
    ----------
    machine, page : str
        Short names, as the folders are called.
    run_id : str
        Hash over all contents; the same in each file. Set by `gpuguide.recordings.store.save`.
    provenance : Provenance
        Where, when and with what.
    keys : Keys
        Digests of the code that was measured.
    studies : dict of str to Results
        By name, in the order they ran.
    facts : dict of str to Fact
        By name.
    ceilings : Ceilings or None
        What the machine can do, where the run measured it.
    names : dict of str to str
        Name of a variable on the page -> name of the study whose results it holds.
    arrays : dict of str to KeptArray
        Small arrays that the page kept, by name.
    cells : tuple of CellOutput
        Empty where the transcript is absent, as in an installed package.
    counters : tuple of Counted
        What the GPU's hardware counters said of this code; kept beside the runs, and not written with them.
    runs : tuple of FormerRun
        The former runs, oldest first; provenance and all above are the newest run's.
    folder : Path or None
        Where it was read from or saved to.
    """

    machine: str
    page: str
    provenance: Provenance
    keys: Keys
    run_id: str = ""
    studies: dict[str, Results] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    ceilings: Ceilings | None = None
    names: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, KeptArray] = field(default_factory=dict)
    cells: tuple[CellOutput, ...] = ()
    counters: tuple[Counted, ...] = ()
    runs: tuple[FormerRun, ...] = ()
    folder: Path | None = None

    def __post_init__(self) -> None:
        _by_name(self, "facts", "studies", "names", "arrays")

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


def _by_name(owner: object, *fields: str) -> None:
    for name in fields:
        object.__setattr__(owner, name, ByName(getattr(owner, name)))


@dataclass(frozen=True, repr=False)
class SavedRun:
    """What ``gpuguide run TOPIC --json FILE`` wrote: one run of a topic's studies, on one machine.

    Parameters
    ----------
    gpuguide : str
        Version of the package that wrote it.
    studies : dict of str to Results
        By name, in the order they ran.
    """

    gpuguide: str
    studies: dict[str, Results]

    def __post_init__(self) -> None:
        _by_name(self, "studies")

    def __repr__(self) -> str:
        lines = [
            f"<SavedRun of gpuguide {self.gpuguide}: {_counted(self.studies, 'study', 'studies')}",
            *_first(_told(study) for study in self.studies.values()),
        ]
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
class Stated:
    """What the drawn cells of a page state, besides the recorded facts; kept with their outputs.

    Parameters
    ----------
    by_run : dict of str to tuple of (str, Fact)
        Of each fact, what the runs gave: the machine start and the fact, oldest first.
    claims : tuple of ClaimResult
        In the order they were made.
    """

    by_run: dict[str, tuple[tuple[str, Fact], ...]] = field(default_factory=dict)
    claims: tuple[ClaimResult, ...] = ()

    @cached_property
    def facts(self) -> dict[str, Fact]:
        """Each fact as it is shown: its median over the machine starts."""
        return {name: Fact.over_starts(of_runs) for name, of_runs in self.by_run.items()}


@dataclass(frozen=True)
class FileEntry:
    """One file beside the manifest.

    Parameters
    ----------
    name : str
        Its name in the folder.
    sha256 : str
        Of its bytes.
    content : str
        Of what it says without the run id, which is made from this.
    """

    name: str
    sha256: str
    content: str


@dataclass(frozen=True)
class RunEntry:
    """A former run as the manifest lists it; what it measured stands in ``earlier.json``."""

    measuring: str
    provenance: Provenance


@dataclass(frozen=True)
class Manifest:
    """``run.json``: what belongs to the newest run, and which runs were before it, oldest first."""

    run_id: str
    machine: str
    page: str
    provenance: Provenance
    keys: Keys
    runs: tuple[RunEntry, ...]
    files: tuple[FileEntry, ...]


@dataclass(frozen=True)
class Measured:
    """``measurements.json``: studies with their raw samples, facts, ceilings.

    `with_ceilings` names the studies that were compared with the run's own ceilings; otherwise each would
    carry a copy of them.
    """

    run_id: str
    names: dict[str, str]
    facts: dict[str, Fact]
    ceilings: Ceilings | None
    with_ceilings: tuple[str, ...]
    studies: dict[str, Results]


@dataclass(frozen=True)
class CellText:
    """A `CellOutput` as it is stored: its text by lines."""

    cell: int
    digest: str
    # Line by line, so that a diff shows which one has changed.
    stdout: tuple[str, ...]
    shows: str
    study: StudyDescription | None
    names: tuple[tuple[str, str, str, str, bool], ...]


@dataclass(frozen=True)
class Transcript:
    """``transcript.json``: what the recorded cells put out."""

    run_id: str
    cells: tuple[CellText, ...]


@dataclass(frozen=True)
class KeptArrays:
    """``arrays.json``: small arrays that the page kept, where it kept any."""

    run_id: str
    arrays: dict[str, KeptArray]
