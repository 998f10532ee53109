"""Which numbers of a recording are followed over its runs, and what each run has of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpuguide.errors import ArgumentError
from gpuguide.recordings.recording import Recording
from gpuguide.results.history import Followed, History, Run, follow
from gpuguide.results.records import Fact, FactOverStarts
from gpuguide.results.results import InRun, Results
from gpuguide.results.units import REGIONS, format_size

__all__ = ["history"]

_N_HEADLINE = 3


def history(recording: Recording, *, every: bool = False) -> History:
    """Return how the headline numbers of a page moved over its runs.

    They are the times of the fastest variant on the CPU and of the fastest on the GPU, at the largest size
    that both sides reached, and how many times as fast the one is as the other. The study is the one that the
    page calls ``results``, else its first. Where all of it ran on one side, the slowest variant stands beside
    the fastest. A page without a study has its first three facts.

    Parameters
    ----------
    recording : Recording
        As ``gg.load(page)`` gives it.
    every : bool
        All cells of all studies and all facts that are numbers, instead.

    Returns
    -------
    History
        Printed, it is a table; `gpuguide.charts.history.plot_history` draws it.
    """
    described = recording.provenances
    starts = {start: i for i, start in enumerate(dict.fromkeys(each.start for each in described), 1)}
    runs = tuple(Run(each.utc_date, starts[each.start]) for each in described)
    numbers = tuple(_every(recording) if every else _headline(recording))
    return History(f"{recording.page} on {recording.machine}", runs, numbers)


def _headline(recording: Recording) -> list[Followed]:
    """Follow two variants of the main study and their ratio, or the first facts."""
    study = recording.studies.get(recording.names.get("results", "")) or next(
        iter(recording.studies.values()), None
    )
    chosen = None if study is None else _two_of(study)
    if study is None or chosen is None:
        return list(_facts(recording))[:_N_HEADLINE]
    size, slower, faster = chosen
    followed = [_cell(recording, study, name, size) for name in dict.fromkeys((slower, faster))]
    if slower != faster:
        followed.append(_cell(recording, study, faster, size, baseline=slower))
    return [each for each in followed if each is not None]


def _two_of(study: Results) -> tuple[int, str, str] | None:
    """Choose a size and the two variants that say most there, the slower one first.

    What a page states most loudly stands in its text, which an installed package has not. But what it
    compares is in the recording: the best of the CPU with the best of the GPU.
    """
    at = {size: [info for info in study.variants if study.has(info.name, size)] for size in study.sizes}
    # First the sizes with both sides, then those with two variants; the largest of them.
    ranked = ((len({info.device for info in there}), min(2, len(there)), size) for size, there in at.items())
    *_, n_there, size = max(ranked, default=(0, 0, 0))
    if not n_there:
        return None
    times = {info: study.time(info.name, size).value for info in at[size]}
    by_time = sorted(times, key=times.__getitem__)
    fastest = by_time[0]
    # On one side alone, the slowest is what the fastest is compared with.
    rival = next((info for info in by_time if info.device != fastest.device), by_time[-1])
    return size, rival.name, fastest.name


def _every(recording: Recording) -> Iterator[Followed]:
    for study in recording.studies.values():
        for cell in sorted(study.measurements, key=lambda each: study.sizes.index(each.size)):
            followed = _cell(recording, study, cell.variant, cell.size, clock=cell.clock)
            if followed is not None:
                yield followed
    yield from _facts(recording)


def _cell(
    recording: Recording,
    study: Results,
    variant: str,
    size: int,
    *,
    clock: str | None = None,
    baseline: str | None = None,
) -> Followed | None:
    """Follow a time, or how many times as fast as the baseline it is; None where no run has it."""
    former = [(run.provenance.start, run.studies.get(study.name)) for run in recording.runs]
    # Without the others, or it would answer for all runs at once.
    newest = (recording.provenance.start, replace(study, others=()))
    found = [
        (start, None if each is None else _in_one(each, variant, size, baseline, clock))
        for start, each in [*former, newest]
    ]
    if all(each is None for _, each in found):
        return None
    where = f"{study.name} at {format_size(size)} {study.size_name}"
    info = study.variant(variant)
    if baseline is not None:
        return follow(where, "times as fast", "ratio", found)
    region = clock or info.clock
    label = info.label or info.name
    return follow(where, label if region == "host" else f"{label} ({REGIONS[region].column})", "s", found)


def _in_one(run: Results, variant: str, size: int, baseline: str | None, clock: str | None) -> InRun | None:
    try:
        (found,) = run.by_run(variant, size, "time" if baseline is None else "speedup", baseline, clock)
    except ArgumentError:
        return None
    return found


def _facts(recording: Recording) -> Iterator[Followed]:
    for fact in recording.facts.values():
        # What one run found is followed, and not the median over all of them.
        newest = fact.newest if isinstance(fact, FactOverStarts) else fact
        former = [(run.provenance.start, run.facts.get(fact.name)) for run in recording.runs]
        found = [(start, _number(each)) for start, each in [*former, (recording.provenance.start, newest)]]
        if any(value is not None for _, value in found):
            yield follow("facts", fact.name.replace("_", " "), fact.unit, found)


def _number(fact: Fact | None) -> float | None:
    return None if fact is None or isinstance(fact.value, str) else float(fact.value)
