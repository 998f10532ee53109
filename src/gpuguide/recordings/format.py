"""A recording as files and back: one run id over all of them, limits on their sizes."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from gpuguide.errors import RecordingError
from gpuguide.recordings.codec import Place, dumps, from_json, loads, to_json, written
from gpuguide.recordings.earlier import Earlier, earlier_of, runs_of
from gpuguide.recordings.keys import PART_NAME, Keys
from gpuguide.recordings.limits import MOST_BYTES, check_json
from gpuguide.recordings.plain_text import check_text, is_plain
from gpuguide.recordings.recording import (
    CellOutput,
    CellText,
    FileEntry,
    KeptArrays,
    Manifest,
    Measured,
    Recording,
    RunEntry,
    Transcript,
)
from gpuguide.recordings.runs import MOST_RUNS, refuse_mixed
from gpuguide.results.arrays import MOST_ARRAY_BYTES
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.results import Results

__all__ = [
    "ARRAYS",
    "EARLIER",
    "MANIFEST",
    "MEASUREMENTS",
    "MOST_PAGE_BYTES",
    "MOST_SAMPLES",
    "TRANSCRIPT",
    "check_contents",
    "check_texts",
    "decode",
    "encode",
    "fits",
    "full_disk_named",
    "label",
    "locked",
    "parse",
    "put_aside",
    "read_file",
    "read_manifest",
    "read_member",
    "refuse_foreign",
    "replace_files",
    "run_id_of",
    "sha256",
    "write_file",
]


MANIFEST, MEASUREMENTS, TRANSCRIPT = "run.json", "measurements.json", "transcript.json"
EARLIER, ARRAYS = "earlier.json", "arrays.json"

_MEMBERS = (MEASUREMENTS, TRANSCRIPT, EARLIER, ARRAYS)
#: What a sweep may remove: files named by their content, what an interrupted write left, and the members
#: that not every recording has.
_OURS = re.compile(
    r"(?:measurements|transcript|earlier|arrays)-[0-9a-f]{8}\.json|(?:earlier|arrays)\.json|\..+\.tmp"
)


def sha256(data: bytes) -> str:
    """Hash bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def label(folder: Path, name: str) -> str:
    """Name a file of a recording as messages do: machine, page, file."""
    return f"{folder.parent.name}/{folder.name}/{name}"


def read_file(folder: Path, name: str) -> bytes:
    """Read one file of a recording.

    Parameters
    ----------
    folder : Path
        The recording.
    name : str
        A plain file name.

    Returns
    -------
    bytes
        What it holds.

    Raises
    ------
    RecordingError
        If it is missing, a link, not a plain file, or larger than 4 MiB (before anything is read).
    """
    path, where = folder / name, label(folder, name)
    if folder.is_symlink() or path.is_symlink():
        raise RecordingError("expected a plain file in a plain folder, got a symbolic link.", file=where)
    try:
        if not path.is_file():
            raise FileNotFoundError
        # Asked first, so that a file of gigabytes is refused before it fills the memory.
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise RecordingError(f"expected at most {MOST_BYTES} bytes, got {size}.", file=where)
        return path.read_bytes()
    except FileNotFoundError:
        # Also one that another process is just giving another name.
        raise RecordingError("the file is missing; record the page again.", file=where) from None


