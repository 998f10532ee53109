"""``earlier.json``: what is kept of the former runs, one line per cell, with a column for each run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gpuguide.errors import GpuGuideError, RecordingError
from gpuguide.recordings.recording import FormerRun, Recording, RunEntry
from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import OPTIONAL, SIGNED, Fact, Measurement, Summary, Traffic, Work
from gpuguide.results.results import Results

__all__ = ["Earlier", "earlier_of", "runs_of"]

CeilingRow = tuple[str, float, str]
"""Mix, value, unit."""


@dataclass(frozen=True)
class Odd:
    """What differs in a former cell from the same cell of the newest run."""

    rounds: tuple[int, ...]
    method: str
    host_bound: bool
    traffic: Traffic | None
    reason: str
    notes: tuple[str, ...]
    work: tuple[Work, ...] = field(default=(), metadata=OPTIONAL)


CellRun = tuple[int, int, int | None, tuple[float, ...], tuple[float, ...], Odd | None]
"""Samples, calls in a sample, floor, quartiles and medians of rounds 0, 1, 2 ... (ns); what is odd."""

CellRow = tuple[str, int, str, tuple[CellRun, ...]]
"""Variant, size, clock; then one item per run, oldest first."""


@dataclass(frozen=True)
class EarlierStudy:
    """What a former run says of a study beside its cells."""

    warnings: tuple[str, ...]
    with_ceilings: bool
    ceilings: tuple[CeilingRow, ...] | None


@dataclass(frozen=True)
class EarlierRun:
    """What is kept of a former run beside its cells; where and when it was made stands in the manifest."""

    facts: dict[str, tuple[float | int | str, str]] = field(metadata=SIGNED)
    ceilings: tuple[CeilingRow, ...] | None
    studies: dict[str, EarlierStudy]


@dataclass(frozen=True)
class Earlier:
    """The file: runs oldest first; of each study, a row for each cell of the newest run."""

    run_id: str
    runs: tuple[EarlierRun, ...]
    cells: dict[str, tuple[CellRow, ...]]


def earlier_of(recording: Recording) -> Earlier:
    """Write the former runs of a recording down."""
    return Earlier(
        "",
        tuple(_run(run) for run in recording.runs),
        {
            name: tuple(
                (
                    cell.variant,
                    cell.size,
                    cell.clock,
                    tuple(_cell_run(run.studies[name].measurements[i], cell) for run in recording.runs),
                )
                for i, cell in enumerate(study.measurements)
            )
            for name, study in recording.studies.items()
        },
    )


def _run(run: FormerRun) -> EarlierRun:
    return EarlierRun(
        {name: (fact.value, fact.unit) for name, fact in run.facts.items()},
        _ceiling_rows(run.ceilings),
        {
            name: EarlierStudy(
                study.warnings,
                shared := study.ceilings is not None and study.ceilings == run.ceilings,
                None if shared else _ceiling_rows(study.ceilings),
            )
            for name, study in run.studies.items()
        },
    )


def _ceiling_rows(ceilings: Ceilings | None) -> tuple[CeilingRow, ...] | None:
    return None if ceilings is None else tuple((item.mix, item.value, item.unit) for item in ceilings.items)


def _cell_run(cell: Measurement, newest: Measurement) -> CellRun:
    made = cell.summary
    rounds = made.rounds if made else ()
    # Rounds from 0 on without a gap need not be written.
    usual = rounds == tuple(range(len(rounds)))
    odd = replace(_like(cell), rounds=() if usual else rounds)
    return (
        cell.n,
        cell.n_calls,
        cell.floor_ns,
        tuple(map(_whole, made.quartiles_ns)) if made else (),
        tuple(map(_whole, made.round_medians_ns)) if made else (),
        # Nearly always all is as in the newest run, and a page has room for 150 KB.
        None if odd == _like(newest) else odd,
    )


def _like(newest: Measurement) -> Odd:
    return Odd((), newest.method, newest.host_bound, newest.traffic, newest.reason, newest.notes, newest.work)


def _whole(value: float) -> float:
    # "1200" instead of "1200.0", of which a file holds thousands.
    return int(value) if value == int(value) else value


def runs_of(
    earlier: Earlier, entries: Sequence[RunEntry], studies: dict[str, Results], where: str
) -> tuple[FormerRun, ...]:
    """Read the former runs back.

    Parameters
    ----------
    earlier : Earlier
        The file.
    entries : sequence of RunEntry
        Of the manifest, one per run.
    studies : dict of str to Results
        Of the newest run, whose cells the former runs have too.
    where : str
        Name of the file, for messages.

    Returns
    -------
    tuple of FormerRun
        Oldest first.

    Raises
    ------
    RecordingError
        If they are not of the same runs, studies and cells.
    """
    n = len(entries)
    _expect(len(earlier.runs) == n, "runs", f"{n} runs, as in run.json", len(earlier.runs), where)
    _expect(
        list(earlier.cells) == list(studies),
        "cells",
        f"the studies {list(studies)}",
        list(earlier.cells),
        where,
    )
    for k, run in enumerate(earlier.runs):
        field_ = f"runs[{k}].studies"
        _expect(
            list(run.studies) == list(studies),
            field_,
            f"the studies {list(studies)}",
            list(run.studies),
            where,
        )
    for name, study in studies.items():
        rows, labels = earlier.cells[name], [(c.variant, c.size, c.clock) for c in study.measurements]
        _expect(len(rows) == len(labels), f"cells.{name}", f"{len(labels)} cells", len(rows), where)
        for i, (row, label) in enumerate(zip(rows, labels, strict=True)):
            _expect(row[:3] == label, f"cells.{name}[{i}]", f"the newest run's cell {label}", row[:3], where)
            _expect(len(row[3]) == n, f"cells.{name}[{i}][3]", f"{n} runs", len(row[3]), where)
    return tuple(_former(earlier, k, entry, studies, where) for k, entry in enumerate(entries))


def _former(earlier: Earlier, k: int, entry: RunEntry, studies: dict[str, Results], where: str) -> FormerRun:
    told = earlier.runs[k]
    facts = {
        name: _made(Fact, f"runs[{k}].facts.{name}", where, name, *each) for name, each in told.facts.items()
    }
    ceilings = _ceilings(told.ceilings, f"runs[{k}].ceilings", where)
    former = {}
    for name, study in studies.items():
        about, field_ = told.studies[name], f"runs[{k}].studies.{name}.ceilings"
        cells = tuple(
            _measurement(cell, row[3][k], f"cells.{name}[{i}][3][{k}]", where)
            for i, (cell, row) in enumerate(zip(study.measurements, earlier.cells[name], strict=True))
        )
        own = ceilings if about.with_ceilings else _ceilings(about.ceilings, field_, where)
        former[name] = replace(study, measurements=cells, checks=(), ceilings=own, warnings=about.warnings)
    return FormerRun(entry.measuring, entry.provenance, facts, ceilings, former)


def _measurement(newest: Measurement, row: CellRun, field_: str, where: str) -> Measurement:
    n, n_calls, floor_ns, quartiles, medians, odd = row
    odd = odd or _like(newest)
    rounds = odd.rounds or tuple(range(len(medians)))
    summary = _made(Summary, field_, where, n, quartiles, rounds, medians) if n or medians else None
    made: Measurement = _made(
        replace,
        field_,
        where,
        newest,
        samples_ns=(),
        rounds=(),
        n_calls=n_calls,
        floor_ns=floor_ns,
        summary=summary,
        method=odd.method,
        host_bound=odd.host_bound,
        traffic=odd.traffic,
        reason=odd.reason,
        notes=odd.notes,
        work=odd.work,
    )
    return made


def _ceilings(rows: Iterable[CeilingRow] | None, field_: str, where: str) -> Ceilings | None:
    if rows is None:
        return None
    items = tuple(_made(Ceiling, field_, where, *row) for row in rows)
    ceilings: Ceilings = _made(Ceilings, field_, where, items)
    return ceilings


def _made(make: Any, field_: str, where: str, *values: Any, **named: Any) -> Any:
    """Build a record; what it refuses is named by its place in the file."""
    try:
        return make(*values, **named)
    except GpuGuideError as error:
        raise RecordingError(str(error), file=where, field=field_) from error


def _expect(holds: bool, field_: str, wanted: str, got: object, where: str) -> None:
    if not holds:
        raise RecordingError(f"expected {wanted}, got {got}.", file=where, field=field_)
