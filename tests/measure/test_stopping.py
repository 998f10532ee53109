"""When sampling stops, and which samples get a warning."""

from __future__ import annotations

import numpy as np
import pytest

from gpuguide.measure.stopping import enough, has_two_modes

MS = 1_000_000


class TestEnough:
    def test_ten_equal_samples(self):
        assert not enough([1_000] * 9)
        assert enough([1_000] * 10)

    def test_one_outlier_on_either_side_does_not_hold_up_ten(self):
        assert enough([500] + [1_000] * 8 + [1_500])
        assert not enough([500] * 2 + [1_000] * 6 + [1_500] * 2)

    def test_ten_samples_of_two_modes_go_on(self):
        """What `has_two_modes` cannot see in ten samples does not stop there."""
        assert not enough([1_000] * 8 + [1_021] * 2)
        assert not enough([1_000] * 5 + [1_021] * 5)

    def test_three_slow_ones(self):
        assert not enough([201 * MS] * 2)
        assert enough([201 * MS] * 3)
        assert not enough([199 * MS] * 3)

    def test_a_wide_interval_goes_on_to_a_hundred(self):
        spread = [1_000, 2_000] * 50
        assert not enough(spread[:99])
        assert enough(spread)

    def test_a_narrow_interval_is_one_percent_either_side(self):
        assert enough([995, 1_005] * 10)
        assert not enough([985, 1_015] * 10)

    def test_the_budget_stops_anything_but_nothing(self):
        assert enough([1], spent_s=0.3, budget_s=0.3)
        assert not enough([], spent_s=9, budget_s=0.3)


def normal(n: int, centre: float, spread: float) -> list[float]:
    return np.random.default_rng(n).normal(centre, spread, n).tolist()


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (normal(30, 100, 1) + normal(31, 110, 1), True),
        (normal(20, 100, 1) + normal(80, 110, 1), True),
        ([100.0] * 15 + [110.0] * 15, True),
        (normal(100, 100, 1), False),
        (np.linspace(90, 110, 100).tolist(), False),
        (normal(30, 100, 1) + normal(31, 103, 1), False),
        ([100.0] * 50, False),
        ([100.0] * 26 + [190.0, 200.0, 210.0], False),
        ([100.0] * 15 + [101.9] * 15, False),
        ([100.0] * 9 + [110.0] * 10, False),
    ],
    ids=[
        "two",
        "fifth in one",
        "exact",
        "normal",
        "uniform",
        "overlap",
        "constant",
        "outliers",
        "too near",
        "too few",
    ],
)
def test_two_modes(samples: list[float], expected: bool) -> None:
    assert has_two_modes(samples) is expected


def test_two_modes_are_seldom_seen_where_there_is_one() -> None:
    rng = np.random.default_rng(3)
    seen = sum(has_two_modes(100 + 3 * rng.exponential(size=20)) for _ in range(500))
    assert seen <= 0.04 * 500


def around(centre: float, spread: float, n: int = 10) -> list[float]:
    """Samples in turn below and above a centre: their standard deviation is 1.054 times the spread."""
    return [centre - spread, centre + spread] * (n // 2)


@pytest.mark.parametrize(("apart", "expected"), [(5.2, False), (5.4, True)])
def test_two_modes_are_five_standard_deviations_apart(apart: float, expected: bool) -> None:
    assert has_two_modes(around(100, 1) + around(100 + apart, 1)) is expected


@pytest.mark.parametrize(("apart", "expected"), [(3.6, False), (3.9, True)])
def test_the_deviation_is_the_mean_of_both_groups(apart: float, expected: bool) -> None:
    assert has_two_modes([100.0] * 10 + around(100 + apart, 1)) is expected


def test_a_mode_holds_a_fifth_of_the_samples() -> None:
    assert has_two_modes(around(100, 1, n=20) + [120.0] * 5)
    assert not has_two_modes(around(100, 1, n=20) + [120.0] * 4)
