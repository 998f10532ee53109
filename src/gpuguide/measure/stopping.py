"""When there are enough samples, and when their median misleads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import numpy as np

__all__ = ["MAX_SAMPLES", "SLOW_NS", "enough", "has_two_modes"]

MAX_SAMPLES = 100
"""The most samples of a cell; beyond that, batches get longer instead."""
SLOW_NS = 200_000_000
"""Nanoseconds above which a sample is slow, so that three are enough."""
_MIN_SAMPLES, _MIN_SLOW_SAMPLES = 10, 3
_HALF_WIDTH = 0.01
_MODES_APART = 0.02


def enough(samples_ns: Sequence[int], *, spent_s: float = 0.0, budget_s: float = math.inf) -> bool:
    """Return whether sampling may stop."""
    n = len(samples_ns)
    if n == 0:
        return False
    # Tested before the minimum number of samples: a call that exceeds its budget is not made ten times.
    if n >= MAX_SAMPLES or spent_s >= budget_s:
        return True
    if n < (_MIN_SLOW_SAMPLES if max(samples_ns) > SLOW_NS else _MIN_SAMPLES):
        return False
    return _half_width(samples_ns) <= _HALF_WIDTH * median(samples_ns)


def _half_width(samples: Sequence[float]) -> float:
    """Return half the width of the 95 % interval of the median, by order statistics.

    Fewer than six samples have no such interval: then it is half of their range.
    """
    ordered, n = sorted(samples), len(samples)
    # The chance that the median lies below the sample of rank k + 1 is sum(C(n, i), i <= k) / 2^n.
    rank, tail = 0, 1
    while (tail + math.comb(n, rank + 1)) / 2**n <= 0.05 / 2:
        rank += 1
        tail += math.comb(n, rank)
    return (ordered[n - 1 - rank] - ordered[rank]) / 2


def has_two_modes(samples: Sequence[float]) -> bool:
    """Return whether samples fall into two groups, so that their median represents neither.

    The sorted samples are split where the squared distance to the two means is least. Each group must hold a
    fifth of them, and the means must differ by 2 % and by more than five standard deviations of a group (D of
    Ashman, Bird and Zepf, The Astronomical Journal 108, 1994). Splitting one group in two gives a D of 2.7
    (normal) to 3.5 (uniform), hence not their limit of 2.

    Fewer than 20 samples say too little, so a cell that stopped earlier is never reported. If it stopped at
    10 because they agree, nothing is lost: their interval leaves out only the smallest and the largest, so it
    covers both groups, and groups 2 % apart would have made it too wide to stop. If it stopped because its
    budget was spent, after a few slow calls, two modes may go unnoticed.
    """
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    n = len(ordered)
    if n < 20:
        return False
    least = math.ceil(n / 5)
    splits = [(ordered[:k], ordered[k:]) for k in range(least, n - least + 1)]
    fast, slow = min(splits, key=lambda split: sum(len(group) * group.var() for group in split))
    apart = slow.mean() - fast.mean()
    spread = math.sqrt((fast.var(ddof=1) + slow.var(ddof=1)) / 2)
    return bool(apart > _MODES_APART * fast.mean() and apart > 5 * spread)
