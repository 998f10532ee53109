"""A number over the runs: its median, its range, what is marked, and how it is printed."""

from __future__ import annotations

import pytest

from gpuguide.errors import ArgumentError
from gpuguide.results.history import History, Run, follow
from gpuguide.results.results import InRun


def starts(*values: float | None) -> list[tuple[str, float | None]]:
    return [(f"start {number}", value) for number, value in enumerate(values)]


def history(*values: float | None, n: int = 1) -> History:
    numbers = tuple(follow("add at 2^20 elements", f"variant {i}", "s", starts(*values)) for i in range(n))
    return History(
        "add on a machine",
        tuple(Run(f"2026-11-{i + 1:02}T10:30:00Z", i + 1) for i in range(len(values))),
        numbers,
    )


@pytest.mark.parametrize(
    ("values", "left"),
    [
        ((1.0, 1.01, 1.02, 1.01), ()),
        ((1.0, 1.01, 1.02, 1.5), (3,)),
        ((1.0, 1.01, 1.02, 0.5, 1.0), (3,)),
        # Two starts give no range, which no third can leave.
        ((1.0, 1.01, 9.0), ()),
        ((1.0, 1.01, None, 1.02, 9.0), (4,)),
    ],
)
def test_a_run_is_held_against_those_before_it(
    values: tuple[float | None, ...], left: tuple[int, ...]
) -> None:
    """Not against a range that it widened itself."""
    number = follow("", "", "s", starts(*values))
    assert tuple(i for i, out in enumerate(number.left) if out) == left


def test_runs_of_one_start_count_as_one() -> None:
    number = follow("", "", "s", [("a", 1.0), ("a", 1.1), ("b", 1.05), ("b", 5.0)])
    assert (number.over.n_starts, number.over.n_runs, any(number.left)) == (2, 4, False)


def test_the_spread_inside_the_runs_widens_what_is_expected() -> None:
    found = [(name, InRun("", 1.0, 0.8, 1.2, 10)) for name in "abc"]
    number = follow("", "", "s", [*found, ("d", 1.15)])
    assert not any(number.left)
    assert any(follow("", "", "s", starts(1.0, 1.0, 1.0, 1.15)).left)


def test_a_number_that_no_run_has_is_refused() -> None:
    with pytest.raises(ArgumentError, match="the fast one: expected a run with this number; got none"):
        follow("", "the fast one", "s", starts(None, None))


def test_a_few_numbers_are_printed_run_by_run() -> None:
    assert str(history(1.0, 1.01, 1.02, 1.5)) == (
        "add on a machine, 4 runs on 4 machine starts: add at 2^20 elements\n"
        "run               machine start    variant 0\n"
        "2026-11-01 10:30  1                   1.00 s\n"
        "2026-11-02 10:30  2                   1.01 s\n"
        "2026-11-03 10:30  3                   1.02 s\n"
        "2026-11-04 10:30  4                  1.50 s*\n"
        "all               median               1.0 s\n"
        "                  next start from     700 ms\n"
        "                  next start to        1.9 s\n"
        "* lies outside the range that the runs before it predicted (nine times out of ten)."
    )


def test_many_numbers_have_a_row_each() -> None:
    first, headings, row, *_, note = str(history(1.0, None, n=4)).splitlines()
    assert headings.split() == ["where", "what", "median", "11-01", "(1)"]
    assert row.split() == ["add", "at", "2^20", "elements", "variant", "0", "1.0", "s", "1.00", "s"]
    assert note == "A second run will show how far these numbers move."
    assert first == "add on a machine, 2 runs on two machine starts"


def test_one_run_says_that_nothing_can_have_moved() -> None:
    assert str(history(1.0)).endswith("\nA second run will show how far these numbers move.")
    assert not history(1.0).moved
    assert str(History("empty", (Run("2026-11-01", 1),), ())).endswith("Nothing was measured.")


def test_the_words_name_each_number_and_the_run_that_left() -> None:
    assert history(1.0, 1.01, 1.02, 1.5).in_words() == (
        "Numbers against 4 runs on 4 machine starts, each in per cent of its median. variant 0 (add at 2^20 "
        "elements): from 99 to 148 % of 1.0 s, outside of what was expected in run 4."
    )


def test_a_number_that_goes_one_way_is_said_to_drift() -> None:
    """Each start may lie inside of the range of those before it, and the next ones will not."""
    drifting = history(1.0, 1.1, 1.2, 1.3, 1.5)
    said = "variant 0 tended up over 5 machine starts, by 50 % in all."
    assert said in str(drifting)
    assert "tended up over" in drifting.in_words()
    assert "start to start" not in str(history(1.0, 1.2, 1.1, 1.3, 1.0))
