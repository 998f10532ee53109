"""Recordings: the only module that reads and writes what a page measured on a machine.

A recording is one folder, ``<root>/<machine>/<page>``: ``run.json`` (the runs, and the hash of each other
file), ``measurements.json`` and ``transcript.json`` of the newest run, ``earlier.json`` of the former ones,
and ``arrays.json`` where the page kept some. It is data: nothing in it is ever executed, and what is not
exactly as it should be is refused by the name of its file and field.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gpuguide.errors import RecordingError, unknown
from gpuguide.recordings.codec import from_json, loads
from gpuguide.recordings.counters import counters_of
from gpuguide.recordings.format import (
    MANIFEST,
    MEASUREMENTS,
    decode,
    encode,
    fits,
    label,
    locked,
    put_aside,
    read_manifest,
    refuse_foreign,
    replace_files,
)
from gpuguide.recordings.keys import changes
from gpuguide.recordings.recompute import recompute
from gpuguide.recordings.recording import Recording, SavedRun
from gpuguide.recordings.runs import add_run, over_starts, without_history

__all__ = [
    "PRIMARY_MACHINE",
    "ROOT",
    "add",
    "load",
    "load_or_none",
    "machines",
    "pages",
    "read",
    "save",
    "staleness",
    "validate",
]

ROOT = Path(__file__).parents[1] / "recorded"
"""Where the package keeps its recordings.

:meta hide-value:
"""

PRIMARY_MACHINE = "nvidia-h200"
"""The machine whose recordings are shown where none is named."""


def read(folder: Path, *, complete: bool = False) -> Recording:
    """Read a recording from its folder, as it is stored: `load` gives studies that know their former runs.

    Parameters
    ----------
    folder : Path
        ``<root>/<machine>/<page>``.
    complete : bool
        Whether the transcript must be there; an installed package has the measurements only.

    Returns
    -------
    Recording
        Checked as a whole; without cells where the transcript is absent.

    Raises
    ------
    RecordingError
        Names file and field.
    """
    found = decode(Path(folder), complete=complete)
    return replace(found, counters=counters_of(Path(folder), found.keys.measuring))


def machines(root: Path | None = None) -> tuple[str, ...]:
    """Name the machines that have recordings.

    Parameters
    ----------
    root : Path, optional
        Folder of the recordings; by default `ROOT`.

    Returns
    -------
    tuple of str
        The primary one first, then by the alphabet.

    Examples
    --------
    >>> isinstance(machines(), tuple)
    True
    """
    found = {manifest.parents[1].name for manifest in (root or ROOT).glob(f"*/*/{MANIFEST}")}
    return tuple(sorted(found, key=lambda name: (name != PRIMARY_MACHINE, name)))


def pages(machine: str, root: Path | None = None) -> tuple[str, ...]:
    """Name the pages that have a recording of a machine.

    Parameters
    ----------
    machine : str
        A name of `machines`.
    root : Path, optional
        Folder of the recordings; by default `ROOT`.

    Returns
    -------
    tuple of str
        Sorted.

    Examples
    --------
    >>> pages("no-such-machine")
    ()
    """
    return tuple(
        sorted(
            path.parent.name for path in (root or ROOT).glob(f"*/*/{MANIFEST}") if path.parts[-3] == machine
        )
    )


def load(page: str | Path, machine: str | None = None, root: Path | None = None) -> Recording | SavedRun:
    """Load what was measured for a page, or what ``gpuguide run TOPIC --json FILE`` wrote.

    Parameters
    ----------
    page : str or Path
        Name of the page; or the file, as a path or by a name that ends in ``.json``.
    machine : str, optional
        On which machine; by default the primary one (``"nvidia-h200"``), else the first by the alphabet.
    root : Path, optional
        Folder of the recordings; by default those that come with the package.

    Returns
    -------
    Recording or SavedRun
        Of a page: ``studies``, ``facts``, ``ceilings`` and ``provenance`` of the newest run. Each study has
        the former ones in ``others``; a fact that is a number is the median over the machine starts. Of a
        file: ``studies``.

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
    return over_starts(read(_folder(page, machine, root or ROOT)))


def _load_file(path: Path) -> SavedRun:
    try:
        return from_json(SavedRun, loads(path.read_text(encoding="utf-8"), ""), "")
    except OSError as error:
        reason = str(error.strerror)
    except UnicodeDecodeError:
        reason = "it is no text"
    except RecordingError as error:
        reason = str(error)
    raise RecordingError(f"Cannot read {path} as what 'gpuguide run TOPIC --json FILE' writes: {reason}")