def parse(data: bytes, where: str) -> dict[str, object]:
    """Read JSON strictly: UTF-8, limited depth, no repeated key, the current schema.

    Parameters
    ----------
    data : bytes
        A file's bytes.
    where : str
        Name of the file, for messages.

    Returns
    -------
    dict
        As `gpuguide.recordings.codec.loads` returns it.

    Raises
    ------
    RecordingError
        Names file and field.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordingError(
            f"expected UTF-8, got the byte {data[error.start]:#x} at {error.start}.", file=where
        ) from None
    check_json(text, where)
    return loads(text, where)


def read_manifest(folder: Path) -> Manifest:
    """Read ``run.json`` and check that it belongs to its folder and names only files in it.

    Parameters
    ----------
    folder : Path
        The recording.

    Returns
    -------
    Manifest
        Its files are not read yet.

    Raises
    ------
    RecordingError
        Names file and field.
    """
    where = label(folder, MANIFEST)
    plain = parse(read_file(folder, MANIFEST), where)
    keys = plain.get("keys")
    # Counted in plain data, before a record is made of each of perhaps many thousand items.
    for name, listed, most in (
        ("files", plain.get("files"), len(_MEMBERS)),
        ("runs", plain.get("runs"), MOST_RUNS - 1),
        ("keys.parts", keys.get("parts") if isinstance(keys, dict) else None, MOST_NAMES),
    ):
        if isinstance(listed, list) and len(listed) > most:
            raise RecordingError(f"expected at most {most}, got {len(listed)}.", file=where, field=name)
    manifest = from_json(Manifest, plain, where)
    # A folder that was copied or renamed must not pass for another machine's or page's recording.
    for field, got, expected in (
        ("page", manifest.page, folder.name),
        ("machine", manifest.machine, folder.parent.name),
        ("provenance.machine", manifest.provenance.machine, folder.parent.name),
    ):
        if got != expected:
            raise RecordingError(
                f"expected {expected!r}, as the folder is called, got {got!r}.", file=where, field=field
            )
    seen: set[str] = set()
    for i, entry in enumerate(manifest.files):
        if entry.name not in _MEMBERS or entry.name in seen:
            raise RecordingError(
                f"expected {MEASUREMENTS} and {TRANSCRIPT}, {EARLIER} with former runs and {ARRAYS} with "
                f"arrays, each once, got {entry.name!r}.",
                file=where,
                field=f"files[{i}].name",
            )
        seen.add(entry.name)
    return manifest


def read_member(folder: Path, entry: FileEntry) -> bytes:
    """Read a file that the manifest names.

    Parameters
    ----------
    folder : Path
        The recording.
    entry : FileEntry
        Its entry.

    Returns
    -------
    bytes
        Of the hash that the manifest gives.

    Raises
    ------
    RecordingError
        If it is missing, or differs from what was recorded.
    """
    # Between the manifest and the last renaming, a file still has the name of its content: see replace_files.
    name = _by_content(entry)
    try:
        data = read_file(folder, name) if (folder / name).exists() else b""
    except RecordingError:
        data = b""  # it got its plain name meanwhile, or is none of ours
    if sha256(data) != entry.sha256:
        name = entry.name
        data = read_file(folder, name)
    if sha256(data) != entry.sha256:
        raise RecordingError(
            f"the file was changed by hand or damaged: expected the hash {entry.sha256[:8]}..., "
            f"got {sha256(data)[:8]}... Restore it or record the page again.",
            file=label(folder, name),
        )
    return data


def replace_files(folder: Path, files: Mapping[str, bytes], manifest: bytes) -> None:
    """Put a new run in the place of the old one.

    All files are written under names made of their content, which the old run does not use; then the
    manifest is replaced, in one step; then the JSON files get their plain names, and what the manifest
    does not name is removed. A crash anywhere leaves the old run or the new one, whole.

    Parameters
    ----------
    folder : Path
        The recording; made if need be.
    files : mapping of str to bytes
        Name -> content, of all files but the manifest.
    manifest : bytes
        Content of ``run.json``.

    Raises
    ------
    OSError
        If something could not be written; the old run stands.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stays = "the former recording stands" if (folder / MANIFEST).exists() else "there is no recording yet"
    advice = f"{stays}. Make room and record the page again."
    try:
        with full_disk_named(folder / MANIFEST, len(manifest) + sum(map(len, files.values())), advice):
            for name, data in files.items():
                write_file(folder / _by_content(FileEntry(name, sha256(data), "")), data)
            # Last: until here a reader sees the old run, and from here on the new one.
            write_file(folder / MANIFEST, manifest)
    finally:
        # Tidying must not turn a good recording into a failed one; what is left over goes at the next save.
        with contextlib.suppress(OSError, RecordingError):
            _settle(folder)


