"""``counters.json`` beside a page's runs: the hardware counters of exactly their code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuguide.errors import ArgumentError, RecordingError, UnknownNameError
from gpuguide.recordings.codec import dumps, from_json, to_json
from gpuguide.recordings.format import full_disk_named, label, locked, parse, read_file, write_file
from gpuguide.results.counters import Counted
from gpuguide.results.records import Provenance

__all__ = ["FILE", "Counters", "counters_of", "read_counters", "save_counters"]

FILE = "counters.json"
# A sort of 4096 rows is 105 kernels.
_MOST_CELLS, _MOST_KERNELS, _MOST_BYTES = 64, 256, 256 * 2**10


@dataclass(frozen=True)
class Counters:
    """What was counted of a page on one machine.

    Parameters
    ----------
    machine, page : str
        As the folders are called.
    measuring : str
        Measuring key of the recording that it belongs to; no other recording can show it.
    profiler : str
        Its name and version.
    provenance : Provenance
        Where, when and with what.
    counted : tuple of Counted
        One per variant and size.
    """

    machine: str
    page: str
    measuring: str
    profiler: str
    provenance: Provenance
    counted: tuple[Counted, ...]


def read_counters(folder: Path) -> Counters | None:
    """Read the counters beside a recording, whatever code they are of.

    Parameters
    ----------
    folder : Path
        ``<root>/<machine>/<page>``.

    Returns
    -------
    Counters or None
        None where nothing was counted.

    Raises
    ------
    RecordingError
        If the file is not exactly as it should be; names file and field.
    """
    if not os.path.lexists(folder / FILE):
        return None
    return _read(read_file(folder, FILE), folder)


def _read(data: bytes, folder: Path) -> Counters:
    where = label(folder, FILE)
    if len(data) > _MOST_BYTES:
        raise RecordingError(f"expected at most {_MOST_BYTES} bytes, got {len(data)}.", file=where)
    plain = parse(data, where)
    listed = plain.get("counted")
    if isinstance(listed, list):
        longest = max(
            (len(cell["kernels"]) for cell in listed if isinstance(cell, dict) and _has_list(cell)), default=0
        )
        for field, n, most in (("counted", len(listed), _MOST_CELLS), ("kernels", longest, _MOST_KERNELS)):
            if n > most:
                raise RecordingError(f"expected at most {most}, got {n}.", file=where, field=field)
    try:
        found = from_json(Counters, plain, where)
    except (ArgumentError, UnknownNameError) as error:
        raise RecordingError(str(error), file=where) from None
    for field, got, expected in (
        ("page", found.page, folder.name),
        ("machine", found.machine, folder.parent.name),
    ):
        if got != expected:
            raise RecordingError(
                f"expected {expected!r}, as the folder is called, got {got!r}.", file=where, field=field
            )
    _refuse_unfit(found.counted, where)
    return found


def counters_of(folder: Path, measuring: str) -> tuple[Counted, ...]:
    """Read what was counted of exactly the code that a recording is of.

    Parameters
    ----------
    folder : Path
        Of the recording.
    measuring : str
        Its measuring key.

    Returns
    -------
    tuple of Counted
        Empty where nothing was counted, or other code was.
    """
    found = read_counters(folder)
    return found.counted if found is not None and found.measuring == measuring else ()


def save_counters(counters: Counters, root: Path) -> Path:
    """Write the counters of a page in one step, in the place of those that were there; other writers wait.

    Parameters
    ----------
    counters : Counters
        What was counted.
    root : Path
        Folder of the recordings.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    RecordingError
        If they are not sound, or too large, or the disk is full; what was there stays.
    """
    folder = root / counters.machine / counters.page
    data = dumps(to_json(counters)).encode()
    # What would not be read again is not written.
    _read(data, folder)
    # Under the lock, for a recording that is saved meanwhile would sweep away what is half written.
    advice = "the former counters stand. Make room and count again."
    with locked(folder), full_disk_named(folder / FILE, len(data), advice):
        write_file(folder / FILE, data)
    return folder / FILE


def _has_list(cell: dict[str, object]) -> bool:
    return isinstance(cell.get("kernels"), list)


def _refuse_unfit(counted: Sequence[Counted], where: str) -> None:
    seen = set()
    for cell in counted:
        name = f"{cell.study}[{cell.variant}, {cell.size}]"
        if not cell.kernels:
            raise RecordingError(f"expected a kernel of {name}, got none.", file=where, field="kernels")
        if name in seen:
            raise RecordingError(f"expected {name} once, got it twice.", file=where, field="counted")
        seen.add(name)
