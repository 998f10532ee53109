"""The table that ``gpuguide run`` prints: beside the guide's numbers, and no wider than the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

from gpuguide.errors import GpuGuideError
from gpuguide.recordings.recording import Recording
from gpuguide.results.results import Results
from gpuguide.results.starts import starts_words
from gpuguide.results.tables import Column, Row, Table

__all__ = ["recorded_on", "run_table"]

# Keys of the columns that a narrow terminal goes without, the least important first.
_DISPENSABLE = ("method", "n", "spread", "work", "flop_rate", "threads", "launch", "rate", "share")


def run_table(results: Results, recording: Recording | None, width: int) -> str:
    """Write results as a table, with the time that the guide's recording has of each row."""
    table, notes = _with_numbered_remarks(results.table())
    if recording is not None and (study := recording.studies.get(results.name)):
        table = _beside(table, study, recording.provenance.gpu)
    table, left_out = _fitted(table, width)
    if left_out:
        notes.append(f"Left out, because this terminal is narrow: {', '.join(left_out)}.")
    return "\n".join((table.text(), *(textwrap.fill(note, width, subsequent_indent="  ") for note in notes)))


def recorded_on(recording: Recording) -> str:
    """Say where and when the guide measured what stands in its column."""
    where = recording.provenance
    return (
        f"In the column {where.gpu}: the guide's medians over {starts_words(recording.n_starts)}, latest on "
        f"{where.utc_date[:10]}, with {where.n_cpus} virtual CPUs of an {where.cpu.partition(' (')[0]}."
    )


def _with_numbered_remarks(table: Table) -> tuple[Table, list[str]]:
    """Put remarks and reasons below the table, each once: in their rows they would make it twice as wide."""
    numbers: dict[str, str] = {}

    def numbered(row: Row) -> Row:
        words = str(row.raw["reason"] if row.reason else row.cells["remarks"])
        number = numbers.setdefault(words, f"({len(numbers) + 1})") if words else ""
        if row.reason:
            return replace(row, reason=f"not measured {number}")
        return replace(row, cells={**row.cells, "remarks": number})

    rows = tuple(map(numbered, table.rows))
    return replace(table, rows=rows, notes=()), [f"{number} {words}" for words, number in numbers.items()]


def _beside(table: Table, study: Results, machine: str) -> Table:
    """Add a column with the times of the guide's recording."""
    rows = tuple(replace(row, cells={**row.cells, "guide": _time(study, row)}) for row in table.rows)
    after = [column.key for column in table.columns].index("median") + 1
    columns = (*table.columns[:after], Column("guide", machine, numeric=True), *table.columns[after:])
    return replace(table, columns=columns, rows=rows)


def _time(study: Results, row: Row) -> str:
    try:
        return str(study.time(*(row.raw[key] for key in ("variant", "size", "clock"))))  # type: ignore[arg-type]
    except GpuGuideError:
        return ""  # the guide has no such size, or none of this variant


def _fitted(table: Table, width: int) -> tuple[Table, Sequence[str]]:
    """Leave out columns until the table fits; give the headings of those."""
    left_out: list[str] = []
    for key in _DISPENSABLE:
        if max(map(len, table.text().splitlines()[1:])) <= width:
            break
        left_out += [column.heading for column in table.shown if column.key == key]
        table = replace(table, columns=tuple(column for column in table.columns if column.key != key))
    return table, left_out
