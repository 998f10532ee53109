"""When sampling stops, and which samples get a warning."""

from __future__ import annotations

import numpy as np
import pytest

from gpuguide.measure.stopping import enough, has_two_modes

MS = 1_000_000


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([1_000] * 9, False),
        ([1_000] * 10, True),
        ([500] + [1_000] * 8 + [1_500], True),  # one outlier on either side
        ([500] * 2 + [1_000] * 6 + [1_500] * 2, False),
        # What `has_two_modes` cannot see in ten samples does not stop there.
        ([1_000] * 8 + [1_021] * 2, False),
        ([201 * MS] * 2, False),
        ([201 * MS] * 3, True),
        ([199 * MS] * 3, False),
        ([1_000, 2_000] * 49, False),
        ([1_000, 2_000] * 50, True),
        ([995, 1_005] * 10, True),  # one percent on either side
        ([985, 1_015] * 10, False),
    ],
)
def test_enough(samples: list[int], expected: bool) -> None:
    assert enough(samples) is expected


def test_the_budget_stops_anything_but_nothing() -> None:
    assert enough([1], spent_s=0.3, budget_s=0.3)
    assert not enough([], spent_s=9, budget_s=0.3)


def around(centre: float, spread: float, n: int = 10) -> list[float]:
    """Samples in turn below and above a centre: their standard deviation is 1.054 times the spread."""
    return [centre - spread, centre + spread] * (n // 2)


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (around(100, 1) + around(105.4, 1), True),  # five standard deviations apart
        (around(100, 1) + around(105.2, 1), False),
        (around(100, 1, n=20) + [120.0] * 5, True),  # a fifth in one of them
        (around(100, 1, n=20) + [120.0] * 4, False),
        ([100.0] * 15 + [102.1] * 15, True),  # 2 % apart
        ([100.0] * 15 + [101.9] * 15, False),
        ([100.0] * 9 + [110.0] * 10, False),  # too few
        (np.linspace(90, 110, 100).tolist(), False),
        ([100.0] * 50, False),
    ],
)
def test_two_modes(samples: list[float], expected: bool) -> None:
    assert has_two_modes(samples) is expected


def test_two_modes_are_seldom_seen_where_there_is_one() -> None:
    rng = np.random.default_rng(3)
    seen = sum(has_two_modes(100 + 3 * rng.exponential(size=20)) for _ in range(500))
    assert seen <= 0.04 * 500
