"""A recording as files and back: one run id over all of them, a limit on their size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from gpuguide.codec import dumps, from_json, to_json
from gpuguide.errors import ArgumentError, RecordingError
from gpuguide.recording_checks import check_contents
from gpuguide.recording_files import (
    MANIFEST,
    MEASUREMENTS,
    TRANSCRIPT,
    label,
    parse,
    read_manifest,
    read_member,
    sha256,
)
from gpuguide.recording_parts import (
    CellOutput,
    CellText,
    FigureOutput,
    FileEntry,
    Manifest,
    Measured,
    Recording,
    Transcript,
)
from gpuguide.safe_markup import clean_svg

__all__ = ["MOST_PAGE_BYTES", "decode", "encode", "figure", "run_id_of"]

MOST_PAGE_BYTES = 150_000
"""Most bytes of a page's recording, PNG figures not counted."""

D = TypeVar("D", Measured, Transcript)

_NO_RUN, _RUN = '"run_id": ""', '"run_id": "{}"'


def figure(data: bytes, alt: str, suffix: str = ".svg") -> tuple[FigureOutput, bytes]:
    """Name a figure by its content.

    Parameters
    ----------
    data : bytes
        As Matplotlib wrote it.
    alt : str
        Alternative text.
    suffix : str
        ``".svg"``, or ``".png"`` for photographs and large heat maps.

    Returns
    -------
    FigureOutput
        For the cell that made it.
    bytes
        What to store: an SVG without its document type.

    Raises
    ------
    ArgumentError
        If the suffix is another one.

    Examples
    --------
    >>> output, data = figure(b'<svg xmlns="http://www.w3.org/2000/svg"/>', "Nothing.")
    >>> output.file
    'figure-900fbe93.svg'
    """
    if suffix not in (".svg", ".png"):
        raise ArgumentError(f"figure: suffix must be '.svg' or '.png'; got {suffix!r}.")
    stored = clean_svg(data) if suffix == ".svg" else data
    digest = sha256(stored)
    return FigureOutput(f"figure-{digest[:8]}{suffix}", digest, alt), stored


