"""Recordings: the only module that reads and writes what a page measured on a machine.

A recording is one folder, ``<root>/<machine>/<page>``: ``run.json`` (what belongs to the run, with the hash
of each other file), ``measurements.json`` and ``transcript.json``. It is data: nothing in it is ever
executed, and what is not exactly as it should be is refused by the name of its file and field.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gpuguide.errors import RecordingError, unknown
from gpuguide.recordings.format import (
    MANIFEST,
    MEASUREMENTS,
    decode,
    encode,
    label,
    refuse_foreign,
    replace_files,
)
from gpuguide.recordings.keys import changes
from gpuguide.recordings.recompute import recompute
from gpuguide.recordings.recording import Recording

__all__ = [
    "PRIMARY_MACHINE",
    "ROOT",
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
"""Where the package keeps its recordings."""

PRIMARY_MACHINE = "nvidia-h200"
"""The machine whose recordings are shown where none is named."""


def read(folder: Path, *, complete: bool = False) -> Recording:
    """Read a recording from its folder.

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
    return decode(Path(folder), complete=complete)


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


def load(page: str, machine: str | None = None, root: Path | None = None) -> Recording:
    """Load what was measured for a page.

    Parameters
    ----------
    page : str
        Name of the page.
    machine : str, optional
        On which machine; by default the primary one (``"nvidia-h200"``), else the first by the alphabet.
    root : Path, optional
        Folder of the recordings; by default those that come with the package.

    Returns
    -------
    Recording
        With ``studies``, ``facts``, ``ceilings`` and ``provenance``.

    Raises
    ------
    UnknownNameError
        If there is no such page or machine; the message names the nearest.
    RecordingError
        If the recording is damaged.

    Examples
    --------
    >>> import gpuguide as gg
    >>> gg.load("no_such_page", machine="nvidia-h200")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    gpuguide.errors.UnknownNameError: ...
    """
    return read(_folder(page, machine, root or ROOT))


def load_or_none(
    page: str, machine: str | None = None, root: Path | None = None, *, complete: bool = True
) -> Recording | None:
    """Load a page's recording, all of it, if there is one.

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
    except LookupError:
        return None
    return read(folder, complete=complete)


def _folder(page: str, machine: str | None, root: Path) -> Path:
    known = machines(root)
    if machine is not None and machine not in known:
        raise unknown("machine", machine, known)
    wanted = known if machine is None else (machine,)
    for name in wanted:
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


def save(recording: Recording, root: Path | None = None) -> Recording:
    """Put a recording in the place of the former one of the same page and machine, in one step.

    Parameters
    ----------
    recording : Recording
        What was measured; its run id and folder are set here.
    root : Path, optional
        Folder of the recordings; by default `ROOT`.

    Returns
    -------
    Recording
        With run id and folder.

    Raises
    ------
    RecordingError
        If it is not sound, too large, or the folder holds something else. Nothing was written.
    OSError
        If a file cannot be written; the former recording stands.
    """
    manifest, files, run_id = encode(recording)
    folder = (root or ROOT) / recording.machine / recording.page
    refuse_foreign(folder)
    replace_files(folder, files, manifest)
    return replace(recording, run_id=run_id, folder=folder)


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
