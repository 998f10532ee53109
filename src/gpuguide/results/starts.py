"""What another start of the machine is expected to measure, from the starts that were recorded.

The start of the machine is the unit. A process that runs twice on one start agrees with itself far better
than with the next start: what makes host and launch times differ (where the virtual machine was placed, who
shares its processors) stays for as long as the machine runs. So the runs of one start are averaged, and the
range comes from the starts alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from gpuguide.errors import ArgumentError
from gpuguide.results.units import format_ends, format_quantity

__all__ = [
    "LEAST_STARTS",
    "LEAST_WIDTH",
    "STEADY",
    "Expected",
    "Quantity",
    "expected",
    "starts_words",
]

LEAST_STARTS = 3
"""The least number of starts for a range: two say next to nothing about a third."""

LEAST_WIDTH = 0.005
"""Half of the narrowest range, as a part of the value: clocks and counters are not better than that."""

STEADY = 0.01
"""Standard deviation over the starts, as a part of the value, below which a time hardly differs by start.

What is bound by the bus is so: of 284 such end-to-end times, nine of ten came within 3 % on another day.
"""

# The deviation that agrees with these: 3 % is not quite 1.645 deviations.
_STEADY_DEVIATION = 0.02
# The 95th percentile of the normal distribution.
_Z = 1.645
# Student's t, the 95th percentile (one side of a range that holds nine of ten), by degrees of freedom.
_T = {1: 6.314, 2: 2.920, 3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943, 7: 1.895, 8: 1.860, 9: 1.833, 10: 1.812}
_LARGEST_LOGARITHM = 700.0  # exp() of more is no float64


@dataclass(frozen=True)
class Expected:
    """A value over machine starts, and the range that holds another start's nine times out of ten."""

    value: float
    low: float
    high: float
    n_starts: int = 1
    n_runs: int = 1

    @property
    def has_range(self) -> bool:
        """Whether there are enough starts to say where the next one will lie."""
        return self.n_starts >= LEAST_STARTS


def expected(
    values: Sequence[tuple[str, float]],
    inside: Sequence[tuple[float, float]] = (),
    deviation: float = 0.0,
) -> Expected:
    """Return the value over machine starts and the range in which another start's is expected.

    A prediction interval for one more observation, on the logarithm (Hahn and Meeker, Statistical Intervals,
    1991, section 4.7): mean and standard deviation of the starts, Student's t with one degree of freedom less
    than there are starts. It is never narrower than the spread inside a run, nor than half a per cent on
    either side, nor than `deviation` gives: what the starts of a machine differ by where the host decides,
    pooled over all pages, because three starts may resemble each other by chance, or by their hour. Values
    that are not all positive are treated as they are.
    """
    if not values:
        raise ArgumentError("Expected at least one run; got none.")
    positive = all(value > 0 for _, value in values)
    starts = list(_by_start(values, positive).values())
    k = len(starts)
    # The median is shown, but the range is centred on the mean of the logarithms, as the formula requires.
    value = _median(starts, positive)
    if k < LEAST_STARTS:
        return Expected(value, value, value, k, len(values))
    scaled = [math.log(start) for start in starts] if positive else starts
    middle = math.fsum(scaled) / k
    own = math.sqrt(math.fsum((each - middle) ** 2 for each in scaled) / (k - 1))
    pooled = 0.0 if not positive else min(deviation, _STEADY_DEVIATION) if own < STEADY else deviation
    # Nine runs at most are kept, so the end of the table is never passed.
    half = _T[min(k - 1, max(_T))] * own * math.sqrt(1 + 1 / k)
    # As if all starts were of one day, which is then one draw: its effect is the larger part.
    half = max(half, _Z * pooled * math.sqrt(2))
    low, high = middle - half, middle + half
    if positive:
        low, high = math.exp(low), math.exp(min(high, _LARGEST_LOGARITHM))
    # Half of a run's own samples lie between its quartiles, so the range must not be narrower than that.
    if inside and positive:
        low = min(low, value * median(q1 / each for (_, each), (q1, _) in zip(values, inside, strict=True)))
        high = max(high, value * median(q3 / each for (_, each), (_, q3) in zip(values, inside, strict=True)))
    least = LEAST_WIDTH * abs(value)
    return Expected(value, min(low, value - least), max(high, value + least), k, len(values))


def _by_start(values: Sequence[tuple[str, float]], positive: bool) -> dict[str, float]:
    """Return the value of each start: the mean of its runs, or of their logarithms if all are positive."""
    runs: dict[str, list[float]] = {}
    for start, value in values:
        runs.setdefault(start, []).append(value)
    return {start: _mean(each, positive) for start, each in runs.items()}


def _mean(values: Sequence[float], positive: bool) -> float:
    # Equal values are not taken through the logarithm, whose rounding would change their last digit.
    if min(values) == max(values):
        return values[0]
    if not positive:
        return math.fsum(values) / len(values)
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def _median(values: Sequence[float], positive: bool) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else _mean(ordered[half - 1 : half + 1], positive)


@dataclass(frozen=True)
class Quantity:
    """A value over machine starts, in base units, and the range in which another start's is expected."""

    value: float
    low: float
    high: float
    unit: str
    n: int
    ratio_of: str = ""
    n_starts: int = 1
    n_runs: int = 1

    @classmethod
    def of(cls, found: Expected, unit: str, n: int, ratio_of: str = "", most: float = math.inf) -> Quantity:
        """Make a quantity from an `Expected`, with its unit and the largest value that it can have."""
        low, high = min(most, found.low), min(most, found.high)
        return cls(min(most, found.value), low, high, unit, n, ratio_of, found.n_starts, found.n_runs)

    def __str__(self) -> str:
        return format_quantity(self.value, self.unit, *((self.low, self.high) if self.has_range else ()))

    @classmethod
    def counted(cls, value: float, unit: str, ratio_of: str = "") -> Quantity:
        """Make a quantity that was counted: it has neither samples nor starts."""
        return cls(value, value, value, unit, 0, ratio_of, n_starts=0, n_runs=0)

    @property
    def has_range(self) -> bool:
        """Whether there are enough starts to say where the next one will lie."""
        return self.n_starts >= LEAST_STARTS

    @property
    def interval(self) -> str:
        """Both ends of the range as they are written: ``"61.6 µs to 61.8 µs"``; empty without a range."""
        return " to ".join(self._ends()) if self.has_range else ""

    @property
    def basis(self) -> str:
        """What the value rests on, in words."""
        if not self.n_starts:
            return "counted on the host"
        words = [starts_words(self.n_starts)]
        if self.n_runs > self.n_starts:
            # If each start has one run, the number of starts says it.
            words.append(f"{self.n_runs} runs")
        if self.n:
            counted = "round" if self.ratio_of or self.unit == "ratio" else "sample"
            words.append(f"{self.n} {counted}{'' if self.n == 1 else 's'}")
        if not self.has_range:
            return ", ".join(words)
        low, high = self._ends()
        return f"{', '.join(words)}; another is expected between {low} and {high}"

    def _ends(self) -> tuple[str, str]:
        return format_ends(self.value, self.unit, self.low, self.high)


def starts_words(n_starts: int) -> str:
    """Return a number of machine starts in words."""
    return {1: "one machine start", 2: "two machine starts"}.get(n_starts, f"{n_starts} machine starts")
