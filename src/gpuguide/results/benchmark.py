"""The result of `gpuguide.benchmark` for a reader's call, and how it is shown."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cached_property

from gpuguide.results.statistics import quartiles
from gpuguide.results.units import format_ends, format_quantity

__all__ = ["Benchmark", "Timing"]

_WIDTH = 100
_HEADS = ("", "median", "middle half", "floor", "samples")
_METHODS = {"graph": " in a graph", "batch": " behind one delay"}


@dataclass(frozen=True)
class Timing:
    """Samples of a call by one clock."""

    samples_ns: tuple[int, ...]
    n_calls: int = 1
    method: str = "host"
    floor_s: float = 0.0
    host_bound: bool = False

    @cached_property
    def quartiles_s(self) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile, in seconds per call."""
        low, middle, high = quartiles(self.samples_ns)
        scale = 1e9 * self.n_calls
        return low / scale, middle / scale, high / scale

    @property
    def median_s(self) -> float:
        """Median time of a call in seconds."""
        return self.quartiles_s[1]

    def _cells(self) -> tuple[str, ...]:
        low, median, high = self.quartiles_s
        first, last = format_ends(median, "s", low, high)
        calls = "1 call" if self.n_calls == 1 else f"{self.n_calls} calls{_METHODS.get(self.method, '')}"
        return (
            format_quantity(median, "s", low, high),
            first if first == last else f"{first} to {last}",
            format_quantity(self.floor_s, "s"),
            f"{len(self.samples_ns)} of {calls}",
        )


@dataclass(frozen=True, repr=False)
class Benchmark:
    """How long a call takes, by each clock that applies; `gpuguide.benchmark` makes it."""

    name: str
    where: str
    launch: Timing | None = None
    device: Timing | None = None
    end_to_end: Timing | None = None
    host: Timing | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        clocks = {name: getattr(self, name) for name in ("launch", "device", "end_to_end", "host")}
        rows = [(name.replace("_", " "), *clock._cells()) for name, clock in clocks.items() if clock]
        empty = "an empty function" if self.host else "an empty kernel"
        notes = (f"Floor: {empty} by the same clock.", *self.notes)
        wrapped = [textwrap.fill(note, _WIDTH, subsequent_indent="  ") for note in notes]
        return "\n".join([f"{self.name} on {self.where}", *_aligned([_HEADS, *rows]), *wrapped])


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
