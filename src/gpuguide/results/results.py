"""What a study measured, as immutable data, with methods that query it, and its table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from gpuguide.errors import ArgumentError, unknown
from gpuguide.results.ceilings import Ceilings, in_l2
from gpuguide.results.records import (
    CLOCKS,
    CheckResult,
    Measurement,
    VariantInfo,
    Work,
    check_fields,
    one_of,
    refuse_twice,
)
from gpuguide.results.starts import Quantity, expected, starts_words
from gpuguide.results.statistics import quartiles
from gpuguide.results.tables import Column, Row, Table
from gpuguide.results.units import REGIONS, format_quantity, format_size

__all__ = [
    "HOST_BOUND",
    "QUANTITIES",
    "WORK_QUANTITIES",
    "Crossover",
    "InRun",
    "Results",
    "Series",
    "checks_sentence",
    "clocks_of_ratio",
    "sizes_left_out",
    "with_region",
]


QUANTITIES = {
    "time": "s",
    "launch": "s",
    "rate": "B/s",
    "flop_rate": "FLOP/s",
    "share": "share",
    "flop_share": "share",
    "speedup": "ratio",
    "work": "count",
    "gain": "ratio",
}
"""The quantities that can be asked for by name, each with its unit."""

WORK_QUANTITIES = {"work": "count", "gain": "ratio", "rate": "1/s", "share": "share"}
"""The quantities of a variant's declared work, each with its unit; the first two only with a named work."""

HOST_BOUND = "host-bound"
"""The remark on a cell whose samples include host time, because the host could not keep the queue filled."""


class InRun(NamedTuple):
    """What one run measured of a quantity, and how it spread inside that run."""

    start: str
    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Crossover:
    """The two measured sizes between which one variant overtakes another."""

    slower_at: int
    faster_at: int

    def __str__(self) -> str:
        return f"between {format_size(self.slower_at)} and {format_size(self.faster_at)}"


