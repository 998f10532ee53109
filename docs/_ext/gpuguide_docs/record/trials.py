"""What new starts of the machine measured, compared with the ranges that recordings predict for them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording, Run
    from gpuguide.results.starts import Expected

__all__ = [
    "Reading",
    "Trial",
    "compare",
    "keep_recorded",
    "keep_start",
    "leave_one_out",
    "readings",
    "report",
    "shortcomings",
    "starts_of",
]

# The ranges are meant for nine in ten; on four real starts 87 to 96 % of a clock's medians lay inside.
LEAST_INSIDE = 0.85
"""Share of the medians of each clock that must lie in their ranges."""

LEAST_MEDIANS = 20
"""Medians of a clock below which its share says nothing."""

WIDEST_DEVICE = 0.03
"""The most that the median half-range of the device clock may be, as a share of the value."""

_N_WORST = 10


@dataclass(frozen=True)
class Reading:
    """What one run measured of one cell."""

    what: str
    clock: str
    start: str
    quartiles_s: tuple[float, float, float]


@dataclass(frozen=True)
class Trial:
    """A median of a start that was left out, and the prediction from the others."""

    what: str
    clock: str
    start: str
    found_s: float
    expected: Expected

    @property
    def is_inside(self) -> bool:
        """Whether it lies in its range."""
        return self.expected.low <= self.found_s <= self.expected.high

    @property
    def half_width(self) -> float:
        """Half of the range, as a part of the value."""
        return (self.expected.high - self.expected.low) / (2 * self.expected.value)

    @property
    def miss(self) -> float:
        """How far beyond its range it lies, as a part of the bound; 0 inside."""
        if self.found_s > self.expected.high:
            return self.found_s / self.expected.high - 1
        return max(0.0, self.expected.low / self.found_s - 1)


def readings(recording: Recording) -> Iterator[Reading]:
    """Give what each run of a recording measured, cell by cell."""
    from gpuguide.results.units import format_size

    for run in _all_runs(recording):
        for name, study in run.studies.items():
            for cell in study.measurements:
                if cell.n:
                    what = f"{recording.page}: {name}[{cell.variant}, {format_size(cell.size)}]"
                    yield Reading(what, cell.clock, run.provenance.start, cell.quartiles_s)


def compare(
    landed: Iterable[Reading], new: Iterable[Reading], deviations: Mapping[str, float] | None = None
) -> list[Trial]:
    """Compare each new start with the prediction from the landed ones, whose machine's starts deviate so."""
    from gpuguide.results.starts import expected

    known, found = _by_cell(landed), _by_cell(new)
    trials = []
    for (what, clock), runs in found.items():
        before = known.get((what, clock), [])
        if not before:
            continue
        range_ = expected(*_values(before), (deviations or {}).get(clock, 0.0))
        for start in dict.fromkeys(run.start for run in runs):
            median_s = expected(*_values([run for run in runs if run.start == start])).value
            if range_.has_range:
                trials.append(Trial(what, clock, start, median_s, range_))
    return trials


def leave_one_out(landed: Iterable[Reading], deviations: Mapping[str, float] | None = None) -> list[Trial]:
    """Compare each landed start with the prediction from the others."""
    rows = list(landed)
    return [
        trial
        for start in dict.fromkeys(row.start for row in rows)
        for trial in compare(
            [row for row in rows if row.start != start],
            [row for row in rows if row.start == start],
            deviations,
        )
    ]


def _by_cell(rows: Iterable[Reading]) -> dict[tuple[str, str], list[Reading]]:
    found: dict[tuple[str, str], list[Reading]] = {}
    for row in rows:
        found.setdefault((row.what, row.clock), []).append(row)
    return found


def _values(runs: Sequence[Reading]) -> tuple[list[tuple[str, float]], list[tuple[float, float]]]:
    """Return what `expected` takes: medians with their starts, and the spread inside each run."""
    values = [(run.start, run.quartiles_s[1]) for run in runs]
    return values, [(run.quartiles_s[0], run.quartiles_s[2]) for run in runs]


