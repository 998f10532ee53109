"""How quantities, sizes and timed regions are written.

Quantities get SI prefixes, and no more digits than their spread allows.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import NamedTuple

from gpuguide.errors import ArgumentError, unknown

__all__ = [
    "REGIONS",
    "SI",
    "RegionWords",
    "format_ends",
    "format_quantity",
    "format_size",
    "size_words",
]

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
    "1/s": ((12, " T/s"), (9, " G/s"), (6, " M/s"), (3, " k/s"), (0, " /s")),
    "count": ((12, " trillion"), (9, " billion"), (6, " million"), (0, "")),
    "B": ((12, " TB"), (9, " GB"), (6, " MB"), (3, " kB"), (0, " B")),
    "Hz": ((9, " GHz"), (6, " MHz"), (3, " kHz"), (0, " Hz")),
    "W": ((0, " W"), (-3, " mW")),
    "J": ((3, " kJ"), (0, " J"), (-3, " mJ")),
    "ratio": ((0, "×"),),
    "share": ((-2, " %"),),
    "1": ((0, ""),),
}
"""For each base unit, the powers of ten that it is shown in and how they are written, largest first."""


class RegionWords(NamedTuple):
    """Names of the part of a program that a clock times, for different places."""

    column: str
    axis: str
    sentence: str


REGIONS = {
    "device": RegionWords("kernel", "on the GPU", "time on the GPU"),
    "launch": RegionWords("launch", "of the launch", "host time of the launch"),
    "end_to_end": RegionWords("end to end", "until the result is there", "end to end"),
    "host": RegionWords("CPU", "on the CPU", "time on the CPU"),
}
"""For each clock, the region that it times, in words."""

MOST_DIGITS = 4
# The least number for the ends of an interval, and for a value that two digits would move out of its
# interval.
_PLAIN_DIGITS = 3
# The last digits of a float64 are noise, which must not push an end outwards.
_SURE_DIGITS = 12
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_quantity(
    value: float | str, unit: str, low: float | None = None, high: float | None = None
) -> str:
    """Write a quantity for a reader.

    Two significant digits, or as many as the interval leaves certain: the last digit shown is worth at least
    half of the interval's width. One digit if the interval is at least half as wide as the value, unless that
    digit is a 1, which would be too coarse. Up to three if fewer would move the value out of its interval,
    and never more than four. A share keeps its whole per cents: 102 % is not 100 %.
    """
    if unit == "text" and isinstance(value, str):
        return value
    number = _number(value, unit)
    if unit == "1" and isinstance(number, int):
        return _grouped(Decimal(number))
    if unit == "count":
        in_full = abs(number) < 1_000_000
        return _grouped(Decimal(int(number))) if in_full else _written(_with_digits(number, 3), unit)
    return _written(_rounded(number, unit, low, high), unit)


def format_ends(value: float, unit: str, low: float, high: float) -> tuple[str, str]:
    """Write both ends of the interval of a quantity, with the digits at which they differ.

    Three significant digits at least, two of a wide one. The value as `format_quantity` writes it with this
    interval lies within the ends as written: if need be, they are rounded outwards.
    """
    value, low, high = (_number(number, unit) for number in (value, low, high))
    shown = _rounded(value, unit, low, high)
    # An end that was computed from the value may differ from it in the last binary digit.
    first, last = _ends(shown, min(low, value), max(high, value))
    return _written(first, unit), _written(last, unit)


def format_size(size: int) -> str:
    """Write an input size as a power if it is one, else with grouped digits."""
    text = str(size)
    if size >= 1000 and text == "1" + "0" * (len(text) - 1):
        return f"10^{len(text) - 1}"
    if size >= 1024 and size & (size - 1) == 0:
        return f"2^{size.bit_length() - 1}"
    return _grouped(Decimal(size))


def size_words(size: int) -> str:
    """Write a size as readers know it, with raised powers and without a place to break the line."""
    base, _, power = format_size(size).partition("^")
    return base.replace(" ", "\u202f") + power.translate(_SUPERSCRIPTS)


def _number(value: float | str, unit: str) -> float:
    """Return a value that can be written in a unit, or raise."""
    if unit not in SI:
        raise unknown("unit", unit, [*SI, "text"])
    if isinstance(value, str) or not math.isfinite(value):
        raise ArgumentError(f"Expected a finite number for unit {unit!r}; got {value!r}.")
    return value


def _rounded(value: float, unit: str, low: float | None, high: float | None) -> Decimal:
    """Return a value with the digits that are shown."""
    digits = _digits(value, low, high)
    if unit == "share" and value:
        # To the second decimal, which is the last whole per cent.
        digits = max(digits, min(_SURE_DIGITS, _exponent(value) + 3))
    rounded = _with_digits(value, digits)
    if low is None or high is None or low <= rounded <= high:
        return rounded
    finer = [_with_digits(value, more) for more in range(digits + 1, _PLAIN_DIGITS + 1)]
    return next((each for each in finer if low <= each <= high), _with_digits(value, max(2, digits)))


def _digits(value: float, low: float | None, high: float | None) -> int:
    """Return how many significant digits to show: the last one counts at least the half-width."""
    if low is None or high is None or not value:
        return 2
    if _are_equal(low, high):
        return _PLAIN_DIGITS
    # A logarithm that should be whole may lie slightly above, which would cost a digit.
    certain = _exponent(value) - math.ceil(_half_width(low, high) - 1e-9) + 1
    # 150 ms is not 200 ms, while 250 ms and 300 ms are a fifth apart at most.
    begins_with_one = _with_digits(abs(value), 2).scaleb(-_exponent(value)) < 2
    least = 1 if _is_wide(value, low, high) and not begins_with_one else 2
    return min(MOST_DIGITS, max(least, certain))


def _ends(shown: Decimal, low: float, high: float) -> tuple[Decimal, Decimal]:
    """Round the ends of an interval to the digits at which they differ, around the value as shown."""
    if _are_equal(low, high):
        return shown, shown
    last = int(shown.as_tuple().exponent)
    if 0 < 10 * low < high:
        # At the digits of the upper end, the lower one could become 0.
        ends = (_with_digits(low, 2), _with_digits(high, 2))
        if ends[0] <= shown <= ends[1]:
            return ends
    largest = _exponent(max(abs(low), abs(high)))
    plain = 2 if _is_wide(float(shown), low, high) else _PLAIN_DIGITS
    finest = min(last, largest - plain + 1, math.floor(_half_width(low, high) + 1e-9))
    nearest = _between(low, high, finest, ROUND_HALF_EVEN, ROUND_HALF_EVEN)
    # At its own last digit, outwards, the value is always within.
    wider = (
        _between(low, high, exponent, ROUND_FLOOR, ROUND_CEILING) for exponent in range(finest, last + 1)
    )
    return next(ends for ends in (nearest, *wider) if ends[0] <= shown <= ends[1])


def _are_equal(low: float, high: float) -> bool:
    return high - low <= 1e-9 * max(abs(low), abs(high))


def _is_wide(value: float, low: float, high: float) -> bool:
    """Tell whether an interval is half as wide as its value, so that two digits would say too much."""
    return high - low >= abs(value) / 2


def _half_width(low: float, high: float) -> float:
    """Return the power of ten of half an interval's width, with its fraction."""
    return math.log10((high - low) / 2)


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value)))


def _with_digits(value: float, digits: int) -> Decimal:
    # Via text, whose format rounds to significant digits.
    return Decimal(f"{value:.{digits - 1}e}")


def _between(low: float, high: float, exponent: int, down: str, up: str) -> tuple[Decimal, Decimal]:
    """Round both ends to multiples of a power of ten."""
    step = Decimal((0, (1,), exponent))
    return (
        _with_digits(low, _SURE_DIGITS).quantize(step, down),
        _with_digits(high, _SURE_DIGITS).quantize(step, up),
    )


def _written(rounded: Decimal, unit: str) -> str:
    """Write a rounded number with its unit. Rounded first: 999.6 ns is 1.0 µs, not 1000 ns."""
    if not rounded:
        # Without a prefix, if the unit is ever written without one.
        return "0" + dict(SI[unit]).get(0, SI[unit][0][1])
    size = rounded.adjusted()
    power, label = next((s for s in SI[unit] if size >= s[0]), SI[unit][-1])
    return _grouped(rounded.scaleb(-power)) + label


def _grouped(number: Decimal) -> str:
    """Write a number without exponent, its digits in groups of three from five digits on."""
    return f"{number:,f}".replace(",", " ") if abs(number) >= 10_000 else f"{number:f}"
