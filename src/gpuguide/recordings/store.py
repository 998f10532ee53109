"""Recordings: the only module that reads and writes what a page measured on a machine.

A run is one file, ``<root>/<machine>/<page>/<date>-<start>.json``, with all that it measured, samples
included. A page's recording is its folder: the newest run, and the former ones of the same code, versions and
GPU. Nothing in it is ever executed, and what does not fit is refused by the name of its file and field.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpuguide.errors import RecordingError, unknown
from gpuguide.recordings.counters import counters_of
from gpuguide.recordings.keys import changes
from gpuguide.recordings.plain import dumps, label, loads, write
from gpuguide.recordings.recording import Recording, Run
from gpuguide.recordings.runs import MOST_RUNS, date_of, differences, in_terms_of, over_starts, unexpected
from gpuguide.recordings.spread import FILE as SPREAD
from gpuguide.recordings.spread import deviations_in, pooled, save_spread

__all__ = [
    "PRIMARY_MACHINE",
    "ROOT",
    "add",
    "digest",
    "dumps_run",
    "load",
    "load_or_none",
    "machines",
    "pages",
    "read",
    "renew_spread",
    "staleness",
]

ROOT = Path(__file__).parents[1] / "recorded"
"""Where the package keeps its recordings.

:meta hide-value:
"""

PRIMARY_MACHINE = "nvidia-h200"
"""The machine whose recordings are shown where none is named."""

_RUNS = "[0-9]*.json"


def load(page: str | Path, machine: str | None = None, root: Path | None = None) -> Recording:
    """Load what was measured for a page, or what ``gpuguide run PAGE --json FILE`` wrote.

    Parameters
    ----------
    page : str or Path
        Name of the page; or the file of a run, as a path or by a name that ends in ``.json``.
    machine : str, optional
        On which machine; by default the primary one (``"nvidia-h200"``), else the first by the alphabet.
    root : Path, optional
        Folder of the recordings; by default those that come with the package.

    Returns
    -------
    Recording
        Of a page: ``studies``, ``facts``, ``ceilings`` and ``provenance`` of the newest run. Each study has
        the former ones in ``others``; a fact that is a number is the median over the machine starts. Of a
        file: the same of this one run.

    Raises
    ------
    UnknownNameError
        If there is no such page or machine; the message names the nearest.
    RecordingError
        If the recording is damaged, or the file is missing or something else.

    Examples
    --------
    >>> import gpuguide as gg
    >>> gg.load("no_such_page", machine="nvidia-h200")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    gpuguide.errors.UnknownNameError: ...
    """
    if isinstance(page, Path) or page.endswith(".json"):
        return _load_file(Path(page))
    return _shown(_folder(page, machine, root or ROOT))


def load_or_none(page: str, machine: str | None = None, root: Path | None = None) -> Recording | None:
    """Load a page's recording as `load` does; None where it was never recorded (on this machine)."""
    try:
        folder = _folder(page, machine, root or ROOT)
    # UnknownNameError is one; a damaged recording is another matter.
    except LookupError:
        return None
    return _shown(folder)


def _shown(folder: Path) -> Recording:
    return over_starts(read(folder), deviations_in(folder.parent))


def machines(root: Path | None = None) -> tuple[str, ...]:
    """Name the machines that have recordings: the primary one first, then by the alphabet.

    >>> isinstance(machines(), tuple)
    True
    """
    found = {path.parents[1].name for path in (root or ROOT).glob(f"*/*/{_RUNS}")}
    return tuple(sorted(found, key=lambda name: (name != PRIMARY_MACHINE, name)))


def pages(machine: str, root: Path | None = None) -> tuple[str, ...]:
    """Name the pages that have a recording of a machine, sorted.

    >>> pages("no-such-machine")
    ()
    """
    found = {path.parent.name for path in (root or ROOT).glob(f"*/*/{_RUNS}") if path.parts[-3] == machine}
    return tuple(sorted(found))


def read(folder: Path) -> Recording:
    """Read a recording from ``<root>/<machine>/<page>``, as it is stored: `load` gives studies all runs."""
    runs = sorted(_runs(folder), key=lambda item: (date_of(item[1].provenance), item[0].name))
    if not runs:
        raise RecordingError("expected the file of a run, got none", file=label(folder / _RUNS))
    newest = runs[-1][1]
    # Others are left-overs: of code that was recorded again, or that somebody merged.
    runs = [(path, run) for path, run in runs if not differences(run, newest)]
    return replace(
        _recording(newest),
        runs=tuple(in_terms_of(newest, run) for _, run in runs[:-1]),
        counters=counters_of(folder, newest.key),
        folder=folder,
        files=tuple(path.name for path, _ in runs),
    )


def add(run: Run, root: Path | None = None) -> tuple[Recording, tuple[str, ...]]:
    """Add a run to the recording of its page and machine; whatever fails, the former runs stay.

    Returns the recording as it is now, and what is worth saying: that it begins anew, and why; that device
    times are far from those of the former runs; that a file cannot be read.
    """
    folder = (root or ROOT) / run.machine / run.page
    former, warnings = _former(folder)
    alone = _alone(run)
    write(_File.of(alone), _path(folder, alone, former))
    reasons = {reason: None for each in former.values() for reason in differences(each, alone)}
    if reasons:
        warnings.append(f"the recording begins anew, without the former runs: {'; '.join(reasons)}")
    recording = None
    with contextlib.suppress(RecordingError):
        recording = read(folder)
        warnings += unexpected(recording)
        kept = recording.files[-MOST_RUNS:]
        for path in former:
            if path.name not in kept:
                path.unlink(missing_ok=True)
        dropped = len(recording.files) - len(kept)
        recording = replace(recording, runs=recording.runs[dropped:], files=kept)
    return recording or _recording(alone), tuple(warnings)


