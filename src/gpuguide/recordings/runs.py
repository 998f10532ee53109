"""Several runs of one page: when a new one joins the others, what is kept of these, and how all are read.

The newest run keeps its samples. Of a former one stay the summaries of its cells, its facts without samples
and its ceilings as medians, told in terms of the newest run's studies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from gpuguide.errors import RecordingError
from gpuguide.recordings.recording import FormerRun, Recording
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.records import Fact, Measurement, Provenance
from gpuguide.results.results import Results
from gpuguide.results.starts import expected
from gpuguide.results.units import format_ends, format_quantity, format_size

__all__ = [
    "LEAST_STARTS_KEPT",
    "MOST_RUNS",
    "add_run",
    "differences",
    "in_terms_of",
    "over_starts",
    "refuse_mixed",
    "without_history",
]

MOST_RUNS = 9
"""Most runs of a recording, the newest included."""

LEAST_STARTS_KEPT = 3
"""Machine starts whose runs stay however large the page gets: fewer give no range."""

# How far beyond the end of a range, because one start in ten lies outside of it by chance.
_LEAVES = 0.05
_MOST_NAMED = 3


def add_run(
    former: Recording | None, new: Recording, fits: Callable[[Recording], bool] = lambda recording: True
) -> tuple[Recording, tuple[str, ...]]:
    """Make a new run the newest of a recording, or begin the recording anew.

    Parameters
    ----------
    former : Recording or None
        What there is of this page and machine.
    new : Recording
        One run.
    fits : callable
        Whether a recording is small enough; while it is not, the oldest run leaves.

    Returns
    -------
    recording : Recording
        The new run, with the former ones where code, versions and GPU are still the same: nine runs at most.
        A run that is there already is not counted twice.
    warnings : tuple of str
        That it begins anew, and why; which device times lie outside of the range that the former runs give.

    Raises
    ------
    RecordingError
        If the run has other cells than the former ones although nothing that it depends on changed, or ended
        before the one before it began. Nothing was lost: both recordings are as they were.
    """
    new = without_history(new)
    if former is None:
        return new, ()
    former = without_history(former)
    if _the_run(former) == _the_run(new):
        return former, ()
    if new.runs:
        raise _error(new, "runs", "one new run to add to those that are there", f"{1 + len(new.runs)} runs")
    why = differences(former, new)
    if why:
        n = 1 + len(former.runs)
        left = "the former run leaves" if n == 1 else f"the {n} former runs leave"
        return new, (f"the recording begins anew, and {left}: {'; '.join(why)}",)
    _refuse_other_cells(former, new)
    runs = tuple(
        replace(
            run, studies={name: in_terms_of(new.studies[name], each) for name, each in run.studies.items()}
        )
        for run in (*former.runs, _summarised(former))
    )
    warnings = tuple(_unexpected(runs, new))
    # The newest run is one of the nine.
    whole = replace(new, runs=runs[1 - MOST_RUNS :])
    refuse_mixed(whole)
    while not fits(whole) and _n_starts(replace(whole, runs=whole.runs[1:])) >= LEAST_STARTS_KEPT:
        whole = replace(whole, runs=whole.runs[1:])
    return whole, warnings


def without_history(recording: Recording) -> Recording:
    """Return a recording whose studies hold their own run alone, as they are stored."""
    studies = {
        name: replace(study, start="", others=()) if study.start or study.others else study
        for name, study in recording.studies.items()
    }
    return replace(recording, studies=studies)


def over_starts(recording: Recording) -> Recording:
    """Return a recording as it is shown: each study knows its former runs, a fact is taken over all starts.

    Parameters
    ----------
    recording : Recording
        As read from its folder.

    Returns
    -------
    Recording
        A study's ``others`` and ``start`` are filled; facts are as `Fact.over_starts` gives them.
    """
    runs = recording.runs
    studies = {
        name: replace(
            study,
            start=recording.provenance.start,
            others=tuple(
                replace(run.studies[name], start=run.provenance.start) for run in runs if name in run.studies
            ),
        )
        for name, study in recording.studies.items()
    }
    facts = {name: _over_starts(fact, recording) for name, fact in recording.facts.items()}
    return replace(recording, studies=studies, facts=facts)


def _over_starts(fact: Fact, recording: Recording) -> Fact:
    former = [
        (run.provenance.start, run.facts[fact.name]) for run in recording.runs if fact.name in run.facts
    ]
    return Fact.over_starts([*former, (recording.provenance.start, fact)])


def differences(one: Recording | FormerRun, other: Recording | FormerRun) -> list[str]:
    """Say why two runs are not of one recording: other code, versions or hardware."""
    a, b = one.provenance, other.provenance
    found = [] if _measuring(one) == _measuring(other) else ["the measured code changed"]
    named = {"machine": "the machine", "gpu": "the GPU", "driver": "the driver", "cuda": "CUDA"}
    found += [
        f"{words} was {getattr(a, name)!r} and is {getattr(b, name)!r}"
        for name, words in named.items()
        if getattr(a, name) != getattr(b, name)
    ]
    if _minor(a) != _minor(b):
        found.append(f"Python was {_minor(a)} and is {_minor(b)}")
    then, now = dict(a.versions), dict(b.versions)
    found += [
        f"{name} was {then.get(name, 'absent')} and is {now.get(name, 'absent')}"
        for name in dict.fromkeys((*then, *now))
        if then.get(name) != now.get(name)
    ]
    return found


def refuse_mixed(recording: Recording) -> None:
    """Refuse runs that do not belong together, or that do not follow one another.

    Parameters
    ----------
    recording : Recording
        Read, or about to be saved.

    Raises
    ------
    RecordingError
        Names the run.
    """
    if len(recording.runs) >= MOST_RUNS:
        raise _error(recording, "runs", f"at most {MOST_RUNS - 1} former runs", len(recording.runs))
    for i, run in enumerate(recording.runs):
        why = differences(run, recording)
        if why:
            field = (
                f"runs[{i}].measuring"
                if run.measuring != recording.keys.measuring
                else f"runs[{i}].provenance"
            )
            raise _error(
                recording, field, "a run of the same code, versions, machine and GPU", "; ".join(why)
            )
    described = [*(run.provenance for run in recording.runs), recording.provenance]
    for i, (earlier, later) in enumerate(pairwise(described), start=1):
        # Two runs at once may end in either order.
        if _date(later) < _date(earlier) - timedelta(seconds=earlier.run_time_s or 0):
            field = f"runs[{i}].provenance.utc_date" if i < len(recording.runs) else "provenance.utc_date"
            raise _error(
                recording,
                field,
                f"a run that did not end before the one of {earlier.utc_date} began "
                "(a clock that goes backwards?)",
                later.utc_date,
            )


def in_terms_of(study: Results, former: Results) -> Results:
    """Return what a former run measured, with the variants, sizes and words of the newest run's study."""
    cells = {_cell(each): each for each in former.measurements}
    kept = ("n_calls", "method", "host_bound", "floor_ns", "traffic", "reason", "notes", "summary", "work")

    def told(each: Measurement) -> Measurement:
        same = replace(
            each, samples_ns=(), rounds=(), summary=None, reason="not measured in this run", notes=()
        )
        then = cells.get(_cell(each))
        return replace(same, **{name: getattr(then, name) for name in kept}) if then else same

    return replace(
        study,
        measurements=tuple(map(told, study.measurements)),
        checks=(),
        ceilings=former.ceilings,
        warnings=former.warnings,
        start="",
        others=(),
    )


