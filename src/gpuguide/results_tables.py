"""The table of a study's results, and the sentence that says how its checks came out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpuguide.limits import in_l2
from gpuguide.records import CheckResult, Measurement, VariantInfo
from gpuguide.tables import Column, Row, Table
from gpuguide.units import format_quantity, format_size

__all__ = ["REGIONS", "Cell", "checks_sentence", "region_words", "results_table"]

REGIONS = {
    "device": "kernel",
    "launch": "launch",
    "end_to_end": "end to end",
    "host": "CPU",
    "first_call": "first call",
}
"""For each clock the region of the program that it times, in words."""

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
class Cell:
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
    >>> Cell(VariantInfo("cupy", "CuPy"), Measurement("cupy", 8, reason="no GPU")).launch_s is None
    True
    """

    info: VariantInfo
    measurement: Measurement
    launch_s: float | None = None
    share: float | None = None
    l2_bytes: int | None = None


def results_table(caption: str, size_name: str, cells: Sequence[Cell], notes: tuple[str, ...] = ()) -> Table:
    """Build the table of a study, its rows grouped by size.

    Parameters
    ----------
    caption : str
        One line above it.
    size_name : str
        What the sizes count: ``"elements"``.
    cells : sequence of Cell
        One for each row; those of one size stand together.
    notes : tuple of str
        Lines below it.

    Returns
    -------
    Table
        The region is shown only where there is more than one.

    Examples
    --------
    >>> cell = Cell(VariantInfo("cupy", "CuPy"), Measurement("cupy", 1000, "device", (5000,), (0,)))
    >>> print(results_table("Add one", "elements", [cell]))
    Add one
    elements  variant  median  spread (IQR)  n  method
    10^3      CuPy     5.0 µs           0 s  1  events
    """
    regions = {cell.measurement.clock for cell in cells}
    columns = COLUMNS if len(regions) > 1 else COLUMNS[1:]
    return Table(caption, size_name, "variant", columns, tuple(map(_row, cells)), notes)


def _row(cell: Cell) -> Row:
    measured, label = cell.measurement, cell.info.label or cell.info.name
    cells = _shown(cell) if measured.n else {}
    reason = "" if measured.n else f"not measured ({measured.reason})"
    return Row(format_size(measured.size), label, cells, reason, _raw(cell))


def _cache(cell: Cell) -> str:
    """Say how much of a working set the L2 can hold, where that is why there is no share."""
    measured = cell.measurement
    if measured.clock != "device" or not in_l2(measured, cell.l2_bytes):
        return ""
    assert measured.traffic is not None
    assert cell.l2_bytes is not None
    return "in L2" if measured.traffic.bytes_total <= cell.l2_bytes else "partly in L2"


def _shown(cell: Cell) -> dict[str, str]:
    measured, info = cell.measurement, cell.info
    return {
        "region": REGIONS[measured.clock],
        "threads": str(info.threads) if info.threads else "",
        "median": format_quantity(measured.median_s, "s", *(measured.interval_s if measured.n > 1 else ())),
        "spread": format_quantity(measured.iqr_s, "s"),
        "n": str(measured.n),
        "launch": _quantity(cell.launch_s, "s"),
        "rate": _quantity(measured.bandwidth, "B/s"),
        "flop_rate": _quantity(measured.flop_rate, "FLOP/s"),
        "share": _quantity(cell.share, "share") or _cache(cell),
        "method": measured.method,
        "remarks": "; ".join((*(("host-bound",) if measured.host_bound else ()), *measured.notes)),
    }


def _raw(cell: Cell) -> dict[str, object]:
    measured = cell.measurement
    low, high = measured.interval_s if measured.n else (None, None)
    return {
        "size": measured.size,
        "variant": measured.variant,
        "device": cell.info.device,
        "threads": cell.info.threads,
        "clock": measured.clock,
        "method": measured.method,
        "cache": measured.cache,
        "n": measured.n,
        "n_calls": measured.n_calls,
        "median_s": measured.median_s if measured.n else None,
        "low_s": low,
        "high_s": high,
        "iqr_s": measured.iqr_s if measured.n else None,
        "launch_s": cell.launch_s,
        "floor_s": None if measured.floor_ns is None else measured.floor_ns / 1e9,
        "bytes_per_s": measured.bandwidth,
        "flop_per_s": measured.flop_rate,
        "share": cell.share,
        "host_bound": int(measured.host_bound),
        "reason": measured.reason,
        "notes": "; ".join(measured.notes),
    }


def region_words(info: VariantInfo) -> str:
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
    >>> region_words(VariantInfo("numpy", "NumPy", device="cpu", clock="host", threads=1))
    'NumPy (CPU, 1 thread)'
    """
    threads = "" if not info.threads else ", 1 thread" if info.threads == 1 else f", {info.threads} threads"
    return f"{info.label or info.name} ({REGIONS[info.clock]}{threads})"


def _quantity(value: float | None, unit: str) -> str:
    return "" if value is None else format_quantity(value, unit)


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
