"""New medians are held against the ranges that the recordings print; too few inside, or too wide, fails."""

from __future__ import annotations

import dataclasses
import random
import re

import pytest

from gpuguide_docs.record.again import Reading, compare, leave_one_out, report, shortcomings


def reading(what="page: study[four, 10^3]", clock="device", start="a", median_s=1e-3, spread=0.0):
    return Reading(what, clock, start, (median_s * (1 - spread), median_s, median_s * (1 + spread)))


LANDED = [
    reading(start=start, median_s=1e-3 * factor) for start, factor in zip("abc", (1, 1.01, 1.02), strict=True)
]


def test_a_median_is_held_against_the_range_of_three_starts():
    (trial,) = compare(LANDED, [reading(start="d", median_s=1.03e-3)])
    assert trial.is_inside
    assert trial.miss == 0
    assert trial.expected.value == pytest.approx(1.01e-3)
    assert trial.half_width == pytest.approx(0.0335, rel=0.02), "2.92 * sqrt(4 / 3) times the deviation"
    (trial,) = compare(LANDED, [reading(start="d", median_s=1.06e-3)])
    assert not trial.is_inside
    assert trial.miss == pytest.approx(1.06e-3 / trial.expected.high - 1)
    (trial,) = compare(LANDED, [reading(start="d", median_s=0.9e-3)])
    assert trial.miss == pytest.approx(trial.expected.low / 0.9e-3 - 1)


def test_the_spread_inside_a_run_widens_the_range():
    landed = [dataclasses.replace(row, quartiles_s=reading(spread=0.2).quartiles_s) for row in LANDED]
    (trial,) = compare(landed, [reading(start="d", median_s=1.15e-3)])
    assert trial.is_inside


def test_runs_of_one_start_count_as_one():
    new = [reading(start="d", median_s=1e-3), reading(start="d", median_s=1.04e-3), reading(start="e")]
    first, second = compare([*LANDED, LANDED[0]], new)
    assert first.found_s == pytest.approx(1.0198e-3, rel=1e-3)
    assert second.found_s == pytest.approx(1e-3)
    assert first.expected.n_starts == 3


def test_a_cell_without_a_range_or_without_a_counterpart_is_not_judged():
    assert compare(LANDED[:2], [reading(start="d")]) == []
    assert compare(LANDED, [reading(start="d", clock="launch")]) == []


def test_each_start_is_told_from_the_others():
    rows = [*LANDED, reading(start="d", median_s=2e-3)]
    trials = leave_one_out(rows)
    assert len(trials) == 4
    assert [trial.is_inside for trial in trials] == [True, True, True, False]
    assert leave_one_out(LANDED) == [], "two starts have no range"


def cells(n, inside, clock="device", deviation=0.001):
    """Trials of n cells, of which `inside` lie in their ranges."""
    trials = []
    for i in range(n):
        landed = [
            reading(f"cell {i}", clock, start, 1e-3 * (1 + k * deviation)) for k, start in enumerate("abc")
        ]
        trials += compare(landed, [reading(f"cell {i}", clock, "d", 1e-3 if i < inside else 5e-3)])
    return trials


@pytest.mark.parametrize("clock", ["device", "launch", "host", "end_to_end"])
def test_below_85_per_cent_inside_fails_for_each_clock(clock):
    assert shortcomings(cells(20, 17, clock)) == []
    assert shortcomings(cells(20, 16, clock)) == [f"{clock}: 80.0% inside; at least 85% were expected"]


def test_fewer_than_twenty_medians_are_not_judged():
    assert shortcomings(cells(19, 0)) == []


def test_ranges_that_are_too_wide_fail_on_the_device_clock_alone():
    (line,) = shortcomings(cells(20, 20, deviation=0.02))
    assert line.startswith("device: half a range is ")
    assert shortcomings(cells(20, 20, "host", deviation=0.02)) == []


def test_the_report_counts_by_clock_and_names_the_worst_first():
    misses = [
        *compare(LANDED, [reading(start="d", median_s=1.2e-3)]),
        *compare(
            [dataclasses.replace(row, what="page: study[one, 10^3]") for row in LANDED],
            [reading("page: study[one, 10^3]", start="d", median_s=3e-3)],
        ),
    ]
    text = report([*cells(20, 20, "host"), *misses])
    assert re.search(r"^device +2 +0\.0% +3\.\d%$", text, re.MULTILINE)
    assert re.search(r"^host +20 +100\.0%", text, re.MULTILINE)
    assert text.index("study[one, 10^3], device: 3.0 ms, expected") < text.index(
        "study[four, 10^3], device: 1.2 ms"
    )


def test_most_starts_of_a_machine_without_drift_lie_in_the_ranges_of_three():
    """What `make again` counts is what a page promises: nine of ten, with the effect of a start as large."""
    rng = random.Random(11)
    new, landed = [], []
    for i in range(600):
        for start in "abcd":
            median_s = 1e-3 * rng.lognormvariate(0, 0.1)
            (new if start == "d" else landed).append(reading(f"cell {i}", "host", start, median_s))
    trials = compare(landed, new)
    inside = sum(trial.is_inside for trial in trials) / len(trials)
    assert 0.86 < inside < 0.94
    assert shortcomings(trials) == []