def _summarised(recording: Recording) -> FormerRun:
    return FormerRun(
        measuring=recording.keys.measuring,
        provenance=recording.provenance,
        # Samples make a recording large; notes are those of the newest run.
        facts={name: replace(fact, samples=(), note="") for name, fact in recording.facts.items()},
        ceilings=_medians(recording.ceilings),
        studies={
            name: replace(
                study,
                measurements=tuple(cell.summarised() for cell in study.measurements),
                checks=(),
                ceilings=_medians(study.ceilings),
            )
            for name, study in recording.studies.items()
        },
    )


def _medians(ceilings: Ceilings | None) -> Ceilings | None:
    if ceilings is None:
        return None
    return Ceilings(tuple(replace(item, samples_ns=(), work=0, kernel="") for item in ceilings.items))


def _the_run(recording: Recording) -> tuple[object, ...]:
    """Give what the newest run is, without what only tells where it lies."""
    aside = ("run_id", "folder", "cells", "runs", "counters")
    return tuple(
        getattr(recording, field.name) for field in dataclasses.fields(recording) if field.name not in aside
    )


def _measuring(run: Recording | FormerRun) -> str:
    return run.keys.measuring if isinstance(run, Recording) else run.measuring


def _minor(provenance: Provenance) -> str:
    return ".".join(provenance.python.split(".")[:2])


