"""Claims as data: what is claimed about variants, the sentence that says it, and whether results support it.

Nothing here prints, stores or raises because a claim fails: `decide` takes a claim and results and gives a
verdict, so one claim can be checked against any number of results.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpuguide.errors import ArgumentError, unknown
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.records import ClaimResult, Measurement
from gpuguide.results.results import InRun, Results
from gpuguide.results.starts import Quantity, starts_words
from gpuguide.results.units import format_quantity, format_size

__all__ = ["Claim", "Faster", "Figure", "ReachesShare", "Verdict", "decide"]


@dataclass(frozen=True)
class Figure:
    """One figure behind a claim, over the machine starts."""

    name: str
    found: Quantity

    def __str__(self) -> str:
        return f"{self.name}: {self.found} ({self.found.interval or starts_words(self.found.n_starts)})"


@dataclass(frozen=True)
class Faster:
    """One variant takes less time than others at one size."""

    variant: str
    than: tuple[str, ...]
    at: int
    by: float = 1
    clock: str | None = None

    def __post_init__(self) -> None:
        # With a factor below 1, a claim could hold for the slower variant as well.
        if not _is_number(self.by) or self.by < 1:
            raise ArgumentError(
                f"claim: by is the least factor, a number of at least 1; got {self.by!r}. "
                "Name the slower variant in faster_than."
            )
        if not self.than or len({self.variant, *self.than}) <= len(self.than):
            raise ArgumentError(
                f"claim: expected other variants than {self.variant!r}, each once; got {list(self.than)}."
            )

    @property
    def variants(self) -> tuple[str, ...]:
        """All variants that it names."""
        return self.variant, *self.than

    def sentence(self, results: Results) -> str:
        """Say it in words; if the clocks differ, both are named."""
        verb = "is faster than" if self.by == 1 else f"is at least {self.by:g} times as fast as"
        others = _listed(_called(results, name, threads=True) for name in self.than)
        own, *rest = (_clock(self, results, name) for name in self.variants)
        against = "" if set(rest) == {own} else f" against {_listed(map(_time, dict.fromkeys(rest)))}"
        called = _called(results, self.variant, threads=True)
        return f"{called} {verb} {others} {_at(self, results)} ({_time(own)}{against})"

    def figures(self, results: Results) -> tuple[Figure, ...]:
        """Return its speed-up over each of the others, over the starts."""
        return tuple(
            Figure(
                f"speedup over {_called(results, name)}",
                results.speedup(self.variant, name, self.at, self.clock),
            )
            for name in self.than
        )

    def in_run(self, run: Results) -> tuple[InRun, ...]:
        """Return the same as a single run measured it."""
        return tuple(run.by_run(self.variant, self.at, "speedup", name, self.clock)[-1] for name in self.than)

    def holds(self, figures: Iterable[InRun]) -> bool:
        """Tell whether each ratio of a run, down to the lower quartile of its rounds, is above the factor."""
        return all(figure.low > self.by for figure in figures)


@dataclass(frozen=True)
class ReachesShare:
    """A kernel reaches a share of the ceiling that memory sets for its own mix of reads and writes."""

    variant: str
    at: int
    at_least: float

    # Without an annotation it is not a field, so nobody can ask for a share on another clock.
    clock = "device"

    def __post_init__(self) -> None:
        if not _is_number(self.at_least) or not 0 < self.at_least <= 1:
            raise ArgumentError(
                f"claim: a share is a number above 0 and at most 1, 0.95 for 95 %; got {self.at_least!r}."
            )

    @property
    def variants(self) -> tuple[str, ...]:
        """The variant that it names."""
        return (self.variant,)

    def sentence(self, results: Results) -> str:
        """Say it in words."""
        share = f"reaches at least {100 * self.at_least:g} % of its ceiling"
        return f"{_called(results, self.variant)} {share} {_at(self, results)} ({_time(self.clock)})"

    def figures(self, results: Results) -> tuple[Figure, ...]:
        """Give the share, over the starts."""
        found = results.quantity(self.variant, self.at, "share")
        return (Figure(f"{_called(results, self.variant)}, share of its ceiling", found),)

    def in_run(self, run: Results) -> tuple[InRun, ...]:
        """Return the share that a single run measured."""
        return (run.by_run(self.variant, self.at, "share")[-1],)

    def holds(self, figures: Iterable[InRun]) -> bool:
        """Tell whether the share of a run, down to the lower quartile of its samples, is large enough."""
        return all(figure.low >= self.at_least for figure in figures)


Claim = Faster | ReachesShare
"""What a page can claim."""


@dataclass(frozen=True)
class Verdict:
    """What results say about a claim."""

    result: ClaimResult
    figures: tuple[Figure, ...] = ()
    why: str = ""


def decide(claim: Claim, results: Results) -> Verdict:
    """Ask results whether a claim holds in every run.

    In a run it must hold for the middle half of what was measured there: down to the lower quartile of the
    ratios of its rounds, or of the share.
    """
    text = f"{results.title}: {claim.sentence(results)}"
    runs = results.runs
    lacks = [(number, why) for number, run in enumerate(runs, start=1) if (why := _lacks(claim, run))]
    if lacks:
        if len(lacks) == len(runs):
            return Verdict(ClaimResult(text, None), why=lacks[-1][1])
        return Verdict(ClaimResult(text, None), why="; ".join(f"in run {n}, {why}" for n, why in lacks))
    in_runs = [claim.in_run(run) for run in runs]
    held = [claim.holds(measured) for measured in in_runs]
    holds = held[0] if len(set(held)) == 1 else None
    # Among several others, the one nearest to the factor decides, in any of the runs.
    least = min(zip(*in_runs, strict=True), key=lambda same: min(run.low for run in same))
    low, high = min(run.low for run in least), max(run.high for run in least)
    figures = claim.figures(results)
    unit = figures[0].found.unit
    why = _mixed(held, in_runs, unit) if holds is None else ""
    # A share does not compare two variants, so there is nothing to exchange.
    swapped = _swapped(claim, results) if holds and isinstance(claim, Faster) else None
    times = (_time_figure(claim, results, name) for name in claim.variants)
    return Verdict(ClaimResult(text, holds, low, high, unit, swapped), (*figures, *times), why)


def _mixed(held: Sequence[bool], in_runs: Sequence[Sequence[InRun]], unit: str) -> str:
    """Name the runs in which a claim fails although it holds in others."""
    failed = [
        f"run {number} ({', '.join(format_quantity(each.low, unit) for each in measured)})"
        for number, (held_here, measured) in enumerate(zip(held, in_runs, strict=True), start=1)
        if not held_here
    ]
    return f"it holds in {sum(held)} of {len(held)} runs, not in {_listed(failed)}"


def _swapped(claim: Faster, results: Results) -> bool:
    """Tell whether it would hold even with another variant's samples, which it must not."""
    swaps = (results.swap_samples(claim.variant, name) for name in claim.than)
    return any(claim.holds(claim.in_run(run)) for each in swaps for run in each.runs)


