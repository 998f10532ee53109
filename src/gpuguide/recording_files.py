"""The folder of a recording: read without trust, replaced so that a crash leaves the old run or the new."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from gpuguide.codec import from_json, loads
from gpuguide.errors import RecordingError
from gpuguide.recording_parts import FileEntry, Manifest

__all__ = [
    "MANIFEST",
    "MEASUREMENTS",
    "TRANSCRIPT",
    "label",
    "parse",
    "read_file",
    "read_manifest",
    "read_member",
    "refuse_foreign",
    "replace_files",
    "sha256",
]

MANIFEST, MEASUREMENTS, TRANSCRIPT = "run.json", "measurements.json", "transcript.json"
MOST_BYTES = 4 * 2**20
MOST_DEPTH = 32

_MEMBER = re.compile(r"measurements\.json|transcript\.json|figure-[0-9a-f]{8}\.(?:svg|png)")
#: What a sweep may remove: files named by their content, and what an interrupted write left.
_OURS = re.compile(r"figure-[0-9a-f]{8}\.(?:svg|png)|(?:measurements|transcript)-[0-9a-f]{8}\.json|\..+\.tmp")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]')


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
    if not path.is_file():
        raise RecordingError("the file is missing; record the page again.", file=where)
    if path.stat().st_size > MOST_BYTES:
        size = path.stat().st_size
        raise RecordingError(f"expected at most {MOST_BYTES} bytes, got {size}.", file=where)
    return path.read_bytes()


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
        As `gpuguide.codec.loads` returns it.

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
    depth = 0
    for token in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token.group(), 0)
        if depth > MOST_DEPTH:
            raise RecordingError(
                f"expected JSON nested at most {MOST_DEPTH} deep, got more at {token.start()}.", file=where
            )
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
    manifest = from_json(Manifest, parse(read_file(folder, MANIFEST), where), where)
    for field, got, expected in (
        ("page", manifest.page, folder.name),
        ("machine", manifest.machine, folder.parent.name),
        ("provenance.machine", manifest.provenance.machine, folder.parent.name),
    ):
        if got != expected:
            raise RecordingError(
                f"expected {expected!r}, as the folder is called, got {got!r}.", file=where, field=field
            )
    for i, entry in enumerate(manifest.files):
        if not _MEMBER.fullmatch(entry.name) or entry.name in [other.name for other in manifest.files[:i]]:
            raise RecordingError(
                f"expected the plain name of a recording's file, each once, got {entry.name!r}.",
                file=where,
                field=f"files[{i}].name",
            )
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
    if not (folder / name).is_file():
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
    try:
        for name, data in files.items():
            _write(folder / _by_content(FileEntry(name, sha256(data), "")), data)
        _write(folder / MANIFEST, manifest)
    finally:
        # Tidying must not turn a good recording into a failed one; what is left over goes at the next save.
        with contextlib.suppress(OSError, RecordingError):
            _settle(folder)


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
            if error.field in ("machine", "page", "provenance.machine"):
                raise


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.tmp")
    part.write_bytes(data)
    os.replace(part, path)


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


def _by_content(entry: FileEntry) -> str:
    stem, _, suffix = entry.name.partition(".")
    return entry.name if stem.startswith("figure-") else f"{stem}-{entry.sha256[:8]}.{suffix}"
