"""What a recording consists of, as immutable data: the run, what its cells put out, its files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gpuguide.recordings.keys import Keys
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.description import StudyDescription
from gpuguide.results.records import ClaimResult, Fact, Provenance
from gpuguide.results.results import Results

__all__ = [
    "CellOutput",
    "CellText",
    "FileEntry",
    "Manifest",
    "Measured",
    "Recording",
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


@dataclass(frozen=True)
class Recording:
    """One run of one page on one machine.

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
    cells : tuple of CellOutput
        Empty where the transcript is absent, as in an installed package.
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
    cells: tuple[CellOutput, ...] = ()
    folder: Path | None = None


@dataclass(frozen=True)
class Stated:
    """What the drawn cells of a page state, besides the recorded facts; kept with their outputs."""

    facts: dict[str, Fact] = field(default_factory=dict)
    claims: tuple[ClaimResult, ...] = ()


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
class Manifest:
    """``run.json``: what belongs to a run."""

    run_id: str
    machine: str
    page: str
    provenance: Provenance
    keys: Keys
    files: tuple[FileEntry, ...]


@dataclass(frozen=True)
class Measured:
    """``measurements.json``: studies with their raw samples, facts, ceilings.

    Studies that were held against the run's own ceilings are named in `with_ceilings`; each would
    otherwise carry a copy of them.
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
    stdout: tuple[str, ...]
    shows: str
    study: StudyDescription | None
    names: tuple[tuple[str, str, str, str, bool], ...]


@dataclass(frozen=True)
class Transcript:
    """``transcript.json``: what the recorded cells put out."""

    run_id: str
    cells: tuple[CellText, ...]
