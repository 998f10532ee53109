"""What must hold between the parts of a recording, besides each field being what it is declared to be."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from gpuguide.errors import RecordingError
from gpuguide.keys import PART_NAME, Keys
from gpuguide.recording_files import MANIFEST, MEASUREMENTS, TRANSCRIPT, sha256
from gpuguide.recording_parts import CellOutput, FigureOutput, Recording
from gpuguide.results import Ceilings, Results
from gpuguide.safe_markup import check_html, check_png, check_svg, check_text

__all__ = ["MOST_SAMPLES", "check_contents"]

MOST_SAMPLES = 100
"""Most samples of one measurement; longer batches instead."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FILES = dict.fromkeys(("machine", "page", "provenance", "keys"), MANIFEST) | {"cells": TRANSCRIPT}


class _Place:
    """A recording's field, for messages."""

    def __init__(self, recording: Recording) -> None:
        self.folder = f"{recording.machine}/{recording.page}"

    def file(self, field: str) -> str:
        return f"{self.folder}/{_FILES.get(re.split(r'[.[]', field)[0], MEASUREMENTS)}"

    def expect(self, holds: bool, field: str, expected: str, got: object) -> None:
        if not holds:
            raise RecordingError(f"expected {expected}, got {got!r}.", file=self.file(field), field=field)


def check_contents(recording: Recording, figures: Mapping[str, bytes]) -> None:
    """Refuse a recording whose parts do not fit together, or that holds what could act in a page.

    Parameters
    ----------
    recording : Recording
        Read, or about to be saved.
    figures : mapping of str to bytes
        Name -> content of its figures.

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
    for field, text in _texts(dataclasses.replace(recording, folder=None), ""):
        check_text(text, file=place.file(field), field=field)
    _check_date(recording.provenance.utc_date, place)
    _check_keys(recording.keys, place)
    _check_measured(recording, place)
    _check_cells(recording, place)
    _check_figures(recording, figures, place)


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield every text, names of entries included, and its place."""
    if isinstance(value, str):
        yield path, value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _texts(getattr(value, field.name), f"{path}.{field.name}" if path else field.name)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield path, key
            yield from _texts(item, f"{path}.{key}")
    elif isinstance(value, tuple) and not _are_samples(value):
        for i, item in enumerate(value):
            yield from _texts(item, f"{path}[{i}]")


def _are_samples(values: tuple[Any, ...]) -> bool:
    return all(type(value) is int for value in values)


def _check_date(text: str, place: _Place) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        place.expect(False, "provenance.utc_date", "a date as 2026-11-21T10:00:00+00:00", text)


def _check_keys(keys: Keys, place: _Place) -> None:
    names = [name for name, _ in keys.parts]
    for i, (name, digest) in enumerate(keys.parts):
        fits = bool(PART_NAME.fullmatch(name)) and name not in names[:i]
        place.expect(fits, f"keys.parts[{i}][0]", "'cell <number>' or a module of gpuguide, each once", name)
        place.expect(bool(_DIGEST.fullmatch(digest)), f"keys.parts[{i}][1]", "a SHA-256", digest)
    cells = [name for name in names if name.startswith("cell ")]
    place.expect(cells == [f"cell {i + 1}" for i in range(len(cells))], "keys.parts", "cells in order", cells)
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
    for i, claim in enumerate(recording.claims):
        place.expect(
            claim.holds is True, f"claims[{i}].holds", "true: recording fails otherwise", claim.holds
        )
    _check_ceilings(recording.ceilings, "ceilings", place)


def _check_study(study: Results, field: str, place: _Place) -> None:
    place.expect(not study.quick, f"{field}.quick", "false: a quick run cannot be published", study.quick)
    for i, cell in enumerate(study.measurements):
        n = len(cell.samples_ns)
        where = f"{field}.measurements[{i}].samples_ns"
        place.expect(n <= MOST_SAMPLES, where, f"at most {MOST_SAMPLES} samples", n)
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
        check_html(cell.html, file=place.file("cells"), field=f"cells[{i}].html")


def _check_figures(recording: Recording, figures: Mapping[str, bytes], place: _Place) -> None:
    named = dict(_figures(recording.cells))
    for field, figure in named.items():
        _check_figure(figure, figures.get(figure.file), field, place)
    surplus = sorted(set(figures) - {figure.file for figure in named.values()})
    place.expect(not surplus, "cells", "figures that cells name", surplus)


def _figures(cells: tuple[CellOutput, ...]) -> Iterator[tuple[str, FigureOutput]]:
    for i, cell in enumerate(cells):
        for k, figure in enumerate(cell.figures):
            yield f"cells[{i}].figures[{k}]", figure


def _check_figure(figure: FigureOutput, data: bytes | None, field: str, place: _Place) -> None:
    place.expect(bool(_DIGEST.fullmatch(figure.sha256)), f"{field}.sha256", "a SHA-256", figure.sha256)
    stem = f"figure-{figure.sha256[:8]}"
    place.expect(
        figure.file in (f"{stem}.svg", f"{stem}.png"), f"{field}.file", f"{stem}.svg or .png", figure.file
    )
    place.expect(data is not None, f"{field}.file", "a figure that exists", figure.file)
    got = sha256(data or b"")
    place.expect(got == figure.sha256, f"{field}.sha256", f"{got!r}, the hash of the file", figure.sha256)
    check = check_svg if figure.file.endswith(".svg") else check_png
    check(data or b"", file=f"{place.folder}/{figure.file}")
