"""``again.json`` beside a machine's pages: how later starts of the machine kept to the printed ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from gpuguide.recordings.plain import label, loads, write
from gpuguide.results.records import CLOCKS
from gpuguide.results.tables import Column, Row, Table
from gpuguide.results.units import REGIONS

__all__ = ["FILE", "FreshStart", "keep", "read_fresh_starts", "table"]

FILE = "again.json"


@dataclass(frozen=True)
class FreshStart:
    """A start of the machine whose medians were compared with the ranges of the recordings before it."""

    start: str
    day: str
    recorded_on: tuple[str, ...]
    pages: tuple[str, ...]
    inside: dict[str, tuple[int, int]]

    def share(self, clock: str) -> float | None:
        """Return the share of a clock's medians inside their ranges; None where none was compared."""
        n_inside, n = self.inside.get(clock, (0, 0))
        return n_inside / n if n else None

    @property
    def worst(self) -> float:
        """The smallest share of all clocks."""
        shares = map(self.share, self.inside)
        return min((share for share in shares if share is not None), default=1.0)


@dataclass(frozen=True)
class _File:
    machine: str
    starts: tuple[FreshStart, ...] = ()


def read_fresh_starts(folder: Path) -> tuple[FreshStart, ...]:
    """Read what later starts of a machine came to, from its folder of recordings; the worst first."""
    path = folder / FILE
    if not path.exists():
        return ()
    found = loads(_File, path.read_bytes(), label(path)).starts
    return tuple(sorted(found, key=lambda each: each.worst))


def keep(new: FreshStart, folder: Path) -> None:
    """Add what a start came to, on other pages than are kept of it."""
    kept = {each.start: each for each in read_fresh_starts(folder)}
    kept[new.start] = _together(kept[new.start], new) if new.start in kept else new
    ordered = sorted(kept.values(), key=lambda each: (each.day, each.start))
    write(_File(folder.name, tuple(ordered)), folder / FILE)


def _together(one: FreshStart, other: FreshStart) -> FreshStart:
    inside = {}
    for clock in dict.fromkeys((*one.inside, *other.inside)):
        (a, n), (b, m) = one.inside.get(clock, (0, 0)), other.inside.get(clock, (0, 0))
        inside[clock] = (a + b, n + m)
    days = sorted({*one.recorded_on, *other.recorded_on})
    return FreshStart(one.start, one.day, tuple(days), (*one.pages, *other.pages), inside)


def table(starts: Sequence[FreshStart]) -> Table:
    """Lay out starts as a table, the worst first, and in its last row the mean over them."""
    columns = tuple(Column(clock, REGIONS[clock].column, numeric=True) for clock in CLOCKS)
    rows = [
        Row(each.day, f"{' and '.join(each.recorded_on)}, {len(each.pages)} pages", _cells(each.share))
        for each in starts
    ]

    def mean(clock: str) -> float | None:
        shares = [share for each in starts if (share := each.share(clock)) is not None]
        return fmean(shares) if shares else None

    rows += [Row("all", "the mean over these starts", _cells(mean))] if len(starts) > 1 else []
    caption = "Medians of later starts of the machine inside the ranges printed before"
    return Table(caption, "start of", "ranges recorded on", columns, tuple(rows))


def _cells(share: Callable[[str], float | None]) -> dict[str, str]:
    shares = ((clock, share(clock)) for clock in CLOCKS)
    return {clock: f"{value:.0%}" for clock, value in shares if value is not None}