class Series(NamedTuple):
    """The times of one variant over the sizes at which it was measured."""

    sizes: tuple[int, ...]
    medians_s: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Results:
    """All that a study measured and checked: its newest run, and what is kept of the former ones.

    Nothing derived is stored: every answer is computed on request, from the samples of all runs. A value is
    the median over the machine starts, with the range in which another start's median is expected
    (`gpuguide.results.starts`). Cells, and what `measurement` returns, are those of the newest run.

    Parameters
    ----------
    name, title : str
        The study's short name and its heading.
    size_name : str
        What the sizes count: ``"elements"``.
    dtype, input_note, tolerance_note : str
        Type of the data, what it looked like, and the difference from the reference that was allowed.
    cache : str
        ``"warm"`` or ``"cold"``.
    variants : tuple of VariantInfo
        In the study's order.
    sizes : tuple of int
        In the study's order.
    measurements : tuple of Measurement
        At most one for each variant, size and clock.
    checks : tuple of CheckResult
        How far each result lay from the reference.
    ceilings : Ceilings or None
        What the machine can do, if the session measured it.
    l2_bytes : int or None
        Size of the L2 cache.
    warnings : tuple of str
        What a reader must know about the run.
    quick : bool
        Whether the run was a short one, not to be published.
    start : str
        The start of the machine on which the run was made, as its provenance names it.
    others : tuple of Results
        The same study in the former runs of its recording, oldest first, without runs of their own.
    deviations : tuple of tuple of str and float
        By how much the machine's starts differ where the host decides, by clock, as its recordings have it.

    Raises
    ------
    ArgumentError
        If a name, size or measurement occurs twice, or a measurement belongs to no variant or size of the
        study.

    Examples
    --------
    >>> results = Results(
    ...     name="add", title="Add one", size_name="elements", dtype="float32",
    ...     variants=(VariantInfo("one", "One per thread"), VariantInfo("four", "Four per thread")),
    ...     sizes=(1000,),
    ...     measurements=(Measurement("one", 1000, "device", (6000, 6200), (0, 1)),
    ...                   Measurement("four", 1000, "device", (3000, 3000), (0, 1))),
    ... )
    >>> round(results.speedup("four", "one", 1000).value, 2)
    2.03
    >>> print(results)
    Add one (float32, warm cache, one machine start)
    elements  variant          median  spread (IQR)  n  method
    10^3      One per thread   6.1 µs        100 ns  2  events
              Four per thread  3.0 µs           0 s  2  events
    """

    name: str
    title: str
    size_name: str
    dtype: str
    input_note: str = ""
    tolerance_note: str = ""
    cache: str = dataclasses.field(default="warm", metadata=one_of("warm", "cold"))
    variants: tuple[VariantInfo, ...] = ()
    sizes: tuple[int, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    ceilings: Ceilings | None = None
    l2_bytes: int | None = None
    warnings: tuple[str, ...] = ()
    quick: bool = False
    start: str = ""
    others: tuple[Results, ...] = ()
    deviations: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        owner = f"Results of {self.name!r}"
        refuse_twice(owner, "variant", [info.name for info in self.variants])
        refuse_twice(owner, "size", self.sizes)
        refuse_twice(owner, "measurement", [(m.variant, m.size, m.clock) for m in self.measurements])
        used = [
            *((m.variant, m.size) for m in self.measurements),
            *((c.variant, c.size) for c in self.checks),
        ]
        for name, size in used:
            if name not in self._infos or size not in self._known_sizes:
                raise ArgumentError(f"{owner}: the study has no variant {name!r} at {size}.")

    # Cached, because it is needed for every cell. It maps the newest run; former runs have their own.
    @cached_property
    def _cells(self) -> dict[tuple[str, int, str], Measurement]:
        return {(cell.variant, cell.size, cell.clock): cell for cell in self.measurements}

    @cached_property
    def _infos(self) -> dict[str, VariantInfo]:
        return {info.name: info for info in self.variants}

    @cached_property
    def _known_sizes(self) -> frozenset[int]:
        return frozenset(self.sizes)

    def __repr__(self) -> str:
        n_variants, n_sizes = len(self.variants), len(self.sizes)
        counted = f"{_n(n_variants, 'variant')}, {_n(n_sizes, 'size')}, {self.dtype}"
        counted += f", {starts_words(self.n_starts)}"
        return f"<Results of {self.name!r}: {counted}>"

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()

    @cached_property
    def runs(self) -> tuple[Results, ...]:
        """Each run by itself, oldest first; this one is the last."""
        # Without the others, or a question to one run would be answered for all of them again.
        return (*self.others, dataclasses.replace(self, others=()) if self.others else self)

    @property
    def n_starts(self) -> int:
        """Machine starts on which the study ran."""
        return len({run.start for run in self.runs})

    def variant(self, name: str) -> VariantInfo:
        """Return the description of a variant; raises UnknownNameError, with the nearest names."""
        try:
            return self._infos[name]
        except KeyError:
            raise unknown("variant", name, list(self._infos)) from None

    def measurement(self, variant: str, size: int, clock: str | None = None) -> Measurement:
        """Return one cell of the newest run, with its samples; `time` speaks for all runs.

        Parameters
        ----------
        variant : str
            Name of the variant.
        size : int
            One of the study's sizes.
        clock : str, optional
            The region; by default the variant's own.

        Returns
        -------
        Measurement
            Without samples and with a reason where nothing was measured.

        Raises
        ------
        UnknownNameError
            If there is no such variant, size or clock; the message names the nearest.
        """
        cell = self._cell(variant, size, clock)
        if cell is not None:
            return cell
        clock = self.variant(variant).clock if clock is None else clock
        return Measurement(variant, size, clock, reason=f"this run has no {REGIONS[clock].column} time")

    def _cell(self, variant: str, size: int, clock: str | None) -> Measurement | None:
        """Return one cell of the newest run, None if it has none; raise for an unknown name."""
        clock = self.variant(variant).clock if clock is None else clock
        cell = self._cells.get((variant, size, clock))
        # Checked only if there is no cell, because this is called for every cell.
        if cell is None:
            self.variant(variant)
            if size not in self._known_sizes:
                raise unknown("size", size, self.sizes)
            if clock not in CLOCKS:
                raise unknown("clock", clock, CLOCKS)
        return cell

    def by_run(
        self,
        variant: str,
        size: int,
        quantity: str = "time",
        baseline: str | None = None,
        clock: str | None = None,
        work: str | None = None,
    ) -> tuple[InRun, ...]:
        """Return what each run measured of a quantity, oldest first.

        Parameters
        ----------
        variant, size, quantity, baseline
            As for `quantity`.
        clock : str, optional
            For a time or a ratio, the region; by default the variant's own.
        work : str, optional
            As for `quantity`.

        Returns
        -------
        tuple of InRun
            One for each run that has it, and at least one.

        Raises
        ------
        UnknownNameError, ArgumentError
            As `quantity` does; if no run has it, with the newest run's reason.
        """
        if quantity not in QUANTITIES:
            raise unknown("quantity", quantity, QUANTITIES)
        if (baseline is not None) != (quantity == "speedup"):
            wants = "a baseline" if baseline is None else "no baseline"
            raise ArgumentError(f"Quantity {quantity!r} takes {wants}; got {baseline!r}.")
        if work is not None or quantity in ("work", "gain"):
            return self._of_work(variant, size, quantity, work)
        found = self._answers(variant, size, quantity, baseline, clock)
        if not found:
            raise ArgumentError(self._why_not(variant, size, quantity, baseline, clock))
        return found

    def quantity(
        self,
        variant: str,
        size: int,
        quantity: str,
        baseline: str | None = None,
        clock: str | None = None,
        work: str | None = None,
    ) -> Quantity:
        """Return one quantity over all runs, by name: its median over the starts and its range.

        Parameters
        ----------
        variant : str
            Name of the variant.
        size : int
            One of the study's sizes.
        quantity : str
            ``"time"``, ``"launch"``, ``"rate"``, ``"flop_rate"``, ``"share"``, ``"flop_share"`` or
            ``"speedup"``; of declared work ``"work"``, ``"gain"``, ``"rate"`` or ``"share"``.
        baseline : str, optional
            The variant that a speed-up is taken over; given for a speed-up and nothing else.
        clock : str, optional
            For a time or a ratio, the region; by default the variant's own.
        work : str, optional
            Name of a work that the variant declares, to get its count, the gain (the count of the variant
            above divided by this count), its rate per second, or the share of its declared ceiling. The
            variant above is the nearest earlier one in the study, on the same clock, that declares the same
            work.

        Returns
        -------
        Quantity
            In base units. Ratios are taken inside each run, and each run is compared with its own ceilings.

        Raises
        ------
        UnknownNameError
            If there is no such variant, size or quantity; the message names the nearest.
        ArgumentError
            If no run has samples of the cell, or it has no such quantity (the message says why), or a
            baseline is missing or superfluous.
        """
        found = self.by_run(variant, size, quantity, baseline, clock, work)
        if work is None:
            clock = "launch" if quantity == "launch" else clock or self.variant(variant).clock
            if baseline is None:
                return _over(found, quantity, deviation=self._deviation(clock))
            both = clocks_of_ratio(clock, self.variant(baseline).clock)
            return _over(found, quantity, self._ratio_of(variant, baseline), deviation=self._deviation(both))
        if quantity in ("work", "gain"):
            sides = (self.variant_above(variant, size, work), variant) if quantity == "gain" else ()
            ratio_of = " / ".join(self.variant(name).label for name in sides)
            return Quantity.counted(found[-1].value, WORK_QUANTITIES[quantity], ratio_of)
        deviation = self._deviation(self.variant(variant).clock)
        return _over(found, quantity, unit=WORK_QUANTITIES[quantity], deviation=deviation)

    def _deviation(self, clock: str) -> float:
        return dict(self.deviations).get(clock, 0.0)

    def declared_work(self, variant: str, size: int) -> tuple[Work, ...]:
        """Return the work that a variant declares at a size; empty if it declares none or never ran."""
        cells = (run._cell(variant, size, None) for run in reversed(self.runs))
        return next((cell.work for cell in cells if cell and cell.work), ())

    def variant_above(self, variant: str, size: int, work: str) -> str:
        """Return the nearest earlier variant on the same clock that declares the same work; else ``""``."""
        above = ""
        for info in self.variants:
            if info.name == variant:
                break
            same_clock = info.clock == self.variant(variant).clock
            if same_clock and any(each.name == work for each in self.declared_work(info.name, size)):
                above = info.name
        return above

    def time(self, variant: str, size: int, clock: str | None = None) -> Quantity:
        """Return the time of a call over all runs, in seconds: see `quantity`."""
        return self.quantity(variant, size, "time", clock=clock)

    def speedup(self, candidate: str, baseline: str, size: int, clock: str | None = None) -> Quantity:
        """Return the speed-up of one variant over another, over all runs.

        Parameters
        ----------
        candidate, baseline : str
            Names of the variants.
        size : int
            One of the study's sizes.
        clock : str, optional
            The region that both times cover; by default each variant's own.

        Returns
        -------
        Quantity
            Baseline time over candidate time. In each run it is the median of the ratios of its rounds, so
            that a drift of the machine cancels, if both are times of the GPU; else, and without three common
            rounds, it is the ratio of the medians.

        Raises
        ------
        ArgumentError
            If no run measured both at this size; the message holds the reason.
        """
        return self.quantity(candidate, size, "speedup", baseline, clock)

    def rate(self, variant: str, size: int) -> Quantity | None:
        """Return the bytes that a variant moves per second; None without samples or a traffic model."""
        return self._maybe(variant, size, "rate")

    def share(self, variant: str, size: int) -> Quantity | None:
        """Return the share that a variant reaches of the ceiling for its own mix: see `Ceilings.share`."""
        return self._maybe(variant, size, "share")

    def series(self, variant: str, clock: str | None = None) -> Series:
        """Return the sizes at which a variant has samples, and its times in seconds.

        Parameters
        ----------
        variant, clock : str
            As for `time`.

        Returns
        -------
        Series
            Two tuples of the same length, ``sizes`` and ``medians_s``.
        """
        self.variant(variant)  # for its error: a study without sizes has no cell that would raise it
        times = {
            size: self.time(variant, size, clock).value
            for size in self.sizes
            if any(run.has(variant, size, clock) for run in self.runs)
        }
        return Series(tuple(times), tuple(times.values()))

    def has(self, variant: str, size: int, clock: str | None = None) -> bool:
        """Tell whether the newest run has samples of a cell."""
        cell = self._cell(variant, size, clock)
        return cell is not None and cell.n > 0

    def crossover(self, a: str, b: str) -> Crossover | None:
        """Return the bracket of two measured sizes between which ``b`` overtakes ``a`` for good.

        Parameters
        ----------
        a, b : str
            Names of the variants, compared by their medians over the starts.

        Returns
        -------
        Crossover or None
            None where ``b`` is not faster at the largest size, or was never slower. Sizes at which
            one of them has no samples are left out.
        """
        first, second = (dict(zip(*self.series(name), strict=True)) for name in (a, b))
        sizes = sorted(first.keys() & second.keys())
        # A tie counts as neither: `b` does not lead there, and is not slower there.
        not_faster = [i for i, size in enumerate(sizes) if second[size] >= first[size]]
        slower = [size for size in sizes if second[size] > first[size]]
        if not slower or not_faster[-1] == len(sizes) - 1:
            return None
        return Crossover(slower_at=slower[-1], faster_at=sizes[not_faster[-1] + 1])

    def table(self, sizes: Sequence[int] | None = None) -> Table:
        """Return what was measured as a table with ``text()``, ``html()`` and ``csv()``.

        Parameters
        ----------
        sizes : sequence of int, optional
            Only these sizes.

        Returns
        -------
        Table
            One row for each variant, size and region; launch times have a column of their own.

        Raises
        ------
        UnknownNameError
            If a size is none of the study's.
        """
        wanted = self.sizes if sizes is None else tuple(sizes)
        for size in wanted:
            if size not in self._known_sizes:
                raise unknown("size", size, self.sizes)
        regions: dict[tuple[int, str], list[str]] = {}
        for cell in self.measurements:
            if cell.clock != "launch":
                regions.setdefault((cell.size, cell.variant), []).append(cell.clock)
        rows = [
            self._row(info, size, clock)
            for size in wanted
            for info in self.variants
            for clock in regions.get((size, info.name), ())
        ]
        starts = starts_words(self.n_starts)
        caption = f"{self.title} ({self.dtype}, {self.cache} cache{', quick run' * self.quick}, {starts})"
        # The region is worth a column only if there are several.
        columns = COLUMNS if len({str(row.raw["clock"]) for row in rows}) > 1 else COLUMNS[1:]
        notes = self.warnings
        if any(row.cells.get("range") for row in rows):
            notes = (*notes, RANGE_NOTE)
        return Table(caption, self.size_name, "variant", columns, tuple(rows), notes)

    def remarks(self, variant: str, size: int, clock: str | None = None) -> tuple[str, ...]:
        """Return the remarks that belong beside a time: spans, two modes, a shared host, different methods.

        Parameters
        ----------
        variant, size, clock
            As for `time`.

        Returns
        -------
        tuple of str
            With the number of runs, if it does not hold in all of them.
        """
        cells = [run.measurement(variant, size, clock) for run in self.runs]
        cells = [cell for cell in cells if cell.n]
        said = [[*([HOST_BOUND] * cell.host_bound), *cell.notes] for cell in cells]
        methods = [cell.method for cell in cells]
        if len(set(methods)) > 1:
            counted = (f"{methods.count(name)} by {name}" for name in dict.fromkeys(methods))
            unlike = [f"timed in different ways: of {len(cells)} runs {', '.join(counted)}"]
        else:
            unlike = []
        # The newest run's remarks come first, each once.
        words = dict.fromkeys(word for each in reversed(said) for word in each)
        return (*(_in_runs(word, sum(word in each for each in said), len(cells)) for word in words), *unlike)

    def checks_line(self) -> str:
        """Say in one sentence how the variants compared with the reference before they were timed."""
        return checks_sentence(self.checks, len(self.variants))

    def swap_samples(self, a: str, b: str) -> Results:
        """Return results in which two variants have swapped samples, in every run: each claim must flip.

        Parameters
        ----------
        a, b : str
            Names of the variants. The samples of their own clocks and of their launches are swapped; sizes
            and clocks at which only one of them was measured stay as they are.

        Returns
        -------
        Results
            A copy.
        """
        pairs = ((self.variant(a).clock, self.variant(b).clock), ("launch", "launch"))
        swapped = {}
        for size, (clock_a, clock_b) in product(self.sizes, pairs):
            first, second = self.measurement(a, size, clock_a), self.measurement(b, size, clock_b)
            if first.n and second.n:
                swapped[a, size, clock_a] = first.with_samples_of(second)
                swapped[b, size, clock_b] = second.with_samples_of(first)
        cells = tuple(swapped.get((m.variant, m.size, m.clock), m) for m in self.measurements)
        others = tuple(run.swap_samples(a, b) for run in self.others)
        return dataclasses.replace(self, measurements=cells, others=others)

    def _answers(
        self, variant: str, size: int, quantity: str, baseline: str | None = None, clock: str | None = None
    ) -> tuple[InRun, ...]:
        """Return what each run measured of a quantity; a run without it is left out."""
        answers = (run._in_this_run(variant, size, quantity, baseline, clock) for run in self.runs)
        return tuple(answer for answer in answers if answer is not None)

    def _of_work(self, variant: str, size: int, quantity: str, name: str | None) -> tuple[InRun, ...]:
        """Return a quantity of declared work in each run."""
        declared = {work.name: work for work in self.declared_work(variant, size)}
        where = f"{variant!r} at {format_size(size)}"
        if quantity not in WORK_QUANTITIES or name is None:
            wants = "takes no work" if name else "takes the name of a work, such as 'warp_steps'"
            raise ArgumentError(f"Quantity {quantity!r} {wants}; got {name!r}.")
        if not declared:
            raise ArgumentError(f"{where} declares no work. Give its variant work={{{name!r}: count}}.")
        if name not in declared:
            raise unknown("work", name, declared)
        work = declared[name]
        if quantity == "share" and work.ceiling is None:
            raise ArgumentError(f"{where} has no share: its work {name!r} declares no ceiling.")
        if quantity in ("work", "gain"):
            value = float(work.count)
            if quantity == "gain":
                value = self._gain(variant, size, work)
            return (InRun(self.start, value, value, value, 0),)
        most = 1.0 if quantity == "share" else math.inf
        # Both grow with the rate, and a longer time is a lower rate.
        scale = work.count / (work.ceiling or 1.0) if quantity == "share" else float(work.count)

        def per_second(time: float) -> float:
            return min(most, scale / time)

        return tuple(
            InRun(run.start, per_second(run.value), per_second(run.high), per_second(run.low), run.n)
            for run in self.by_run(variant, size)
        )

    def _gain(self, variant: str, size: int, work: Work) -> float:
        above = self.variant_above(variant, size, work.name)
        where = f"{variant!r} at {format_size(size)} has no gain"
        if not above:
            raise ArgumentError(f"{where}: no variant above it on its clock counts {work.name!r} there.")
        if not work.count:
            raise ArgumentError(f"{where}: it does none of {work.name!r}.")
        counts = {each.name: each.count for each in self.declared_work(above, size)}
        return counts[work.name] / work.count

    def _maybe(self, variant: str, size: int, quantity: str, clock: str | None = None) -> Quantity | None:
        """Return a quantity, or None if no run has it."""
        found = self._answers(variant, size, quantity, None, clock)
        return (
            _over(found, quantity, deviation=self._deviation(clock or self.variant(variant).clock))
            if found
            else None
        )

    def _in_this_run(
        self,
        variant: str,
        size: int,
        quantity: str,
        baseline: str | None = None,
        clock: str | None = None,
    ) -> InRun | None:
        """Return what this run alone measured of a quantity, or None."""
        cell = self._cell(variant, size, "launch" if quantity == "launch" else clock)
        if baseline is not None:
            base = self._cell(baseline, size, clock)
            return _ratio(self.start, base, cell) if base and base.n and cell and cell.n else None
        if cell is None or not cell.n:
            return None
        low, median, high = cell.quartiles_s
        if quantity in ("time", "launch"):
            return InRun(self.start, median, low, high, cell.n)
        value = self._derived(cell, quantity)
        if value is None:
            return None
        # A longer time is a lower rate, and a share stays at most 1.
        most = 1.0 if QUANTITIES[quantity] == "share" else math.inf
        least, largest = (min(most, value * median / time) if time else value for time in (high, low))
        return InRun(self.start, value, least, largest, cell.n)

    def _derived(self, cell: Measurement, quantity: str) -> float | None:
        """Return a rate or a share of a cell of this run, None where it has none."""
        if quantity == "rate":
            return cell.bandwidth
        if quantity == "flop_rate":
            return cell.flop_rate
        if self.ceilings is None:
            return None
        return (
            self.ceilings.share(cell, self.l2_bytes)
            if quantity == "share"
            else self.ceilings.flop_share(cell)
        )

    def _why_not(
        self, variant: str, size: int, quantity: str, baseline: str | None, clock: str | None
    ) -> str:
        """Say why the newest run has no such quantity."""
        if quantity == "launch":
            clock = "launch"
        cells = [self.measurement(name, size, clock) for name in (baseline, variant) if name is not None]
        for cell in cells:
            if not cell.n:
                return f"{cell.variant!r} at {format_size(size)} has no samples: {cell.reason}."
        if baseline is not None:
            return f"No run measured both {baseline!r} and {variant!r} at {format_size(size)}."
        why = (self.ceilings or Ceilings()).lack(cells[-1], quantity, self.l2_bytes)
        return f"{variant!r} at {format_size(size)} has no {quantity}: {why}."

    def _row(self, info: VariantInfo, size: int, clock: str) -> Row:
        """Return a row of the table."""
        newest = self.measurement(info.name, size, clock)
        if self.others and not newest.n:
            cells = [run.measurement(info.name, size, clock) for run in self.runs]
            # Skipped in the newest run but measured before: method and traffic are those of that time.
            newest = next((cell for cell in reversed(cells) if cell.n), newest)
        label = info.label or info.name
        moves = newest.traffic is not None
        own = clock == info.clock
        has = {
            "time": self._maybe(info.name, size, "time", clock),
            "launch": self._maybe(info.name, size, "launch"),
            "rate": self._maybe(info.name, size, "rate", clock) if moves else None,
            "flop_rate": self._maybe(info.name, size, "flop_rate", clock) if moves else None,
            # A share is always that of the variant's own clock, so it must not appear in the row of another.
            "share": self._maybe(info.name, size, "share") if moves and own else None,
        }
        remarks = self.remarks(info.name, size, clock)
        works = self.declared_work(info.name, size) if own else ()
        raw = _raw(info, newest, has, remarks, works)
        if has["time"] is None:
            return Row(format_size(size), label, {}, f"not measured ({newest.reason})", raw)
        shown = _shown(info, newest, has, remarks, self.l2_bytes)
        done = (
            f"{format_quantity(work.count, 'count')} {work.noun} at "
            f"{self.quantity(info.name, size, 'rate', work=work.name)}"
            for work in works
        )
        return Row(format_size(size), label, {**shown, "work": "; ".join(done)}, "", raw)

    def _ratio_of(self, candidate: str, baseline: str) -> str:
        """Say which time was divided by which, and what each covers."""
        return " / ".join(with_region(self.variant(name)) for name in (baseline, candidate))


COLUMNS = (
    Column("region", "region"),
    Column("threads", "threads", numeric=True),
    Column("median", "median", numeric=True),
    Column("range", "another start", numeric=True),
    Column("spread", "spread (IQR)", numeric=True),
    Column("n", "n", numeric=True),
    Column("launch", "launch", numeric=True),
    Column("rate", "rate", numeric=True),
    Column("flop_rate", "arithmetic", numeric=True),
    Column("share", "share of ceiling", numeric=True),
    Column("work", "work"),
    Column("method", "method"),
    Column("remarks", "remarks"),
)


RANGE_NOTE = "Another machine start's median is expected in the range given, nine times out of ten."


def _shown(
    info: VariantInfo,
    newest: Measurement,
    has: Mapping[str, Quantity | None],
    remarks: Sequence[str],
    l2_bytes: int | None,
) -> dict[str, str]:
    """Return the cells of a row; where there is no range, the spread inside the newest run stands in."""
    time = has["time"]
    assert time is not None
    return {
        "region": REGIONS[newest.clock].column,
        "threads": str(info.threads) if info.threads else "",
        "median": str(time),
        "range": time.interval,
        "spread": "" if time.has_range else format_quantity(newest.iqr_s, "s"),
        "n": str(time.n),
        "launch": _text(has["launch"]),
        "rate": _text(has["rate"]),
        "flop_rate": _text(has["flop_rate"]),
        "share": _text(has["share"]) or _cache(newest, l2_bytes),
        "method": newest.method,
        "remarks": "; ".join(remarks),
    }


def _n(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _text(quantity: Quantity | None) -> str:
    return "" if quantity is None else str(quantity)


def _cache(measured: Measurement, l2_bytes: int | None) -> str:
    """Say how much of a working set the L2 can hold, if that is why there is no share."""
    if measured.clock != "device" or not in_l2(measured, l2_bytes):
        return ""
    # `in_l2` has checked that both are known.
    assert measured.traffic is not None
    assert l2_bytes is not None
    return "in L2" if measured.traffic.bytes_total <= l2_bytes else "partly in L2"


def _raw(
    info: VariantInfo,
    newest: Measurement,
    has: Mapping[str, Quantity | None],
    remarks: Sequence[str],
    works: Sequence[Work],
) -> dict[str, object]:
    """Return a row of the CSV: values over the starts; method, calls, floor and IQR of the newest run."""
    time = has["time"]
    ends = (time.low, time.high) if time is not None and time.has_range else (None, None)
    values = {name: None if found is None else found.value for name, found in has.items()}
    return {
        "size": newest.size,
        "variant": newest.variant,
        "device": info.device,
        "threads": info.threads,
        "clock": newest.clock,
        "method": newest.method,
        "cache": newest.cache,
        "n_starts": 0 if time is None else time.n_starts,
        "n_runs": 0 if time is None else time.n_runs,
        "n": 0 if time is None else time.n,
        "n_calls": newest.n_calls,
        "median_s": values["time"],
        "low_s": ends[0],
        "high_s": ends[1],
        "iqr_s": newest.iqr_s if newest.n else None,
        "launch_s": values["launch"],
        "floor_s": None if newest.floor_ns is None else newest.floor_ns / 1e9,
        "bytes_per_s": values["rate"],
        "flop_per_s": values["flop_rate"],
        "share": values["share"],
        "work": "; ".join(f"{work.name}={work.count}" for work in works),
        "host_bound": int(any(remark.startswith(HOST_BOUND) for remark in remarks)),
        "reason": newest.reason,
        "notes": "; ".join(remark for remark in remarks if not remark.startswith(HOST_BOUND)),
    }


def clocks_of_ratio(one: str, other: str) -> str:
    """Name the ratio of two times by their clocks, in either order; ``""`` where the host decides neither."""
    return "" if one == other == "device" else "/".join(sorted((one, other)))


def _over(
    found: Sequence[InRun], quantity: str, ratio_of: str = "", unit: str = "", deviation: float = 0.0
) -> Quantity:
    """Return what the runs measured as one quantity over their starts."""
    unit = unit or QUANTITIES[quantity]
    if len(found) == 1:  # a short cut, because tables can have many cells
        (only,) = found
        return Quantity(only.value, only.value, only.value, unit, only.n, ratio_of)
    inside = [(run.low, run.high) for run in found]
    over = expected([(run.start, run.value) for run in found], inside, deviation)
    return Quantity.of(
        over, unit, sum(run.n for run in found), ratio_of, 1.0 if unit == "share" else math.inf
    )


def _ratio(start: str, baseline: Measurement, candidate: Measurement) -> InRun:
    """Return the ratio of two times inside one run, with its quartiles.

    Of two times of the GPU it is the median over the rounds, so that a drift of the machine hits both sides.
    Where the host decides, a round of two samples may hold nothing but a pause of the host (a loop of 8 us
    that took 5 ms in three rounds of twelve), so there it is the ratio of the medians.
    """
    for cell in (baseline, candidate):
        if not cell.quartiles_s[0] > 0:
            raise ArgumentError(
                f"{cell.variant!r} at {format_size(cell.size)}: expected times above 0 to form a ratio; got "
                f"{cell.quartiles_s[0]:g} s among them."
            )
    base, cand = baseline.round_medians_s(), candidate.round_medians_s()
    rounds = sorted(base.keys() & cand.keys())
    if baseline.clock == candidate.clock == "device":
        ratios = [base[i] / cand[i] for i in rounds if cand[i] > 0]
        if len(ratios) >= 3:
            low, value, high = quartiles(ratios)
            return InRun(start, value, low, high, len(ratios))
    (low_b, base_s, high_b), (low_c, cand_s, high_c) = baseline.quartiles_s, candidate.quartiles_s
    value = base_s / cand_s
    # Both spread by themselves, so their logarithms' widths add up like errors do.
    down = math.hypot(math.log(base_s / low_b), math.log(high_c / cand_s))
    up = math.hypot(math.log(high_b / base_s), math.log(cand_s / low_c))
    n = max(1, len(rounds))
    return InRun(start, value, value * math.exp(-down), value * math.exp(up), n)


def _in_runs(words: str, n: int, n_runs: int) -> str:
    return words if n == n_runs else f"{words} (in {n} of {n_runs} runs)"


def with_region(info: VariantInfo) -> str:
    """Describe a variant with what its time covers and the CPU threads it ran on."""
    threads = "" if not info.threads else ", 1 thread" if info.threads == 1 else f", {info.threads} threads"
    return f"{info.label or info.name} ({REGIONS[info.clock].column}{threads})"


def sizes_left_out(results: Results) -> list[tuple[int, str]]:
    """Name the sizes at which nothing was measured, if all variants have the same reason."""
    reasons: dict[int, set[str]] = {size: set() for size in results.sizes}
    for cell in results.measurements:
        reasons[cell.size].add(cell.reason if not cell.n else "")
    alike = {size: next(iter(why)) for size, why in reasons.items() if len(why) == 1}
    return [(size, why) for size, why in alike.items() if why not in ("", "no GPU on this machine")]


def checks_sentence(checks: Iterable[CheckResult], n_variants: int) -> str:
    """Say in one sentence how the checks came out."""
    results = list(checks)
    if not results:
        return "No variant was checked."
    failed = [check for check in results if not check.passed]
    if failed:
        worst = max(failed, key=_used)
        return (
            f"{worst.variant!r} is wrong at {format_size(worst.size)}: "
            f"{_number(worst.largest_difference)} of allowed {_number(worst.tolerance)} ({worst.kind})."
        )
    who = _who(len({check.variant for check in results}), n_variants)
    return f"{who} right at {_where(results)}; largest difference {' and '.join(_differences(results))}."


def _who(n_checked: int, n_variants: int) -> str:
    if n_checked < n_variants:
        return f"The {n_checked} variants that ran were" if n_checked > 1 else "The one variant that ran was"
    return {1: "The variant was", 2: "Both variants were"}.get(n_variants, f"All {n_variants} variants were")


def _where(checks: Sequence[CheckResult]) -> str:
    """Return the number of sizes, and say so if not every variant ran at all of them."""
    sizes = {check.size for check in checks}
    ran = {(check.variant, check.size) for check in checks}
    if len(ran) < len(sizes) * len({variant for variant, _ in ran}):
        return f"each of their sizes, {len(sizes)} in all"
    return "1 size" if len(sizes) == 1 else f"{len(sizes)} sizes"


def _differences(checks: Sequence[CheckResult]) -> list[str]:
    """Return the largest difference of the exact checks, and that of the others nearest to its limit."""
    exact = [check for check in checks if not check.tolerance]
    allowed = [check for check in checks if check.tolerance]
    parts = []
    if exact:
        parts.append(f"{_number(max(check.largest_difference for check in exact))} (exact)")
    if allowed:
        worst = max(allowed, key=_used)
        limit = f"{_number(worst.largest_difference)} of allowed {_number(worst.tolerance)}"
        parts.append(f"{limit} (random)")
    return parts


def _used(check: CheckResult) -> float:
    """Return the share of its tolerance that a check used up."""
    return check.largest_difference / check.tolerance if check.tolerance else float("inf")


def _number(value: float) -> str:
    return f"{value:.2g}"