@contextlib.contextmanager
def full_disk_named(path: Path, n_bytes: int, advice: str) -> Iterator[None]:
    """Turn a full disk into an error that says how much room was expected, and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise RecordingError(
            f"the disk is full: expected room for {n_bytes} bytes; {advice}",
            file=label(path.parent, path.name),
        ) from error


def refuse_foreign(folder: Path) -> None:
    """Keep from overwriting what somebody put there by hand: a copied or renamed folder, a link.

    Parameters
    ----------
    folder : Path
        Where a recording is about to be saved.

    Raises
    ------
    RecordingError
        If its manifest is another machine's or page's, or something on the way is a link.
    """
    for path in (folder.parent, folder, folder / MANIFEST):
        if path.is_symlink():
            raise RecordingError("expected a plain folder and file, got a symbolic link.", file=str(path))
    if (folder / MANIFEST).exists():
        try:
            read_manifest(folder)
        except RecordingError as error:
            # Any other damage is ours to replace, after `put_aside` has kept it.
            if error.field in ("machine", "page", "provenance.machine"):
                raise


def write_file(path: Path, data: bytes) -> None:
    """Write a file in one step: readers see the old one or the new one, and a failure leaves the old one."""
    # In the same folder: a file can be renamed in one step only inside of one file system.
    part = path.with_name(f".{path.name}.tmp")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    # Whatever ended it, an interruption too, must not leave half a file.
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def _settle(folder: Path) -> None:
    """Give the files of the manifest on disk their plain names and remove what it does not name."""
    entries = read_manifest(folder).files
    for entry in entries:
        by_content = folder / _by_content(entry)
        if by_content.name != entry.name and by_content.exists():
            os.replace(by_content, folder / entry.name)
    kept = {entry.name for entry in entries}
    for path in folder.iterdir():
        if _OURS.fullmatch(path.name) and path.name not in kept:
            path.unlink()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other writers of a recording waiting; its folder, which is made if need be, is the lock.

    Where there are no such locks (Windows, some network drives), nobody waits.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    # The folder, for every file in it is replaced, and a lock on a replaced file holds nobody.
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def put_aside(folder: Path) -> None:
    """Copy a damaged recording under other names, so that what is written in its place loses nothing."""
    # Not moved: what is there stays as it is until the new recording takes its place in one step.
    for name in (MANIFEST, *_MEMBERS):
        path = folder / name
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MOST_BYTES:
            write_file(folder / f"damaged-{name}", path.read_bytes())


def _by_content(entry: FileEntry) -> str:
    stem, _, suffix = entry.name.partition(".")
    return f"{stem}-{entry.sha256[:8]}.{suffix}"


MOST_SAMPLES = 100
"""Most samples of one measurement; longer batches instead."""

# A folder, and a part of a URL: no dot, no slash, and no capitals, which some file systems do not tell apart.
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
# In which file a field stands, for messages; what is not named here is in the measurements.
_FILES = dict.fromkeys(("machine", "page", "provenance", "keys"), MANIFEST)
_FILES |= {"cells": TRANSCRIPT, "runs": EARLIER, "arrays": ARRAYS}
_LISTED_RUN = re.compile(r"runs\[\d+\]\.(?:provenance|measuring)")

MOST_STUDIES, MOST_CELLS, MOST_CHECKS, MOST_NAMES = 64, 1_000, 5_000, 1_000
"""Most studies of a page; most cells and checks of them together; most names of any one kind."""


class _Place:
    """A recording's field, for messages."""

    def __init__(self, recording: Recording) -> None:
        self.folder = f"{recording.machine}/{recording.page}"

    def file(self, field: str) -> str:
        if _LISTED_RUN.match(field):
            return f"{self.folder}/{MANIFEST}"
        return f"{self.folder}/{_FILES.get(re.split(r'[.[]', field)[0], MEASUREMENTS)}"

    def expect(self, holds: bool, field: str, expected: str, got: object) -> None:
        if not holds:
            raise RecordingError(f"expected {expected}, got {got!r}.", file=self.file(field), field=field)


