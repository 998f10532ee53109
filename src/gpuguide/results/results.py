"""What a study measured, as immutable data, the questions that it answers, and its table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import NamedTuple

from gpuguide.errors import ArgumentError, unknown
from gpuguide.results.ceilings import Ceilings, in_l2
from gpuguide.results.records import (
    CLOCKS,
    CheckResult,
    Measurement,
    VariantInfo,
    check_fields,
    one_of,
    refuse_twice,
)
from gpuguide.results.statistics import Ratio, bootstrap_ratio
from gpuguide.results.tables import Column, Row, Table
from gpuguide.results.units import REGIONS, format_interval, format_quantity, format_size

__all__ = [
    "QUANTITIES",
    "Crossover",
    "Quantity",
    "Results",
    "RowData",
    "Series",
    "checks_sentence",
    "results_table",
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
}
"""The quantities that results are asked for by name, each with its unit."""


@dataclass(frozen=True)
class Quantity:
    """A value with its interval, in base units.

    Parameters
    ----------
    value, low, high : float
        The value and the ends of its 95 % interval.
    unit : str
        ``"s"``, ``"B/s"``, ``"FLOP/s"``, ``"share"`` or ``"ratio"``.
    n : int
        Number of samples; of rounds for a ratio.
    ratio_of : str
        For a ratio, what is divided by what and which regions were timed.

    Examples
    --------
    >>> print(Quantity(61.72e-6, 61.6e-6, 61.8e-6, "s", n=20))
    61.7 µs
    """

    value: float
    low: float
    high: float
    unit: str
    n: int
    ratio_of: str = ""

    def __str__(self) -> str:
        return format_quantity(self.value, self.unit, self.low, self.high)

    @property
    def interval(self) -> str:
        """Both ends of the interval as they are written: ``"61.60 µs to 61.80 µs"``."""
        return format_interval(self.value, self.unit, self.low, self.high)


@dataclass(frozen=True)
class Crossover:
    """The two measured sizes between which one variant overtakes another.

    Parameters
    ----------
    slower_at : int
        The last measured size at which it is slower.
    faster_at : int
        The first measured size from which it stays faster, to the largest.

    Examples
    --------
    >>> print(Crossover(2**14, 2**16))
    between 2^14 and 2^16
    """

    slower_at: int
    faster_at: int

    def __str__(self) -> str:
        return f"between {format_size(self.slower_at)} and {format_size(self.faster_at)}"


class Series(NamedTuple):
    """The medians of one variant over the sizes at which it was measured.

    Parameters
    ----------
    sizes : tuple of int
        Sizes that have samples, in the study's order.
    medians_s : tuple of float
        Median seconds of a call at each.

    Examples
    --------
    >>> sizes, medians_s = Series((8, 16), (5e-6, 6e-6))
    """

    sizes: tuple[int, ...]
    medians_s: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Results:
    """All that one run of a study measured and checked.

    Nothing derived is stored: every answer is computed from the samples when it is asked for.

    Parameters
    ----------
    name, title : str
        The study's short name and its heading.
    size_name : str
        What the sizes count: ``"elements"``.
    dtype, input_note, tolerance_note : str
        Type of the data, what it looked like, what difference from the reference was allowed.
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
        What the machine can do, where the session measured it.
    l2_bytes : int or None
        Size of the L2 cache.
    warnings : tuple of str
        What a reader must know of the run.
    quick : bool
        Whether the run was a short one, not good for publishing.
    start : str
        The start of the machine on which the run was made, as its provenance names it.
    others : tuple of Results
        The same study in the former runs of its recording, oldest first, without runs of their own.

    Raises
    ------
    ArgumentError
        If a name, size or measurement stands twice, or one is of no variant or size of the study.

    Examples
    --------
    >>> results = Results(
    ...     name="add", title="Add one", size_name="elements", dtype="float32",
    ...     variants=(VariantInfo("one", "One a thread"), VariantInfo("four", "Four a thread")),
    ...     sizes=(1000,),
    ...     measurements=(Measurement("one", 1000, "device", (6000, 6200), (0, 1)),
    ...                   Measurement("four", 1000, "device", (3000, 3000), (0, 1))),
    ... )
    >>> round(results.speedup("four", "one", 1000).value, 2)
    2.03
    >>> print(results)
    Add one (float32, warm cache)
    elements  variant         median  spread (IQR)  n  method
    10^3      One a thread    6.1 µs        100 ns  2  events
              Four a thread  3.00 µs           0 s  2  events
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

    def __post_init__(self) -> None:
        check_fields(self)
        names = [info.name for info in self.variants]
        owner = f"Results of {self.name!r}"
        refuse_twice(owner, "variant", names)
        refuse_twice(owner, "size", self.sizes)
        refuse_twice(owner, "measurement", [(m.variant, m.size, m.clock) for m in self.measurements])
        used = [
            *((m.variant, m.size) for m in self.measurements),
            *((c.variant, c.size) for c in self.checks),
        ]
        for name, size in used:
            if name not in names or size not in self.sizes:
                raise ArgumentError(f"{owner}: the study has no variant {name!r} at {size}.")

    def __repr__(self) -> str:
        n_variants, n_sizes = len(self.variants), len(self.sizes)
        return f"<Results of {self.name!r}: {n_variants} variants, {n_sizes} sizes, {self.dtype}>"

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()

    @property
    def runs(self) -> tuple[Results, ...]:
        """Each run by itself, oldest first; this one is the last."""
        return (*self.others, dataclasses.replace(self, others=()))

    def variant(self, name: str) -> VariantInfo:
        """Return what is said of a variant; raises UnknownNameError, with the nearest names."""
        for info in self.variants:
            if info.name == name:
                return info
        raise unknown("variant", name, [info.name for info in self.variants])

    def measurement(self, variant: str, size: int, clock: str | None = None) -> Measurement:
        """Return one cell of the study.

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
        clock = self.variant(variant).clock if clock is None else clock
        if size not in self.sizes:
            raise unknown("size", size, self.sizes)
        if clock not in CLOCKS:
            raise unknown("clock", clock, CLOCKS)
        for cell in self.measurements:
            if (cell.variant, cell.size, cell.clock) == (variant, size, clock):
                return cell
        return Measurement(variant, size, clock, reason=f"this run has no {REGIONS[clock].column} time")

    def series(self, variant: str, clock: str | None = None) -> Series:
        """Return the sizes at which a variant has samples, and its medians in seconds.

        Parameters
        ----------
        variant, clock : str
            As for `measurement`.

        Returns
        -------
        Series
            Two tuples of the same length, ``sizes`` and ``medians_s``.
        """
        cells = [self.measurement(variant, size, clock) for size in self.sizes]
        cells = [cell for cell in cells if cell.n]
        return Series(tuple(cell.size for cell in cells), tuple(cell.median_s for cell in cells))

    def speedup(self, candidate: str, baseline: str, size: int, clock: str | None = None) -> Ratio:
        """Return how many times as fast one variant is as another, by rounds.

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
        Ratio
            Baseline time over candidate time, with the 95 % interval of `bootstrap_ratio`. Without a
            common round the samples of each are taken as one round.

        Raises
        ------
        ArgumentError
            If one of them was not measured at this size; the message holds the reason.
        """
        base, cand = (self._sampled(name, size, clock).by_round() for name in (baseline, candidate))
        common = sorted(base.keys() & cand.keys())
        if common:
            return bootstrap_ratio([base[i] for i in common], [cand[i] for i in common])
        return bootstrap_ratio([list(chain(*base.values()))], [list(chain(*cand.values()))])

    def crossover(self, a: str, b: str) -> Crossover | None:
        """Return the bracket of two measured sizes between which ``b`` overtakes ``a`` for good.

        Parameters
        ----------
        a, b : str
            Names of the variants, compared by their medians.

        Returns
        -------
        Crossover or None
            None where ``b`` is not faster at the largest size, or was never slower. Sizes at which
            one of them has no samples are left out.
        """
        first, second = (dict(zip(*self.series(name), strict=True)) for name in (a, b))
        sizes = sorted(first.keys() & second.keys())
        not_faster = [i for i, size in enumerate(sizes) if second[size] >= first[size]]
        slower = [size for size in sizes if second[size] > first[size]]
        if not slower or not_faster[-1] == len(sizes) - 1:
            return None
        return Crossover(slower_at=slower[-1], faster_at=sizes[not_faster[-1] + 1])

    def share(self, variant: str, size: int) -> float | None:
        """Return which part of its own mix's ceiling a variant reaches: see `Ceilings.share`."""
        if self.ceilings is None:
            return None
        return self.ceilings.share(self.measurement(variant, size), self.l2_bytes)

    def quantity(self, variant: str, size: int, quantity: str, baseline: str | None = None) -> Quantity:
        """Return one quantity of a cell, with its interval, by name.

        Parameters
        ----------
        variant : str
            Name of the variant.
        size : int
            One of the study's sizes.
        quantity : str
            ``"time"``, ``"launch"``, ``"rate"``, ``"flop_rate"``, ``"share"``, ``"flop_share"`` or
            ``"speedup"``.
        baseline : str, optional
            Over what a speed-up is taken; wanted there and nowhere else.

        Returns
        -------
        Quantity
            In base units.

        Raises
        ------
        UnknownNameError
            If there is no such variant, size or quantity; the message names the nearest.
        ArgumentError
            If the cell has no samples or no such quantity (the message says why), or a baseline is
            missing or not wanted.
        """
        if quantity not in QUANTITIES:
            raise unknown("quantity", quantity, QUANTITIES)
        if (baseline is not None) != (quantity == "speedup"):
            wants = "a baseline" if baseline is None else "no baseline"
            raise ArgumentError(f"Quantity {quantity!r} takes {wants}; got {baseline!r}.")
        if baseline is not None:
            ratio = self.speedup(variant, baseline, size)
            n = min(len(self._sampled(name, size).by_round()) for name in (variant, baseline))
            return Quantity(ratio.value, ratio.low, ratio.high, "ratio", n, self._ratio_of(variant, baseline))
        cell = self._sampled(variant, size, "launch" if quantity == "launch" else None)
        low, high = cell.interval_s
        if quantity in ("time", "launch"):
            return Quantity(cell.median_s, low, high, "s", cell.n)
        value = self._derived(cell, quantity)
        # A longer time is a lower rate, and a share stays at most 1.
        unit, most = QUANTITIES[quantity], 1.0 if "share" in quantity else math.inf
        least, largest = (min(most, value * cell.median_s / time) for time in (high, low))
        return Quantity(value, least, largest, unit, cell.n)

    def table(self, sizes: Sequence[int] | None = None) -> Table:
        """Return what was measured as a table with ``text()``, ``html()`` and ``csv()``.

        Parameters
        ----------
        sizes : sequence of int, optional
            Only these sizes.

        Returns
        -------
        Table
            One row for each variant, size and region; launch times stand in a column.

        Raises
        ------
        UnknownNameError
            If a size is none of the study's.
        """
        wanted = self.sizes if sizes is None else tuple(sizes)
        for size in wanted:
            if size not in self.sizes:
                raise unknown("size", size, self.sizes)
        rows = [
            self._row_data(cell)
            for size in wanted
            for info in self.variants
            for cell in self.measurements
            if (cell.variant, cell.size) == (info.name, size) and cell.clock != "launch"
        ]
        quick = ", quick run" if self.quick else ""
        caption = f"{self.title} ({self.dtype}, {self.cache} cache{quick})"
        return results_table(caption, self.size_name, rows, self.warnings)

    def checks_line(self) -> str:
        """Say in one sentence how the variants compared with the reference before they were timed."""
        return checks_sentence(self.checks, len(self.variants))

    def swap_samples(self, a: str, b: str) -> Results:
        """Return results in which two variants have each other's samples: every claim on both must flip.

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
        return dataclasses.replace(self, measurements=cells)

    def _sampled(self, variant: str, size: int, clock: str | None = None) -> Measurement:
        """Return a cell that has samples, or raise with the reason why it has none."""
        cell = self.measurement(variant, size, clock)
        if not cell.n:
            raise ArgumentError(f"{variant!r} at {format_size(size)} has no samples: {cell.reason}.")
        return cell

    def _derived(self, cell: Measurement, quantity: str) -> float:
        """Return a rate or a share of a cell, or raise with what it lacks."""
        ceilings = self.ceilings or Ceilings()
        value = {
            "rate": lambda: cell.bandwidth,
            "flop_rate": lambda: cell.flop_rate,
            "share": lambda: self.share(cell.variant, cell.size),
            "flop_share": lambda: ceilings.flop_share(cell),
        }[quantity]()
        if value is not None:
            return value
        why = ceilings.lack(cell, quantity, self.l2_bytes)
        raise ArgumentError(f"{cell.variant!r} at {format_size(cell.size)} has no {quantity}: {why}.")

    def _row_data(self, cell: Measurement) -> RowData:
        """Return what a row of the table is made of."""
        info = self.variant(cell.variant)
        launch = self.measurement(cell.variant, cell.size, "launch")
        share = self.share(cell.variant, cell.size) if cell.clock == info.clock else None
        return RowData(info, cell, launch.median_s if launch.n else None, share, self.l2_bytes)

    def _ratio_of(self, candidate: str, baseline: str) -> str:
        """Say which time was divided by which, and what each covers."""
        return " / ".join(with_region(self.variant(name)) for name in (baseline, candidate))


COLUMNS = (
    Column("region", "region"),
    Column("threads", "threads", numeric=True),
    Column("median", "median", numeric=True),
    Column("spread", "spread (IQR)", numeric=True),
    Column("n", "n", numeric=True),
    Column("launch", "launch", numeric=True),
    Column("rate", "rate", numeric=True),
    Column("flop_rate", "arithmetic", numeric=True),
    Column("share", "share of ceiling", numeric=True),
    Column("method", "method"),
    Column("remarks", "remarks"),
)


@dataclass(frozen=True)
class RowData:
    """What one row of the table is made of.

    Parameters
    ----------
    info : VariantInfo
        The variant.
    measurement : Measurement
        Its samples at one size on one clock.
    launch_s : float or None
        Median time of a launch, where it was measured.
    share : float or None
        Part of its ceiling that it reaches.
    l2_bytes : int or None
        Size of the L2 cache.

    Examples
    --------
    >>> RowData(VariantInfo("cupy", "CuPy"), Measurement("cupy", 8, reason="no GPU")).launch_s is None
    True
    """

    info: VariantInfo
    measurement: Measurement
    launch_s: float | None = None
    share: float | None = None
    l2_bytes: int | None = None


def results_table(
    caption: str, size_name: str, rows: Sequence[RowData], notes: tuple[str, ...] = ()
) -> Table:
    """Build the table of a study, its rows grouped by size.

    Parameters
    ----------
    caption : str
        One line above it.
    size_name : str
        What the sizes count: ``"elements"``.
    rows : sequence of RowData
        Those of one size stand together.
    notes : tuple of str
        Lines below it.

    Returns
    -------
    Table
        The region is shown only where there is more than one.

    Examples
    --------
    >>> row = RowData(VariantInfo("cupy", "CuPy"), Measurement("cupy", 1000, "device", (5000,), (0,)))
    >>> print(results_table("Add one", "elements", [row]))
    Add one
    elements  variant  median  spread (IQR)  n  method
    10^3      CuPy     5.0 µs           0 s  1  events
    """
    regions = {row.measurement.clock for row in rows}
    columns = COLUMNS if len(regions) > 1 else COLUMNS[1:]
    return Table(caption, size_name, "variant", columns, tuple(map(_row, rows)), notes)


def _row(data: RowData) -> Row:
    measured, label = data.measurement, data.info.label or data.info.name
    cells = _shown(data) if measured.n else {}
    reason = "" if measured.n else f"not measured ({measured.reason})"
    return Row(format_size(measured.size), label, cells, reason, _raw(data))


def _shown(data: RowData) -> dict[str, str]:
    measured, info = data.measurement, data.info
    return {
        "region": REGIONS[measured.clock].column,
        "threads": str(info.threads) if info.threads else "",
        "median": format_quantity(measured.median_s, "s", *(measured.interval_s if measured.n > 1 else ())),
        "spread": format_quantity(measured.iqr_s, "s"),
        "n": str(measured.n),
        "launch": _quantity(data.launch_s, "s"),
        "rate": _quantity(measured.bandwidth, "B/s"),
        "flop_rate": _quantity(measured.flop_rate, "FLOP/s"),
        "share": _quantity(data.share, "share") or _cache(data),
        "method": measured.method,
        "remarks": "; ".join((*(("host-bound",) if measured.host_bound else ()), *measured.notes)),
    }


def _quantity(value: float | None, unit: str) -> str:
    return "" if value is None else format_quantity(value, unit)


def _cache(data: RowData) -> str:
    """Say how much of a working set the L2 can hold, where that is why there is no share."""
    measured = data.measurement
    if measured.clock != "device" or not in_l2(measured, data.l2_bytes):
        return ""
    assert measured.traffic is not None
    assert data.l2_bytes is not None
    return "in L2" if measured.traffic.bytes_total <= data.l2_bytes else "partly in L2"


def _raw(data: RowData) -> dict[str, object]:
    measured = data.measurement
    low, high = measured.interval_s if measured.n else (None, None)
    return {
        "size": measured.size,
        "variant": measured.variant,
        "device": data.info.device,
        "threads": data.info.threads,
        "clock": measured.clock,
        "method": measured.method,
        "cache": measured.cache,
        "n": measured.n,
        "n_calls": measured.n_calls,
        "median_s": measured.median_s if measured.n else None,
        "low_s": low,
        "high_s": high,
        "iqr_s": measured.iqr_s if measured.n else None,
        "launch_s": data.launch_s,
        "floor_s": None if measured.floor_ns is None else measured.floor_ns / 1e9,
        "bytes_per_s": measured.bandwidth,
        "flop_per_s": measured.flop_rate,
        "share": data.share,
        "host_bound": int(measured.host_bound),
        "reason": measured.reason,
        "notes": "; ".join(measured.notes),
    }


def with_region(info: VariantInfo) -> str:
    """Say of a variant what its time covers, and on how many CPU threads it ran.

    Parameters
    ----------
    info : VariantInfo
        The variant.

    Returns
    -------
    str
        Its label, region and threads.

    Examples
    --------
    >>> with_region(VariantInfo("numpy", "NumPy", device="cpu", clock="host", threads=1))
    'NumPy (CPU, 1 thread)'
    """
    threads = "" if not info.threads else ", 1 thread" if info.threads == 1 else f", {info.threads} threads"
    return f"{info.label or info.name} ({REGIONS[info.clock].column}{threads})"


def checks_sentence(checks: Iterable[CheckResult], n_variants: int) -> str:
    """Say in one sentence how the checks came out.

    Parameters
    ----------
    checks : iterable of CheckResult
        All checks of a study.
    n_variants : int
        How many variants the study has.

    Returns
    -------
    str
        For exact inputs the largest difference; for the others the one nearest to its tolerance.

    Examples
    --------
    >>> checks_sentence([CheckResult("cupy", 8, "exact", 0.0, 0.0)], 1)
    'The variant was right at 1 size; largest difference 0 (exact).'
    >>> checks_sentence([CheckResult("cupy", 8, "random", 1e-7, 3e-7)], 2)
    '1 of 2 variants was right at 1 size; largest difference 1e-07 of allowed 3e-07 (random).'
    >>> checks_sentence([], 2)
    'No variant was checked.'
    """
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
    verb = "was" if n_checked == 1 else "were"
    if n_checked < n_variants:
        return f"{n_checked} of {n_variants} variants {verb}"
    return {1: "The variant was", 2: "Both variants were"}.get(n_variants, f"All {n_variants} variants were")


def _where(checks: Sequence[CheckResult]) -> str:
    """Return at how many sizes, and say so where not every variant ran at all of them."""
    sizes = {check.size for check in checks}
    ran = {(check.variant, check.size) for check in checks}
    if len(ran) < len(sizes) * len({variant for variant, _ in ran}):
        return f"each of its sizes, {len(sizes)} in all"
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
    """Return which part of its tolerance a check used up."""
    return check.largest_difference / check.tolerance if check.tolerance else float("inf")


def _number(value: float) -> str:
    return f"{value:.2g}"