def encode(recording: Recording, figures: Mapping[str, bytes]) -> tuple[bytes, dict[str, bytes], str]:
    """Write a recording as files.

    Parameters
    ----------
    recording : Recording
        Its run id and folder do not count.
    figures : mapping of str to bytes
        Name -> content of the figures that its cells name.

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
    check_contents(recording, figures)
    documents = {MEASUREMENTS: dumps(_measured(recording)), TRANSCRIPT: dumps(_transcript(recording))}
    contents = {name: sha256(text.encode()) for name, text in documents.items()}
    contents |= {name: sha256(data) for name, data in figures.items()}
    bare = Manifest(
        "",
        recording.machine,
        recording.page,
        recording.provenance,
        recording.keys,
        tuple(FileEntry(name, "", content) for name, content in contents.items()),
    )
    run_id = run_id_of(bare)
    files = {name: _with_run(text, run_id) for name, text in documents.items()} | dict(figures)
    entries = tuple(FileEntry(name, sha256(data), contents[name]) for name, data in files.items())
    manifest = dumps(replace(bare, run_id=run_id, files=entries)).encode()
    _check_size(recording, {MANIFEST: manifest, **files})
    return manifest, files, run_id


def run_id_of(manifest: Manifest) -> str:
    """Compute the run id: over the manifest without hashes of files that hold the run id themselves."""
    entries = tuple(FileEntry(entry.name, "", entry.content) for entry in manifest.files)
    bare = to_json(replace(manifest, run_id="", files=entries))
    # As it is read back: a float that was given as a whole number comes back as a float.
    return sha256(dumps(from_json(Manifest, bare, "")).encode())[:16]


def _with_run(text: str, run_id: str) -> bytes:
    return text.replace(_NO_RUN, _RUN.format(run_id), 1).encode()


def _measured(recording: Recording) -> Measured:
    shared = [name for name, study in recording.studies.items() if study.ceilings == recording.ceilings]
    with_ceilings = tuple(shared) if recording.ceilings is not None else ()
    studies = {
        name: replace(study, ceilings=None) if name in with_ceilings else study
        for name, study in recording.studies.items()
    }
    return Measured(
        "", recording.names, recording.facts, recording.claims, recording.ceilings, with_ceilings, studies
    )


def _transcript(recording: Recording) -> Transcript:
    cells = (
        CellText(c.cell, c.digest, tuple(c.stdout.split("\n")), tuple(c.html.split("\n")), c.figures, c.names)
        for c in recording.cells
    )
    return Transcript("", tuple(cells))


def _check_size(recording: Recording, files: Mapping[str, bytes]) -> None:
    counted = {name: len(data) for name, data in files.items() if not name.endswith(".png")}
    if sum(counted.values()) <= MOST_PAGE_BYTES:
        return
    parts = {name: size for name, size in counted.items() if name != MEASUREMENTS}
    parts |= {f"study {name!r}": len(dumps(study)) for name, study in recording.studies.items()}
    largest = sorted(parts.items(), key=lambda part: -part[1])[:3]
    shown = ", ".join(f"{name} ({size} bytes)" for name, size in largest)
    raise RecordingError(
        f"expected at most {MOST_PAGE_BYTES} bytes a page, got {sum(counted.values())}; largest: {shown}. "
        "Take fewer sizes or samples, or draw charts in cells that are not recorded.",
        file=f"{recording.machine}/{recording.page}",
    )


def decode(folder: Path, *, complete: bool) -> Recording:
    """Read a recording and check all of it.

    Parameters
    ----------
    folder : Path
        ``<root>/<machine>/<page>``.
    complete : bool
        Whether transcript and figures must be there.

    Returns
    -------
    Recording
        Without cells where the transcript is absent and need not be there.

    Raises
    ------
    RecordingError
        Names file and field.
    """
    manifest = read_manifest(folder)
    entries = {entry.name: entry for entry in manifest.files}
    where = label(folder, MANIFEST)
    for name in (MEASUREMENTS, TRANSCRIPT):
        if name not in entries:
            raise RecordingError(f"expected an entry for {name}.", file=where, field="files")
    if run_id_of(manifest) != manifest.run_id:
        raise RecordingError("does not belong to these contents.", file=where, field="run_id")
    measured = _document(Measured, folder, entries.pop(MEASUREMENTS), manifest)
    if not complete and not (folder / TRANSCRIPT).exists():
        recording = _assemble(manifest, measured, (), folder)
        check_contents(recording, {})
        return recording
    transcript = _document(Transcript, folder, entries.pop(TRANSCRIPT), manifest)
    recording = _assemble(manifest, measured, transcript.cells, folder)
    check_contents(recording, {name: read_member(folder, entry) for name, entry in entries.items()})
    return recording


def _document(kind: type[D], folder: Path, entry: FileEntry, manifest: Manifest) -> D:
    where = label(folder, entry.name)
    data = read_member(folder, entry)
    document = from_json(kind, parse(data, where), where)
    expected, got = manifest.run_id, document.run_id
    if got != expected:
        raise RecordingError(
            f"expected {expected!r}, as in {MANIFEST}, got {got!r}.", file=where, field="run_id"
        )
    if sha256(data.decode().replace(_RUN.format(got), _NO_RUN, 1).encode()) != entry.content:
        raise RecordingError("does not say what the manifest was made from.", file=where, field="run_id")
    return document


def _assemble(manifest: Manifest, measured: Measured, cells: Iterable[CellText], folder: Path) -> Recording:
    shared = set(measured.with_ceilings)
    studies = {
        name: replace(study, ceilings=measured.ceilings) if name in shared else study
        for name, study in measured.studies.items()
    }
    return Recording(
        machine=manifest.machine,
        page=manifest.page,
        provenance=manifest.provenance,
        keys=manifest.keys,
        run_id=manifest.run_id,
        studies=studies,
        facts=measured.facts,
        claims=measured.claims,
        ceilings=measured.ceilings,
        names=measured.names,
        cells=tuple(
            CellOutput(c.cell, c.digest, "\n".join(c.stdout), "\n".join(c.html), c.figures, c.names)
            for c in cells
        ),
        folder=folder,
    )
