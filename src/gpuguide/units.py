"""How quantities and sizes are written: SI prefixes, and no more digits than the spread allows."""

from __future__ import annotations

import math
from decimal import Decimal

from gpuguide.errors import ArgumentError, unknown

__all__ = ["SI", "format_quantity", "format_size"]

SI: dict[str, tuple[tuple[int, str], ...]] = {
    "s": ((0, " s"), (-3, " ms"), (-6, " µs"), (-9, " ns")),
    "B/s": ((12, " TB/s"), (9, " GB/s"), (6, " MB/s"), (3, " kB/s"), (0, " B/s")),
    "FLOP/s": (
        (15, " PFLOP/s"),
        (12, " TFLOP/s"),
        (9, " GFLOP/s"),
        (6, " MFLOP/s"),
        (3, " kFLOP/s"),
        (0, " FLOP/s"),
    ),
    "B": ((12, " TB"), (9, " GB"), (6, " MB"), (3, " kB"), (0, " B")),
    "Hz": ((9, " GHz"), (6, " MHz"), (3, " kHz"), (0, " Hz")),
    "W": ((0, " W"), (-3, " mW")),
    "J": ((3, " kJ"), (0, " J"), (-3, " mJ")),
    "ratio": ((0, "×"),),
    "share": ((-2, " %"),),
    "1": ((0, ""),),
}
"""For each base unit the powers of ten it is shown in and how they are written, largest first."""

MOST_DIGITS = 4


def format_quantity(
    value: float | str, unit: str, low: float | None = None, high: float | None = None
) -> str:
    """Write a quantity for a reader.

    Two significant digits, or as many as the interval leaves certain: the last digit shown counts
    at least half of the interval's width. Never more than four.

    Parameters
    ----------
    value : float or str
        In base units; a str only with unit ``"text"``.
    unit : str
        A key of `SI`, or ``"text"``.
    low, high : float, optional
        The interval of the value, in the same unit.

    Returns
    -------
    str
        Number and unit; GB/s is 1e9 B/s. Whole numbers of unit ``"1"`` are counts, written in full.

    Raises
    ------
    ArgumentError
        If the value is not finite, or not of the kind that the unit wants.
    UnknownNameError
        If the unit is not known.

    Examples
    --------
    >>> format_quantity(3.514e-6, "s"), format_quantity(4.26e12, "B/s")
    ('3.5 µs', '4.3 TB/s')
    >>> format_quantity(152.1, "ratio", 151.4, 152.9), format_quantity(0.978, "share")
    ('152×', '98 %')
    """
    if unit == "text" and isinstance(value, str):
        return value
    if unit not in SI:
        raise unknown("unit", unit, [*SI, "text"])
    if isinstance(value, str) or not math.isfinite(value):
        raise ArgumentError(f"Expected a finite number for unit {unit!r}; got {value!r}.")
    if unit == "1" and isinstance(value, int):
        return _grouped(Decimal(value))
    # Rounded first: 999.6 ns is 1.0 µs, not 1000 ns.
    rounded = Decimal(f"{value:.{_digits(value, low, high) - 1}e}")
    if not rounded:
        return "0" + SI[unit][0][1]
    power, label = next((s for s in SI[unit] if rounded.adjusted() >= s[0]), SI[unit][-1])
    return _grouped(rounded.scaleb(-power)) + label


def format_size(size: int) -> str:
    """Write a size of an input: as a power where it is one, else with grouped digits.

    Parameters
    ----------
    size : int
        Number of elements.

    Returns
    -------
    str
        Powers of ten from 10^3 and powers of two from 2^10 are written as such.

    Examples
    --------
    >>> format_size(2**24), format_size(10**6), format_size(65_535), format_size(512)
    ('2^24', '10^6', '65 535', '512')
    """
    text = str(size)
    if size >= 1000 and text == "1" + "0" * (len(text) - 1):
        return f"10^{len(text) - 1}"
    if size >= 1024 and size & (size - 1) == 0:
        return f"2^{size.bit_length() - 1}"
    return _grouped(Decimal(size))


def _digits(value: float, low: float | None, high: float | None) -> int:
    """Return how many significant digits to show: the last one counts at least the half-width."""
    if low is None or high is None or not high > low or not value:
        return 2
    last = math.ceil(math.log10((high - low) / 2) - 1e-9)
    return min(MOST_DIGITS, max(2, math.floor(math.log10(abs(value))) - last + 1))


def _grouped(number: Decimal) -> str:
    """Write a number without exponent, its digits in groups of three from five digits on."""
    return f"{number:,f}".replace(",", " ") if abs(number) >= 10_000 else f"{number:f}"