def _by_clock(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    from gpuguide.results.records import CLOCKS

    trials = list(trials)
    by_clock = {clock: [trial for trial in trials if trial.clock == clock] for clock in CLOCKS}
    return {clock: found for clock, found in by_clock.items() if found}


def shortcomings(trials: Iterable[Trial]) -> list[str]:
    """Say why the printed ranges are not reliable."""
    found = []
    for clock, of_clock in _by_clock(trials).items():
        if len(of_clock) < LEAST_MEDIANS:
            continue
        inside = statistics.fmean(trial.is_inside for trial in of_clock)
        if inside < LEAST_INSIDE:
            found.append(f"{clock}: {inside:.1%} inside; at least {LEAST_INSIDE:.0%} were expected")
        width = statistics.median(trial.half_width for trial in of_clock)
        if clock == "device" and width > WIDEST_DEVICE:
            found.append(f"{clock}: half a range is {width:.1%}; at most {WIDEST_DEVICE:.0%} was expected")
    return found


def report(trials: Iterable[Trial]) -> str:
    """Say of each clock how many medians lie in their ranges, how wide these are, and what missed most."""
    from gpuguide.results.units import format_quantity

    trials = list(trials)
    lines = [f"{'clock':12}{'medians':>9}{'inside':>9}{'half a range in the middle':>29}"]
    for clock, of_clock in _by_clock(trials).items():
        inside = statistics.fmean(trial.is_inside for trial in of_clock)
        width = statistics.median(trial.half_width for trial in of_clock)
        lines.append(f"{clock:12}{len(of_clock):9}{inside:9.1%}{width:29.1%}")
    missed = sorted((trial for trial in trials if not trial.is_inside), key=lambda trial: -trial.miss)
    if missed:
        lines += ["", f"The worst of {len(missed)} outside:"]
    for trial in missed[:_N_WORST]:
        low, high = (format_quantity(value, "s") for value in (trial.expected.low, trial.expected.high))
        found = format_quantity(trial.found_s, "s")
        lines.append(
            f"  {trial.what}, {trial.clock}: {found}, expected {low} to {high} ({trial.miss:.1%} beyond)"
        )
    return "\n".join(lines)


def starts_of(recording: Recording) -> set[str]:
    return {run.provenance.start for run in _all_runs(recording)}


def _all_runs(recording: Recording) -> Sequence[Run]:
    """Return all runs, the newest first."""
    return [recording, *recording.runs]


def keep_start(
    folder: Path, start: str, compared: Iterable[tuple[Recording, Recording, list[Trial]]]
) -> None:
    """Write down how many medians of a start lay in ranges of other days, for the page on measuring."""
    from gpuguide.recordings.fresh_starts import FreshStart, keep, read_fresh_starts

    known = {page for each in read_fresh_starts(folder) if each.start == start for page in each.pages}
    judged, days, recorded_on = [], set(), set()
    for former, new, trials in compared:
        day = {run.provenance.utc_date[:10] for run in _all_runs(new) if run.provenance.start == start}
        before = {each.utc_date[:10] for each in former.provenances}
        own = [trial for trial in trials if trial.start == start]
        if own and new.page not in known and not day & before:
            judged.append((new.page, own))
            days |= day
            recorded_on |= before
    if judged:
        by_clock = _by_clock(trial for _, own in judged for trial in own)
        inside = {clock: (sum(each.is_inside for each in of), len(of)) for clock, of in by_clock.items()}
        pages = tuple(sorted(page for page, _ in judged))
        keep(FreshStart(start, min(days), tuple(sorted(recorded_on)), pages, inside), folder)


def keep_recorded(root: Path, machine: str, former: Mapping[str, Recording]) -> None:
    """Compare what was just recorded with the ranges before it, and keep what came of the start."""
    from gpuguide.recordings import store as recordings
    from gpuguide.recordings.spread import deviations_in

    compared, deviations = [], deviations_in(root / machine)
    for page, before in former.items():
        now = recordings.read(root / machine / page)
        new = [row for row in readings(now) if row.start not in starts_of(before)]
        if new and before.key == now.key:
            compared.append((before, now, compare(readings(before), new, deviations)))
    for start in {trial.start for *_, trials in compared for trial in trials}:
        keep_start(root / machine, start, compared)