def check_contents(recording: Recording) -> None:
    """Refuse a recording whose parts do not fit together, or that holds what could act in a page.

    Parameters
    ----------
    recording : Recording
        Read, or about to be saved.

    Raises
    ------
    RecordingError
        Names file and field.
    """
    place = _Place(recording)
    for field in ("machine", "page"):
        name = getattr(recording, field)
        place.expect(bool(_SLUG.fullmatch(name)), field, "lower-case letters, digits, '-' and '_'", name)
    machine = recording.provenance.machine
    place.expect(machine == recording.machine, "provenance.machine", repr(recording.machine), machine)
    # The folder is not stored, and holds a path of this machine.
    for at, text in _texts(dataclasses.replace(recording, folder=None), ""):
        if not is_plain(text):
            check_text(text, file=place.file(written(at)), field=written(at))
    _check_date(recording.provenance.utc_date, "provenance", place)
    _check_keys(recording.keys, place)
    _check_measured(recording, place)
    n_bytes = sum(array.n_bytes for array in recording.arrays.values())
    place.expect(n_bytes <= MOST_ARRAY_BYTES, "arrays", f"at most {MOST_ARRAY_BYTES} bytes in all", n_bytes)
    _check_runs(recording, place)
    _check_cells(recording, place)


def check_texts(record: Any, file: str) -> None:
    """Refuse a record with text in it that could break out of the block it is shown in."""
    for at, text in _texts(record, ""):
        if not is_plain(text):
            check_text(text, file=file, field=written(at))


