"""Works out again, from the raw samples, what a recording says: ceilings and facts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuguide.errors import GpuGuideError
from gpuguide.results.ceilings import Ceiling
from gpuguide.results.records import Fact, FactOverStarts, Measurement, Summary
from gpuguide.results.statistics import median

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording

__all__ = ["recompute"]


def recompute(recording: Recording) -> tuple[str, ...]:
    """Compare what a recording says with what follows from its raw samples.

    Parameters
    ----------
    recording : Recording
        Any. Medians, rates and tables are never stored; that they can be computed is checked.

    Returns
    -------
    tuple of str
        One sentence for each difference, beginning with the field; empty where there is none.
    """
    return tuple(_differences(recording))


def _differences(recording: Recording) -> Iterator[str]:
    for item in recording.ceilings.items if recording.ceilings else ():
        yield from _ceiling(item)
    for fact in recording.facts.values():
        yield from _fact(fact)
    for name, study in recording.studies.items():
        try:
            # The table asks for every median, rate and share: what cannot be worked out shows here.
            study.table().text()
        except GpuGuideError as error:
            yield f"studies.{name}: no table can be made of it: {error}"
        for cell in study.measurements:
            yield from _work(cell, f"studies.{name}: {cell.variant!r} at {cell.size}")
    for i, run in enumerate(recording.runs):
        for name, study in run.studies.items():
            for cell in study.measurements:
                if cell.summary is not None:
                    where = f"runs[{i}].studies.{name}: {cell.variant!r} at {cell.size} ({cell.clock})"
                    yield from _summary(cell.summary, where)


def _summary(made: Summary, where: str) -> Iterator[str]:
    """Compare what is kept of samples that are gone: each part must be possible beside the others."""
    lower, middle, upper = made.quartiles_ns
    if not lower <= middle <= upper:
        yield f"{where}: its quartiles are not in order: {lower:.6g}, {middle:.6g}, {upper:.6g} ns."
    if made.n < len(made.rounds):
        yield f"{where}: it says {made.n} samples in {len(made.rounds)} rounds."
    # At least half of the samples lie on either side of a median, in each round and so in all.
    low, high = min(made.round_medians_ns), max(made.round_medians_ns)
    if not low <= middle <= high:
        span = f"{low:.6g} to {high:.6g} ns"
        yield f"{where}: the medians of its rounds lie from {span}, its median is {middle:.6g} ns."


def _work(cell: Measurement, where: str) -> Iterator[str]:
    """Compare the rate of declared work with the ceiling that was declared for it."""
    for work in cell.work if cell.samples_ns else ():
        rate = work.count / cell.median_s
        if work.ceiling and rate > 1.02 * work.ceiling:
            yield f"{where}: {rate:.4g} {work.noun} per second, with a ceiling of {work.ceiling:.4g}."


def _ceiling(item: Ceiling) -> Iterator[str]:
    if not (item.samples_ns and item.work):
        return
    seconds = median(item.samples_ns) / 1e9
    # A launch is a time, and its work the number of launches.
    value = seconds / item.work if item.unit == "s" else item.work / seconds
    if not math.isclose(value, item.value, rel_tol=1e-6):
        yield f"ceilings.{item.mix}.value: its samples give {value:.6g}, it says {item.value:.6g}."


def _fact(fact: Fact) -> Iterator[str]:
    # Over several starts a value need not lie among the newest run's samples.
    if isinstance(fact, FactOverStarts) and fact.newest is not None:
        fact = fact.newest
    if fact.samples and not isinstance(fact.value, str):
        low, high = min(fact.samples), max(fact.samples)
        if not low <= fact.value <= high:
            span = f"{low:.6g} to {high:.6g}"
            yield f"facts.{fact.name}.value: its samples lie from {span}, it says {fact.value:.6g}."
