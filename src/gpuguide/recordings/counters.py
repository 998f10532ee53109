"""``counters.json`` beside a page's runs: the hardware counters of exactly their code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpuguide.errors import RecordingError
from gpuguide.recordings.keys import Key
from gpuguide.recordings.plain import label, loads, write
from gpuguide.results.counters import Counted
from gpuguide.results.records import Provenance

__all__ = ["FILE", "Counters", "counters_of", "read_counters", "save_counters"]

FILE = "counters.json"


@dataclass(frozen=True)
class Counters:
    """What was counted of a page on one machine."""

    machine: str
    page: str
    key: Key
    profiler: str
    provenance: Provenance
    counted: tuple[Counted, ...]


def read_counters(folder: Path) -> Counters | None:
    """Read the counters beside a recording, whatever code they are of; None where nothing was counted."""
    path = folder / FILE
    if not path.exists():
        return None
    where = label(path)
    counters = loads(Counters, path.read_bytes(), where)
    for field, got, expected in (
        ("page", counters.page, folder.name),
        ("machine", counters.machine, folder.parent.name),
    ):
        if got != expected:
            message = f"expected {expected!r}, as the folder is called, got {got!r}"
            raise RecordingError(message, file=where, field=field)
    return counters


def counters_of(folder: Path, key: Key) -> tuple[Counted, ...]:
    """Read what was counted of exactly the code that a recording is of; empty where other code was."""
    counters = read_counters(folder)
    return counters.counted if counters is not None and counters.key == key else ()


def save_counters(counters: Counters, root: Path) -> Path:
    """Write the counters of a page, in the place of those that were there."""
    for cell in counters.counted:
        if not cell.kernels:
            raise RecordingError(f"expected a kernel of {cell.study}[{cell.variant}, {cell.size}], got none")
    path = root / counters.machine / counters.page / FILE
    write(counters, path)
    return path