def _texts(value: Any, path: Place) -> Iterator[tuple[Place, str]]:
    """Yield every text, names of entries included, and its place."""
    if isinstance(value, str):
        yield path, value
    elif dataclasses.is_dataclass(value):
        for name in _field_names(value.__class__):
            item = getattr(value, name)
            # Numbers are most of a recording, and hold no text.
            if not isinstance(item, int | float):
                yield from _texts(item, (path, name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield path, key
            yield from _texts(item, (path, key))
    elif isinstance(value, tuple) and not set(map(type, value)) <= {int}:
        for i, item in enumerate(value):
            yield from _texts(item, (path, i))


@functools.cache
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def _check_date(text: str, owner: str, place: _Place) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        place.expect(False, f"{owner}.utc_date", "a date as 2026-11-21T10:00:00+00:00", text)


def _check_keys(keys: Keys, place: _Place) -> None:
    names = [name for name, _ in keys.parts]
    seen: set[str] = set()
    for i, (name, digest) in enumerate(keys.parts):
        fits = bool(PART_NAME.fullmatch(name)) and name not in seen
        seen.add(name)
        place.expect(fits, f"keys.parts[{i}][0]", "'cell <number>' or a module of gpuguide, each once", name)
        place.expect(bool(_DIGEST.fullmatch(digest)), f"keys.parts[{i}][1]", "a SHA-256", digest)
    cells = [name for name in names if name.startswith("cell ")]
    place.expect(cells == [f"cell {i + 1}" for i in range(len(cells))], "keys.parts", "cells in order", cells)
    # Else a key could claim to be current whatever its parts say.
    expected = Keys.of(keys.parts).measuring
    place.expect(
        keys.measuring == expected, "keys.measuring", f"{expected!r}, the hash of the parts", keys.measuring
    )


def _check_measured(recording: Recording, place: _Place) -> None:
    for name, study in recording.studies.items():
        place.expect(study.name == name, f"studies.{name}.name", repr(name), study.name)
        _check_study(study, f"studies.{name}", place)
    for name, fact in recording.facts.items():
        place.expect(fact.name == name, f"facts.{name}.name", repr(name), fact.name)
    for variable, study_name in recording.names.items():
        place.expect(variable.isidentifier(), "names", "a variable's name", variable)
        place.expect(study_name in recording.studies, f"names.{variable}", "a recorded study", study_name)
    _check_ceilings(recording.ceilings, "ceilings", place)


def _check_runs(recording: Recording, place: _Place) -> None:
    for i, run in enumerate(recording.runs):
        _check_date(run.provenance.utc_date, f"runs[{i}].provenance", place)
        place.expect(
            list(run.studies) == list(recording.studies),
            f"runs[{i}].studies",
            f"the studies {list(recording.studies)}",
            list(run.studies),
        )
        for name, study in run.studies.items():
            for k, cell in enumerate(study.measurements):
                made = cell.summary
                if made is None:
                    continue
                where = f"runs[{i}].studies.{name}.measurements[{k}]"
                place.expect(made.n <= MOST_SAMPLES, f"{where}.n", f"at most {MOST_SAMPLES} samples", made.n)
                least = min(*made.quartiles_ns, *made.round_medians_ns)
                place.expect(least > 0, where, "times above 0 ns", least)
    refuse_mixed(recording)


def _check_study(study: Results, field: str, place: _Place) -> None:
    place.expect(not study.quick, f"{field}.quick", "false: a quick run cannot be published", study.quick)
    alone = not (study.start or study.others)
    place.expect(alone, f"{field}.others", "a single run, because former runs are stored apart", study.start)
    for i, cell in enumerate(study.measurements):
        n = len(cell.samples_ns)
        where = f"{field}.measurements[{i}].samples_ns"
        place.expect(n <= MOST_SAMPLES, where, f"at most {MOST_SAMPLES} samples", n)
        place.expect(cell.summary is None, f"{field}.measurements[{i}].summary", "samples", "a summary")
        least = min(cell.samples_ns, default=1)
        place.expect(least > 0, where, "times above 0 ns (a clock that goes backwards?)", least)
    _check_ceilings(study.ceilings, f"{field}.ceilings", place)


def _check_ceilings(ceilings: Ceilings | None, field: str, place: _Place) -> None:
    for i, item in enumerate(ceilings.items if ceilings else ()):
        n = len(item.samples_ns)
        where = f"{field}.items[{i}].samples_ns"
        place.expect(n <= MOST_SAMPLES, where, f"at most {MOST_SAMPLES} samples", n)


def _check_cells(recording: Recording, place: _Place) -> None:
    digests = dict(recording.keys.parts)
    last = -1
    for i, cell in enumerate(recording.cells):
        place.expect(
            cell.cell > last, f"cells[{i}].cell", f"a number above {last}, each cell once", cell.cell
        )
        last = cell.cell
        part = digests.get(f"cell {cell.cell + 1}")
        place.expect(part is not None, f"cells[{i}].cell", "a cell that the keys have", cell.cell)
        place.expect(cell.digest == part, f"cells[{i}].digest", f"{part!r}, as in the keys", cell.digest)
        shown = cell.shows in ("", *recording.studies)
        place.expect(shown, f"cells[{i}].shows", "a recorded study", cell.shows)


MOST_PAGE_BYTES = 150_000
"""Most bytes of a page's recording."""

MOST_KEPT_BYTES = 2 * MOST_PAGE_BYTES
"""Most bytes of a page with the runs of three machine starts, which stay however large it gets."""

_FULL = (errno.ENOSPC, errno.EDQUOT)

D = TypeVar("D", Measured, Transcript, Earlier, KeptArrays)

_NO_RUN, _RUN = '"run_id": ""', '"run_id": "{}"'


def encode(recording: Recording) -> tuple[bytes, dict[str, bytes], str]:
    """Write a recording as files.

    Parameters
    ----------
    recording : Recording
        Its run id and folder do not count.

    Returns
    -------
    manifest : bytes
        Content of ``run.json``.
    files : dict of str to bytes
        All other files.
    run_id : str
        The first 16 hexadecimal digits of a hash over everything.

    Raises
    ------
    RecordingError
        If something cannot be stored, or is too large; names the largest parts.
    """
    check_contents(recording)
    manifest, files, run_id = _encoded(recording)
    _check_size(recording, {MANIFEST: manifest, **files})
    return manifest, files, run_id


def fits(recording: Recording) -> bool:
    """Tell whether a recording with all its runs is small enough for a page."""
    manifest, files, _ = _encoded(recording)
    return len(manifest) + sum(map(len, files.values())) <= MOST_PAGE_BYTES


def _encoded(recording: Recording) -> tuple[bytes, dict[str, bytes], str]:
    documents = {MEASUREMENTS: dumps(_measured(recording)), TRANSCRIPT: dumps(_transcript(recording))}
    if recording.runs:
        documents[EARLIER] = dumps(earlier_of(recording))
    if recording.arrays:
        documents[ARRAYS] = dumps(KeptArrays("", recording.arrays))
    contents = {name: sha256(text.encode()) for name, text in documents.items()}
    bare = Manifest(
        "",
        recording.machine,
        recording.page,
        recording.provenance,
        recording.keys,
        tuple(RunEntry(run.measuring, run.provenance) for run in recording.runs),
        tuple(FileEntry(name, "", content) for name, content in contents.items()),
    )
    run_id = run_id_of(bare)
    files = {name: _with_run(text, run_id) for name, text in documents.items()}
    entries = tuple(FileEntry(name, sha256(data), contents[name]) for name, data in files.items())
    manifest = dumps(replace(bare, run_id=run_id, files=entries)).encode()
    return manifest, files, run_id


def run_id_of(manifest: Manifest) -> str:
    """Compute the run id: over the manifest without hashes of files that hold the run id themselves."""
    entries = tuple(FileEntry(entry.name, "", entry.content) for entry in manifest.files)
    bare = to_json(replace(manifest, run_id="", files=entries))
    # As it is read back: a float that was given as a whole number comes back as a float.
    return sha256(dumps(from_json(Manifest, bare, "")).encode())[:16]


def _with_run(text: str, run_id: str) -> bytes:
    # Only the first, the field itself: what a page has printed may hold the same words.
    return text.replace(_NO_RUN, _RUN.format(run_id), 1).encode()


def _measured(recording: Recording) -> Measured:
    # Each study holds the ceilings of its session; they are written once.
    shared = [name for name, study in recording.studies.items() if study.ceilings == recording.ceilings]
    with_ceilings = tuple(shared) if recording.ceilings is not None else ()
    studies = {
        name: replace(study, ceilings=None) if name in with_ceilings else study
        for name, study in recording.studies.items()
    }
    return Measured("", recording.names, recording.facts, recording.ceilings, with_ceilings, studies)


def _transcript(recording: Recording) -> Transcript:
    cells = (
        CellText(c.cell, c.digest, tuple(c.stdout.split("\n")), c.shows, c.study, c.names)
        for c in recording.cells
    )
    return Transcript("", tuple(cells))


def _all_files(recording: Recording) -> dict[str, bytes]:
    manifest, files, _ = _encoded(recording)
    return {MANIFEST: manifest, **files}


def _check_size(recording: Recording, files: Mapping[str, bytes]) -> None:
    counted = {name: len(data) for name, data in files.items()}
    if sum(counted.values()) <= MOST_PAGE_BYTES:
        return
    if recording.runs:
        # The runs of three starts stay, in more room; the newest run must fit as if it were alone.
        _check_size(alone := replace(recording, runs=()), _all_files(alone))
        if sum(counted.values()) <= MOST_KEPT_BYTES:
            return
    parts = {name: size for name, size in counted.items() if name != MEASUREMENTS}
    parts |= {f"study {name!r}": len(dumps(study)) for name, study in recording.studies.items()}
    largest = sorted(parts.items(), key=lambda part: -part[1])[:3]
    shown = ", ".join(f"{name} ({size} bytes)" for name, size in largest)
    raise RecordingError(
        f"expected at most {MOST_PAGE_BYTES} bytes per page, got {sum(counted.values())}; largest: {shown}. "
        "Take fewer sizes or samples, or print less.",
        file=f"{recording.machine}/{recording.page}",
    )


def decode(folder: Path, *, complete: bool) -> Recording:
    """Read a recording and check all of it.

    Parameters
    ----------
    folder : Path
        ``<root>/<machine>/<page>``.
    complete : bool
        Whether the transcript must be there.

    Returns
    -------
    Recording
        Without cells where the transcript is absent and need not be there.

    Raises
    ------
    RecordingError
        Names file and field.
    """
    for _ in range(_MOST_TRIES):
        manifest = _stamp(folder)
        try:
            return _decode(folder, complete=complete)
        except RecordingError:
            # Somebody may have replaced the recording meanwhile: then it is read anew.
            if _stamp(folder) == manifest:
                raise
    raise RecordingError(
        f"it was replaced {_MOST_TRIES} times while it was read; try again.", file=label(folder, MANIFEST)
    )


_MOST_TRIES = 20


def _stamp(folder: Path) -> tuple[int, int, int] | None:
    try:
        found = (folder / MANIFEST).stat()
    except OSError:
        return None
    # A replaced manifest is another file, even if it is as long and of the same moment.
    return found.st_ino, found.st_mtime_ns, found.st_size


def _decode(folder: Path, *, complete: bool) -> Recording:
    manifest = read_manifest(folder)
    entries = {entry.name: entry for entry in manifest.files}
    where = label(folder, MANIFEST)
    needed = (MEASUREMENTS, TRANSCRIPT, *((EARLIER,) if manifest.runs else ()))
    for name in needed:
        if name not in entries:
            raise RecordingError(f"expected an entry for {name}.", file=where, field="files")
    if EARLIER in entries and not manifest.runs:
        raise RecordingError(f"expected the runs of {EARLIER}, got none.", file=where, field="runs")
    if run_id_of(manifest) != manifest.run_id:
        raise RecordingError("does not belong to these contents.", file=where, field="run_id")
    measured = _document(Measured, folder, entries[MEASUREMENTS], manifest)
    shared = set(measured.with_ceilings)
    studies = {
        name: replace(study, ceilings=measured.ceilings) if name in shared else study
        for name, study in measured.studies.items()
    }
    recording = Recording(
        machine=manifest.machine,
        page=manifest.page,
        provenance=manifest.provenance,
        keys=manifest.keys,
        run_id=manifest.run_id,
        studies=studies,
        facts=measured.facts,
        ceilings=measured.ceilings,
        names=measured.names,
        folder=folder,
    )
    if EARLIER in entries:
        earlier = _document(Earlier, folder, entries[EARLIER], manifest)
        runs = runs_of(earlier, manifest.runs, studies, label(folder, EARLIER))
        recording = replace(recording, runs=runs)
    if ARRAYS in entries:
        arrays = _document(KeptArrays, folder, entries[ARRAYS], manifest).arrays
        recording = replace(recording, arrays=arrays)
    # A wheel has no transcripts; a build must not take that for a page without outputs.
    if complete or (folder / TRANSCRIPT).exists():
        cells = _document(Transcript, folder, entries[TRANSCRIPT], manifest).cells
        told = (CellOutput(c.cell, c.digest, "\n".join(c.stdout), c.shows, c.study, c.names) for c in cells)
        recording = replace(recording, cells=tuple(told))
    check_contents(recording)
    return recording


def _document(kind: type[D], folder: Path, entry: FileEntry, manifest: Manifest) -> D:
    where = label(folder, entry.name)
    data = read_member(folder, entry)
    plain = parse(data, where)
    _check_counts(plain, where)
    document = from_json(kind, plain, where)
    expected, got = manifest.run_id, document.run_id
    if got != expected:
        raise RecordingError(
            f"expected {expected!r}, as in {MANIFEST}, got {got!r}.", file=where, field="run_id"
        )
    # The run id is made from this hash, so a file with a borrowed run id is found out.
    if sha256(data.decode().replace(_RUN.format(got), _NO_RUN, 1).encode()) != entry.content:
        raise RecordingError("does not say what the manifest was made from.", file=where, field="run_id")
    return document


def _check_counts(plain: Mapping[str, Any], where: str) -> None:
    """Refuse more studies, cells or names than a page can show, before any of them is looked at."""

    def refuse(field: str, most: int, n: int) -> None:
        if n > most:
            raise RecordingError(f"expected at most {most}, got {n}.", file=where, field=field)

    for field, value in plain.items():
        if isinstance(value, dict):
            refuse(field, MOST_NAMES, len(value))
    studies = plain.get("studies")
    if isinstance(studies, dict):
        refuse("studies", MOST_STUDIES, len(studies))
        for part, most in (
            ("measurements", MOST_CELLS),
            ("checks", MOST_CHECKS),
            ("variants", MOST_CELLS),
            ("sizes", MOST_CELLS),
        ):
            lists = [study.get(part) for study in studies.values() if isinstance(study, dict)]
            refuse(f"studies: {part}", most, sum(len(each) for each in lists if isinstance(each, list)))