def _lacks(claim: Claim, results: Results) -> str:
    """Say what these results lack; raise if no run of the study could have it."""
    if claim.at not in results.sizes:
        if results.quick:  # a preview runs only the smallest sizes
            return f"this quick run has no size {format_size(claim.at)}"
        raise unknown("size", claim.at, results.sizes)
    for name in claim.variants:
        cell = _cell(claim, results, name)
        if cell.n:
            continue
        measured = [m.clock for m in results.measurements if (m.variant, m.size) == (name, claim.at) and m.n]
        if measured:
            raise ArgumentError(
                f"claim: {name!r} at {format_size(claim.at)} was not measured on the clock {cell.clock!r}; "
                f"it was measured on {_listed(map(repr, measured))}."
            )
        return f"{name!r} was not measured at {format_size(claim.at)} ({cell.reason})"
    if isinstance(claim, ReachesShare) and results.share(claim.variant, claim.at) is None:
        reason = (results.ceilings or Ceilings()).lack(
            _cell(claim, results, claim.variant), "share", results.l2_bytes
        )
        return f"{claim.variant!r} at {format_size(claim.at)} has no share of a ceiling: {reason}"
    return ""


def _cell(claim: Claim, results: Results, name: str) -> Measurement:
    return results.measurement(name, claim.at, claim.clock)


def _clock(claim: Claim, results: Results, name: str) -> str:
    return claim.clock or results.variant(name).clock


def _time_figure(claim: Claim, results: Results, name: str) -> Figure:
    clock = _clock(claim, results, name)
    return Figure(f"{_called(results, name)}, {_time(clock)}", results.time(name, claim.at, clock))


def _called(results: Results, name: str, *, threads: bool = False) -> str:
    """Name a variant by its label, in quotation marks unless it is a proper name: NumPy, cuda.grid."""
    info = results.variant(name)
    label = info.label or name
    # "grid" could be read as a word of the sentence and needs quotation marks; "NumPy" does not.
    plain = label.isalpha() and label in (label.lower(), label.upper())
    called = f"“{label}”" if plain or " " in label else label
    if not threads or info.threads is None:
        return called
    count = f"{info.threads} thread{'' if info.threads == 1 else 's'}"
    # "NumPy, one thread" has said it; "NumPy, all threads" has not said how many there are.
    said = (count, "one thread") if info.threads == 1 else (count,)
    return called if any(words in label for words in said) else f"{called} on {count}"


def _at(claim: Claim, results: Results) -> str:
    size, name = format_size(claim.at), results.size_name
    # "2^24 elements" and "10^6 pairs of points", but "upper end 10^4".
    is_count = any(word.endswith("s") for word in name.split())
    return f"at {size} {name}" if is_count else f"at {name} {size}"


def _time(clock: str) -> str:
    return f"{clock.replace('_', '-')} time"


def _listed(words: Iterable[str]) -> str:
    """Write words as a list: "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