def load_or_none(
    page: str, machine: str | None = None, root: Path | None = None, *, complete: bool = True
) -> Recording | None:
    """Load a page's recording, as `load` does but all of it, if there is one.

    Parameters
    ----------
    page, machine, root
        As for `load`.
    complete : bool
        Whether the transcript must be there.

    Returns
    -------
    Recording or None
        None where the page was never recorded (on this machine).

    Raises
    ------
    RecordingError
        If the recording is damaged.
    """
    try:
        folder = _folder(page, machine, root or ROOT)
    # UnknownNameError is one; a damaged recording is another matter.
    except LookupError:
        return None
    return over_starts(read(folder, complete=complete))


def _folder(page: str, machine: str | None, root: Path) -> Path:
    known = machines(root)
    if machine is not None and machine not in known:
        raise unknown("machine", machine, known)
    wanted = known if machine is None else (machine,)
    for name in wanted:
        # Found by listing, so that no path is made of what a caller wrote.
        if page in pages(name, root):
            return root / name / page
    raise unknown("page", page, sorted({each for name in wanted for each in pages(name, root)}))


def validate(folder: Path) -> Recording:
    """Read a recording, all of it, and check that what it says follows from its samples.

    Parameters
    ----------
    folder : Path
        ``<root>/<machine>/<page>``.

    Returns
    -------
    Recording
        A sound one.

    Raises
    ------
    RecordingError
        Names file and field.
    """
    recording = read(folder, complete=True)
    for problem in recompute(recording):
        raise RecordingError(problem, file=label(Path(folder), MEASUREMENTS))
    return recording


def add(recording: Recording, root: Path | None = None) -> tuple[Recording, tuple[str, ...]]:
    """Add a run to the recording of its page and machine, in one step; other writers wait meanwhile.

    Parameters
    ----------
    recording : Recording
        What was measured.
    root : Path, optional
        Folder of the recordings; by default `ROOT`.

    Returns
    -------
    recording : Recording
        As it is stored now: with the former runs, where code, versions and GPU are still the same.
    warnings : tuple of str
        That it begins anew, and why; that device times are far from those of the former runs.

    Raises
    ------
    RecordingError
        If the run is not sound, too large, or does not fit to the former ones; if the folder holds something
        else, or the disk is full. The former recording stands.
    OSError
        If a file cannot be written; the former recording stands.
    """
    recording = without_history(recording)
    # First by itself: a run that is unsound or too large must fail before anything is locked or read.
    alone = encode(recording)
    folder = (root or ROOT) / recording.machine / recording.page
    # Before the lock, which makes the folder and would follow a link; and again when nobody else can write.
    refuse_foreign(folder)
    with locked(folder):
        refuse_foreign(folder)
        former, told = _former(folder)
        whole, warnings = add_run(former, recording, fits)
        manifest, files, run_id = alone if former is None else encode(whole)
        if told and not told.startswith(_OTHER_FORM):
            put_aside(folder)
        replace_files(folder, files, manifest)
    return replace(whole, run_id=run_id, folder=folder), (*((told,) if told else ()), *warnings)


def save(recording: Recording, root: Path | None = None) -> Recording:
    """Add a run as `add` does, for callers that have no use for its warnings."""
    return add(recording, root)[0]


_OTHER_FORM = "the recording begins anew, because it was written in another form"


def _former(folder: Path) -> tuple[Recording | None, str]:
    """Read what there is already, or say why it cannot be read."""
    if not (folder / MANIFEST).exists():
        return None, ""
    try:
        read_manifest(folder)
    except RecordingError as error:
        return None, f"{_OTHER_FORM}: {error}"
    try:
        # Without its counters: they lie beside the runs, which must not leave when that file is damaged.
        return decode(folder, complete=False), ""
    except RecordingError as error:
        return (
            None,
            f"the recording begins anew, because it is damaged (kept beside it as damaged-*.json): {error}",
        )


def staleness(recording: Recording, page_script: Path, src: Path) -> tuple[str, ...]:
    """Say what changed since a page was recorded.

    Parameters
    ----------
    recording : Recording
        Of the page.
    page_script : Path
        The page's script.
    src : Path
        Folder that holds ``gpuguide``.

    Returns
    -------
    tuple of str
        ``"cell 2 of examples/cupy/sort_search.py"``, ``"src/gpuguide/topics/sorting.py"`` ...; empty when
        the recording is current.

    Raises
    ------
    ArgumentError
        If script or module do not parse.
    """
    return changes(recording.keys, page_script, src)
