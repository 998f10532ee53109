"""``starts.json`` beside a machine's pages: how far its starts lie apart, pooled over all pages."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from gpuguide.recordings.plain import label, loads, write
from gpuguide.recordings.recording import Recording
from gpuguide.results.results import Results, clocks_of_ratio
from gpuguide.results.starts import STEADY

__all__ = ["FILE", "Spread", "deviations_in", "pooled", "read_spread", "save_spread"]

FILE = "starts.json"

# Two starts say next to nothing about how far a cell's starts lie apart.
_LEAST_STARTS = 3
# Nor do a few cells about all others.
_LEAST_CELLS = 10


@dataclass(frozen=True)
class Spread:
    """How far the starts of a machine lie apart, on the logarithm of the time, where the host decides.

    One figure for each clock (``"host"``), and one for the ratios of two (``"device/host"``), over all cells
    but those that hardly differ from start to start.
    """

    machine: str
    n_starts: int
    days: tuple[str, ...]
    deviations: dict[str, float]
    n_cells: dict[str, int]


def pooled(recordings: Iterable[Recording], machine: str) -> Spread:
    """Pool the spread of one machine's recordings, read with all their runs."""
    cells: dict[str, list[list[float]]] = defaultdict(list)
    moments: dict[str, str] = {}
    for recording in recordings:
        moments |= {each.start: each.utc_date[:10] for each in recording.provenances}
        for study in recording.studies.values():
            for clock, values in _by_start(study):
                cells[clock].append(values)
    deviations, n_cells = {}, {}
    for clock, found in sorted(cells.items()):
        apart = [(stdev(values), len(values) - 1) for values in found]
        swinging = [(each, n) for each, n in apart if each >= STEADY]
        if len(swinging) >= _LEAST_CELLS:
            variance = sum(each**2 * n for each, n in swinging) / sum(n for _, n in swinging)
            deviations[clock], n_cells[clock] = round(math.sqrt(variance), 3), len(swinging)
    return Spread(machine, len(moments), tuple(sorted(set(moments.values()))), deviations, n_cells)


def _by_start(study: Results) -> Iterator[tuple[str, list[float]]]:
    """Give each time and ratio that the host decides: its clock, and the logarithm on each start."""
    found: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in study.runs:
        times = {(each.variant, each.size, each.clock): each.median_s for each in run.measurements if each.n}
        for (variant, size, clock), time_s in times.items():
            if not time_s > 0:
                continue
            if clock != "device":
                found[clock, variant, str(size)][run.start].append(math.log(time_s))
            first = study.variants[0]
            base_s = times.get((first.name, size, first.clock), 0.0)
            both = clocks_of_ratio(first.clock, clock)
            if clock != "launch" and variant != first.name and both and base_s > 0:
                found[both, variant, str(size)][run.start].append(math.log(base_s / time_s))
    for (clock, *_), starts in found.items():
        if len(starts) >= _LEAST_STARTS:
            yield clock, [fmean(values) for values in starts.values()]


def read_spread(folder: Path) -> Spread | None:
    """Read the spread of a machine from its folder of recordings; None where none was pooled."""
    path = folder / FILE
    return loads(Spread, path.read_bytes(), label(path)) if path.exists() else None


def deviations_in(folder: Path) -> dict[str, float]:
    """Read by how much a machine's starts deviate, by clock; empty where nothing was pooled."""
    spread = read_spread(folder)
    return spread.deviations if spread else {}


def save_spread(spread: Spread, root: Path) -> Path:
    """Write the spread of a machine, in the place of the former."""
    path = root / spread.machine / FILE
    write(spread, path)
    return path
