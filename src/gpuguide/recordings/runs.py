"""Several runs of one page: which belong together, how all are read, and what they expect of the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from gpuguide.recordings.recording import Recording, Run
from gpuguide.results.records import Fact, Measurement, Provenance
from gpuguide.results.results import Results
from gpuguide.results.starts import expected
from gpuguide.results.units import format_ends, format_quantity, format_size

__all__ = ["MOST_RUNS", "date_of", "differences", "in_terms_of", "over_starts", "unexpected"]

MOST_RUNS = 9
"""Most runs of a recording, the newest included."""

# How far beyond the end of a range, because one start in ten lies outside of it by chance.
_LEAVES = 0.05
_MOST_NAMED = 3
_OF_THE_RUN = (
    *("samples_ns", "rounds", "n_calls", "method", "host_bound", "floor_ns", "traffic", "reason", "notes"),
    "work",
)


def over_starts(recording: Recording, deviations: Mapping[str, float] | None = None) -> Recording:
    """Return a recording as it is shown: studies know their former runs, facts are taken over all starts."""
    runs = recording.runs
    studies = {
        name: replace(
            study,
            start=recording.provenance.start,
            others=tuple(
                replace(run.studies[name], start=run.provenance.start) for run in runs if name in run.studies
            ),
            deviations=tuple((deviations or {}).items()),
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


def differences(one: Run, other: Run) -> list[str]:
    """Say why two runs are not of one recording: other code, versions or hardware."""
    a, b = one.provenance, other.provenance
    found = [] if one.key == other.key else ["the measured code changed"]
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


def in_terms_of(newest: Run, former: Run) -> Run:
    """Return a former run with the variants, sizes and words of the newest run's studies."""
    studies = {
        name: _in_terms_of(study, former.studies[name])
        for name, study in newest.studies.items()
        if name in former.studies
    }
    return replace(former, studies=studies)


def _in_terms_of(study: Results, former: Results) -> Results:
    cells = {_cell(each): each for each in former.measurements}

    def then(each: Measurement) -> Measurement:
        measured = cells.get(_cell(each))
        if measured is None:
            absent = "not measured in this run"
            return replace(each, samples_ns=(), rounds=(), reason=absent, notes=())
        return replace(each, **{name: getattr(measured, name) for name in _OF_THE_RUN})

    measurements = tuple(map(then, study.measurements))
    return replace(
        study, measurements=measurements, checks=(), ceilings=former.ceilings, warnings=former.warnings
    )


def unexpected(recording: Recording) -> Iterator[str]:
    """Warn of device times of the newest run that lie far outside of the range that the former runs give."""
    found, n = [], 0
    for name, study in recording.studies.items():
        for i, cell in enumerate(study.measurements):
            former = [
                (run.provenance.start, run.studies[name].measurements[i])
                for run in recording.runs
                if name in run.studies
            ]
            there = [(start, each) for start, each in former if _is_steady(each)]
            if not (_is_steady(cell) and there):
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


def _is_steady(cell: Measurement) -> bool:
    # Only the device's times: those of the host differ from start to start without a cause in the code.
    return cell.clock == "device" and cell.n > 0 and not cell.host_bound and cell.median_s > 0


def _cell(measurement: Measurement) -> tuple[str, int, str]:
    return measurement.variant, measurement.size, measurement.clock


def _minor(provenance: Provenance) -> str:
    return ".".join(provenance.python.split(".")[:2])


def date_of(provenance: Provenance) -> datetime:
    """Give the moment of a run."""
    date = datetime.fromisoformat(provenance.utc_date)
    # Dates with and without a zone cannot be compared.
    return date if date.tzinfo else date.replace(tzinfo=UTC)