def renew_spread(machine: str, root: Path | None = None) -> None:
    """Pool anew how far a machine's starts lie apart, from all its recordings; a damaged one is left out."""
    root = root or ROOT
    found = []
    for page in pages(machine, root):
        with contextlib.suppress(RecordingError):
            found.append(over_starts(read(root / machine / page)))
    spread = pooled(found, machine)
    if spread.deviations:
        save_spread(spread, root)


def digest(folder: Path) -> str:
    """Hash the files of a recording, with counters and its machine's spread; of an absent folder, too."""
    whole = hashlib.sha256()
    for path in (*sorted(folder.glob("*.json")), *folder.parent.glob(SPREAD)):
        whole.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def staleness(recording: Run, page_script: Path, src: Path) -> tuple[str, ...]:
    """Say what changed since a page was recorded, as `gpuguide.recordings.keys.changes` does."""
    return changes(recording.key, page_script, src)


@dataclass(frozen=True)
class _File(Run):
    """A run as it is written: the ceilings once, though each study holds those of its session."""

    with_ceilings: tuple[str, ...] = ()

    @classmethod
    def of(cls, run: Run) -> _File:
        own = run.ceilings
        shared = [name for name, study in run.studies.items() if own and study.ceilings == own]
        studies = {
            name: replace(study, ceilings=None) if name in shared else study
            for name, study in run.studies.items()
        }
        return cls(**{**_fields(run), "studies": studies}, with_ceilings=tuple(shared))

    def run(self) -> Run:
        studies = {
            name: replace(study, ceilings=self.ceilings) if name in self.with_ceilings else study
            for name, study in self.studies.items()
        }
        return Run(**{**_fields(self), "studies": studies})


def _fields(run: Run) -> dict[str, Any]:
    return {field.name: getattr(run, field.name) for field in dataclasses.fields(Run)}


def _recording(run: Run) -> Recording:
    return Recording(**_fields(run))


def _alone(run: Run) -> Run:
    """Return the run of a recording whose studies know no other."""
    studies = {
        name: replace(study, start="", others=(), deviations=()) for name, study in run.studies.items()
    }
    return Run(**{**_fields(run), "studies": studies})


def _runs(folder: Path) -> Iterator[tuple[Path, Run]]:
    for path in sorted(folder.glob(_RUNS)):
        # A recorder may delete the oldest run, or those of older code, meanwhile.
        with contextlib.suppress(FileNotFoundError):
            yield path, _read_run(path)


def _read_run(path: Path) -> Run:
    run = loads(_File, path.read_bytes(), label(path)).run()
    for name, got, expected in (
        ("machine", run.machine, path.parents[1].name),
        ("page", run.page, path.parent.name),
    ):
        if got != expected:
            message = f"expected {expected!r}, as the folder is called, got {got!r}"
            raise RecordingError(message, file=label(path), field=name)
    return run


def _former(folder: Path) -> tuple[dict[Path, Run], list[str]]:
    """Read the runs that are there; a damaged one must not cost the new one."""
    found, warnings = {}, []
    for path in sorted(folder.glob(_RUNS)):
        try:
            found[path] = _read_run(path)
        except RecordingError as error:
            warnings.append(f"a former run cannot be read; restore or delete it: {error}")
    return found, warnings


def _path(folder: Path, run: Run, former: dict[Path, Run]) -> Path:
    """Name the file of a run: that of the same run, else a new one, numbered on the same day and start."""
    moment = run.provenance.utc_date, run.provenance.start
    for path, each in former.items():
        if (each.provenance.utc_date, each.provenance.start) == moment:
            return path
    names = (f"{run.name}{number}.json" for number in ("", *(f"-{i}" for i in range(2, 1000))))
    return next(folder / name for name in names if not (folder / name).exists())


def dumps_run(run: Run) -> str:
    """Write a run as its file in a recording is written."""
    return dumps(_File.of(run))


def _load_file(path: Path) -> Recording:
    try:
        return _recording(loads(_File, path.read_bytes(), "").run())
    except OSError as error:
        reason = str(error.strerror)
        # Of several pages, each has a file of its own.
        if others := sorted(each.name for each in path.parent.glob(f"{path.stem}-*.json")):
            reason = f"{reason}, but there is {', '.join(others)}"
    except RecordingError as error:
        reason = str(error)
    raise RecordingError(f"Cannot read {path} as what 'gpuguide run PAGE --json FILE' writes: {reason}")


def _folder(page: str, machine: str | None, root: Path) -> Path:
    known = machines(root)
    if machine is not None and machine not in known:
        raise unknown("machine", machine, known)
    named = known if machine is None else (machine,)
    for name in named:
        # By listing, so that no path is made of what a caller wrote.
        if page in pages(name, root):
            return root / name / page
    raise unknown("page", page, sorted({each for name in named for each in pages(name, root)}))
