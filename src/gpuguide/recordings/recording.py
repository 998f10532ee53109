"""What a recording consists of, as immutable data: the run, what its cells put out, its files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gpuguide.recordings.keys import Keys
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.records import ClaimResult, Fact, Provenance
from gpuguide.results.results import Results

__all__ = [
    "CellOutput",
    "CellText",
    "FigureOutput",
    "FileEntry",
    "Manifest",
    "Measured",
    "Recording",
    "Transcript",
]


@dataclass(frozen=True)
class FigureOutput:
    """A figure that a recorded cell made.

    Parameters
    ----------
    file : str
        ``"figure-<first eight digits of the hash>.svg"``, or ``.png``.
    sha256 : str
        Of the file, in hexadecimal.
    alt : str
        Alternative text.
    """

    file: str
    sha256: str
    alt: str = ""


@dataclass(frozen=True)
class CellOutput:
    """What one recorded cell put out.

    Parameters
    ----------
    cell : int
        Place among the page's recorded cells, from 0.
    digest : str
        Canonical digest of the cell's code.
    stdout : str
        What it printed, `gpuguide.recordings.markup.plain_text`.
    html : str
        What its last value shows, in the HTML that `gpuguide.recordings.markup.check_html` lets through.
    figures : tuple of FigureOutput
        In the order in which they were made.
    names : tuple of (str, str, str, str, bool)
        Names used and what they were resolved to: as used, module, name, shortest module, is a class.
    """

    cell: int
    digest: str
    stdout: str = ""
    html: str = ""
    figures: tuple[FigureOutput, ...] = ()
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
    claims : tuple of ClaimResult
        All of them held.
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
    claims: tuple[ClaimResult, ...] = ()
    ceilings: Ceilings | None = None
    names: dict[str, str] = field(default_factory=dict)
    cells: tuple[CellOutput, ...] = ()
    folder: Path | None = None


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
        Of what it says without the run id (which is made from this); of a figure, of its bytes.
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
    """``measurements.json``: studies with their raw samples, facts, claims, ceilings.

    Studies that were held against the run's own ceilings are named in `with_ceilings`; each would
    otherwise carry a copy of them.
    """

    run_id: str
    names: dict[str, str]
    facts: dict[str, Fact]
    claims: tuple[ClaimResult, ...]
    ceilings: Ceilings | None
    with_ceilings: tuple[str, ...]
    studies: dict[str, Results]


@dataclass(frozen=True)
class CellText:
    """A `CellOutput` as it is stored: texts by their lines."""

    cell: int
    digest: str
    stdout: tuple[str, ...]
    html: tuple[str, ...]
    figures: tuple[FigureOutput, ...]
    names: tuple[tuple[str, str, str, str, bool], ...]


@dataclass(frozen=True)
class Transcript:
    """``transcript.json``: what the recorded cells put out."""

    run_id: str
    cells: tuple[CellText, ...]
