"""What questions to results are answered with: a quantity with its interval, a crossover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gpuguide.units import format_interval, format_quantity, format_size

__all__ = ["QUANTITIES", "Crossover", "Quantity", "Series"]

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
