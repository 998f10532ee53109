"""What another start of the machine is expected to measure, from the starts that were recorded.

The start of the machine is the unit. A process that runs twice on one start agrees with itself far better
than with the next start: what makes host and launch times differ (where the virtual machine was placed, who
shares its processors) stays for as long as the machine runs. So the runs of one start are averaged, and the
range comes from the starts alone.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from gpuguide.errors import ArgumentError

__all__ = ["LEAST_STARTS", "LEAST_WIDTH", "Expected", "expected"]

LEAST_STARTS = 3
"""Starts below which there is no range: two tell next to nothing of a third."""

LEAST_WIDTH = 0.005
"""Half of the narrowest range, as a part of the value: clocks and counters are not better than that."""

# Student's t, the 95th percentile (one side of a range that holds nine of ten), by degrees of freedom.
_T = {1: 6.314, 2: 2.920, 3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943, 7: 1.895, 8: 1.860, 9: 1.833, 10: 1.812}


@dataclass(frozen=True)
class Expected:
    """A value over machine starts, and the range in which another start's is expected nine times of ten.

    Parameters
    ----------
    value : float
        The median over the starts.
    low, high : float
        The range; both are the value where fewer than three starts were recorded.
    n_starts, n_runs : int
        Machine starts, and runs on them.
    """

    value: float
    low: float
    high: float
    n_starts: int = 1
    n_runs: int = 1

    @property
    def has_range(self) -> bool:
        """Whether there are starts enough to say where the next one will lie."""
        return self.n_starts >= LEAST_STARTS


def expected(values: Sequence[tuple[str, float]], inside: Sequence[tuple[float, float]] = ()) -> Expected:
    """Return the value over machine starts and the range in which another start's is expected.

    A prediction interval for one more observation, on the logarithm (Hahn and Meeker, Statistical Intervals,
    1991, section 4.7): mean and standard deviation of the starts, Student's t with one degree of freedom less
    than there are starts. It is never narrower than the spread inside a run, nor than half a per cent on
    either side. Values that are not all positive are treated as they are.

    Parameters
    ----------
    values : sequence of (str, float)
        Of each run: the machine start on which it was made, and what it measured.
    inside : sequence of (float, float)
        Of each run, where that is known: lower and upper quartile of its samples.

    Returns
    -------
    Expected
        Runs of one start count as one, their mean.

    Raises
    ------
    ArgumentError
        If there is no run.

    Examples
    --------
    >>> found = expected([("a", 10.0), ("b", 10.2), ("c", 10.1), ("c", 10.1)])
    >>> f"{found.value:.2f}, {found.low:.2f} to {found.high:.2f}, {found.n_starts} starts"
    '10.10, 9.77 to 10.44, 3 starts'
    """
    if not values:
        raise ArgumentError("Expected at least one run; got none.")
    positive = all(value > 0 for _, value in values)
    by_start: dict[str, list[float]] = {}
    for start, value in values:
        by_start.setdefault(start, []).append(math.log(value) if positive else float(value))
    starts = [math.fsum(runs) / len(runs) for runs in by_start.values()]
    value = _back(statistics.median(starts), positive)
    k = len(starts)
    if k < LEAST_STARTS:
        return Expected(value, value, value, k, len(values))
    middle = math.fsum(starts) / k
    half = _T[min(k - 1, max(_T))] * statistics.stdev(starts) * math.sqrt(1 + 1 / k)
    low, high = _back(middle - half, positive), _back(middle + half, positive)
    # What lies between a run's quartiles is seen by half of its own samples: no next start surprises less.
    if inside and positive:
        below = statistics.median(q1 / value for (_, value), (q1, _) in zip(values, inside, strict=True))
        above = statistics.median(q3 / value for (_, value), (_, q3) in zip(values, inside, strict=True))
        low, high = min(low, value * below), max(high, value * above)
    least = LEAST_WIDTH * abs(value)
    return Expected(value, min(low, value - least), max(high, value + least), k, len(values))


def _back(value: float, from_log: bool) -> float:
    return math.exp(value) if from_log else value
