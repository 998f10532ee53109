"""From samples to figures: medians, quartiles, the interval of one process's median, rates."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpuguide.errors import ArgumentError

__all__ = [
    "bandwidth",
    "flop_rate",
    "median",
    "median_interval",
    "quartiles",
    "seconds",
    "speedup",
]


Samples = Sequence[float] | NDArray[np.float64]


def seconds(samples_ns: Sequence[float], n_calls: int = 1) -> NDArray[np.float64]:
    """Return the seconds of one call from the nanoseconds of batches."""
    # One division, so that the nearest float64 to each exact quotient comes out.
    return np.asarray(samples_ns, dtype=np.float64) / (1e9 * _positive_number("n_calls", n_calls))


def median(samples: Samples) -> float:
    """Return the median."""
    return float(np.median(_finite(samples)))


def quartiles(samples: Sequence[float]) -> tuple[float, float, float]:
    """Return lower quartile, median and upper quartile, linear between the samples next to each."""
    if not samples:
        raise ArgumentError("Expected at least one sample; got none.")
    ordered = sorted(samples)
    last = len(ordered) - 1
    found = []
    for quarter in (1, 2, 3):
        index, rest = divmod(quarter * last, 4)
        below, above = ordered[index], ordered[min(index + 1, last)]
        # In fourths, for whole numbers exact.
        found.append((below * (4 - rest) + above * rest) / 4)
    return found[0], found[1], found[2]


def median_interval(samples: Samples, level: float = 0.95) -> tuple[float, float]:
    """Return an interval that holds the true median of one process, whatever the distribution.

    It says nothing about another process, and even less about another start of the machine, whose median
    usually lies outside of it; see `gpuguide.results.starts.expected` for that.

    The narrowest symmetric pair of order statistics whose exact binomial coverage reaches ``level``
    (Hahn and Meeker, Statistical Intervals, 1991, section 5.2).
    """
    if not 0 < level < 1:
        raise ArgumentError(f"level must be between 0 and 1; got {level!r}.")
    ordered = np.sort(_finite(samples))
    n = len(ordered)
    # The chance that the median lies below the sample of rank k + 1 is sum(C(n, i), i <= k) / 2^n.
    rank, tail = 0, 1
    while (tail + math.comb(n, rank + 1)) / 2**n <= (1 - level) / 2:
        rank += 1
        tail += math.comb(n, rank)
    return float(ordered[rank]), float(ordered[n - 1 - rank])


def speedup(baseline_s: float, candidate_s: float) -> float:
    """Return how many times as fast the candidate is as the baseline."""
    return _positive_number("baseline_s", baseline_s) / _positive_number("candidate_s", candidate_s)


def bandwidth(n_bytes: float, time_s: float) -> float:
    """Return the bytes moved per second."""
    return _not_negative("n_bytes", n_bytes) / _positive_number("time_s", time_s)


def flop_rate(flops: float, time_s: float) -> float:
    """Return the floating-point operations per second."""
    return _not_negative("flops", flops) / _positive_number("time_s", time_s)


def _finite(samples: Samples) -> NDArray[np.float64]:
    values = np.asarray(samples, dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise ArgumentError(f"Expected a sequence of at least one sample; got shape {values.shape}.")
    if not np.isfinite(values).all():
        raise ArgumentError("Expected finite samples; got NaN or infinity among them.")
    return values


def _positive_number(name: str, value: float) -> float:
    if not (value > 0 and math.isfinite(value)):
        raise ArgumentError(f"{name} must be positive and finite; got {value!r}.")
    return value


def _not_negative(name: str, value: float) -> float:
    if not (value >= 0 and math.isfinite(value)):
        raise ArgumentError(f"{name} must be finite and at least 0; got {value!r}.")
    return value