def _date(provenance: Provenance) -> datetime:
    date = datetime.fromisoformat(provenance.utc_date)
    # Dates with and without a zone cannot be compared.
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _n_starts(recording: Recording) -> int:
    described = (recording.provenance, *(run.provenance for run in recording.runs))
    return len({provenance.start for provenance in described})


def _cell(measurement: Measurement) -> tuple[str, int, str]:
    return measurement.variant, measurement.size, measurement.clock


def _cells(studies: Mapping[str, Results]) -> list[tuple[str, str, int, str]]:
    return [
        (name, *_cell(each))
        for name, study in studies.items()
        for each in study.measurements
        if each.clock == study.variant(each.variant).clock
    ]


def _refuse_other_cells(former: Recording, new: Recording) -> None:
    # Runs of the same code have the same cells; where they do not, the key misses what decides on them. One
    # may have samples in one run and a reason in the other (it took too long), and its launch time with it.
    then, now = (dict.fromkeys(_cells(studies)) for studies in (former.studies, new.studies))
    odd = [f"{each} is new" for each in now if each not in then]
    odd += [f"{each} is gone" for each in then if each not in now]
    odd += [f"study {name!r} is new" for name in new.studies if name not in former.studies]
    odd += [f"study {name!r} is gone" for name in former.studies if name not in new.studies]
    if odd:
        more = f" and {len(odd) - _MOST_NAMED} more" if len(odd) > _MOST_NAMED else ""
        shown = ", ".join(odd[:_MOST_NAMED]) + more
        raise _error(
            new,
            "studies",
            "the cells of the former runs, because neither code nor versions changed",
            f"{shown}. Remove the recording to begin anew",
        )


def _unexpected(runs: tuple[FormerRun, ...], new: Recording) -> Iterator[str]:
    """Warn of device times that lie far outside of the range that the former runs give."""
    starts = [run.provenance.start for run in runs]
    found = []
    n = 0
    for name, study in new.studies.items():
        for i, cell in enumerate(study.measurements):
            former = [run.studies[name].measurements[i] for run in runs]
            there = [(start, each) for start, each in zip(starts, former, strict=True) if _times(each)]
            if not (_times(cell) and there):
                continue
            n += 1
            inside = [(each.quartiles_s[0], each.quartiles_s[2]) for _, each in there]
            range_ = expected([(start, each.median_s) for start, each in there], inside)
            off = max(range_.low / cell.median_s, cell.median_s / range_.high) - 1
            if off > _LEAVES:
                where = f"{name} {cell.variant!r} at {format_size(cell.size)}"
                span = format_quantity(range_.value, "s")
                if range_.has_range:
                    span = " to ".join(format_ends(range_.value, "s", range_.low, range_.high))
                took = format_quantity(cell.median_s, "s")
                found.append((off, f"{where} took {took}, {span} was expected"))
    if found:
        worst = "; ".join(words for _, words in sorted(found, key=lambda each: -each[0])[:_MOST_NAMED])
        yield (
            f"{len(found)} of {n} device times left the range of the former runs by more than "
            f"{_LEAVES:.0%}, so something changed: {worst}"
        )


def _times(cell: Measurement) -> bool:
    # Only the device's times are steady enough: those of the host differ from start to start without a cause
    # in the code.
    return cell.clock == "device" and cell.n > 0 and not cell.host_bound and cell.median_s > 0


def _error(recording: Recording, field: str, wanted: str, got: object) -> RecordingError:
    file = "measurements.json" if field == "studies" else "run.json"
    where = f"{recording.machine}/{recording.page}/{file}"
    return RecordingError(f"expected {wanted}; got {got}.", file=where, field=field)
