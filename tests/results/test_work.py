"""Declared work: what a variant counts beside its traffic, how much of it is done, and what it gains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpuguide.errors import ArgumentError, UnknownNameError
from gpuguide.recordings.plain import build, to_plain
from gpuguide.results.records import Measurement, VariantInfo, Work
from gpuguide.results.results import Results
from study_results import cell, make, on_starts

SIZE = 2**20
VARIANTS = (
    VariantInfo("all", "Every number"),
    VariantInfo("copied", "Every number, copied", clock="end_to_end"),
    VariantInfo("odd", "Odd numbers"),
    VariantInfo("sieve", "A sieve"),
)


def work(**counts: int) -> tuple[Work, ...]:
    return tuple(Work(name, count, 4e9 if name == "marks" else None) for name, count in counts.items())


def study(**changes: Any) -> Results:
    cells = (
        cell("all", SIZE, 8_000_000, work=work(warp_steps=27_361_402)),
        cell("copied", SIZE, 9_000_000, clock="end_to_end", work=work(warp_steps=1)),
        cell("odd", SIZE, 2_000_000, work=work(warp_steps=7_200_369)),
        cell("sieve", SIZE, 1_000_000, work=work(marks=3_000_000, zeros=0)),
    )
    return make(**({"variants": VARIANTS, "measurements": cells} | changes))


@pytest.mark.parametrize(
    ("ask", "shown", "basis"),
    [
        (("odd", "work", "warp_steps"), "7.20 million", "counted on the host"),
        (("odd", "gain", "warp_steps"), "3.8×", "counted on the host"),
        (("odd", "rate", "warp_steps"), "3.6 G/s", "one machine start, 6 samples"),
        (("sieve", "share", "marks"), "75 %", "one machine start, 6 samples"),
        (("sieve", "work", "zeros"), "0", "counted on the host"),
    ],
)
def test_work_is_counted_and_its_rate_measured(ask: tuple[str, str, str], shown: str, basis: str) -> None:
    variant, quantity, name = ask
    found = study().quantity(variant, SIZE, quantity, work=name)
    assert (str(found), found.basis) == (shown, basis)


def test_the_gain_names_both_sides_and_passes_over_other_clocks() -> None:
    assert study().quantity("odd", SIZE, "gain", work="warp_steps").ratio_of == "Every number / Odd numbers"


def test_over_three_starts_the_rate_has_a_range_and_the_count_none() -> None:
    results = on_starts(study(), 1.0, 1.1, 1.05)
    rate = results.quantity("odd", SIZE, "rate", work="warp_steps")
    assert (str(rate), rate.n_starts) == ("3.4 G/s", 3)
    assert rate.low < rate.value < rate.high
    assert rate.value * results.time("odd", SIZE).value == pytest.approx(7_200_369, rel=1e-3)
    count = results.quantity("odd", SIZE, "work", work="warp_steps")
    assert (count.value, count.has_range) == (7_200_369, False)


def test_a_share_ends_at_one() -> None:
    quick = study(measurements=(cell("sieve", SIZE, 745_000, work=work(marks=3_000_000)),))
    assert quick.quantity("sieve", SIZE, "share", work="marks").value == 1.0


def test_a_cell_that_only_a_former_run_measured_keeps_its_work() -> None:
    skipped = Measurement("odd", SIZE, reason="took too long")
    newest = study(measurements=(skipped,), others=(study(start="a"),), start="b")
    assert newest.quantity("odd", SIZE, "work", work="warp_steps").value == 7_200_369


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (("odd", "work", "warp_step"), "Unknown work 'warp_step'. Did you mean 'warp_steps'?"),
        (
            ("odd", "work", None),
            "Quantity 'work' takes the name of a work, such as 'warp_steps'; got None.",
        ),
        (("odd", "time", "warp_steps"), "Quantity 'time' takes no work; got 'warp_steps'."),
        (
            ("all", "gain", "warp_steps"),
            "'all' at 2^20 has no gain: no variant above it on its clock counts 'warp_steps' there.",
        ),
        (
            ("odd", "share", "warp_steps"),
            "'odd' at 2^20 has no share: its work 'warp_steps' declares no ceil",
        ),
        (("sieve", "gain", "marks"), "'sieve' at 2^20 has no gain: no variant above"),
    ],
)
def test_what_is_not_there_says_why(ask: tuple[str, str, str | None], message: str) -> None:
    variant, quantity, name = ask
    with pytest.raises((ArgumentError, UnknownNameError)) as error:
        study().quantity(variant, SIZE, quantity, work=name)
    assert str(error.value).startswith(message)


def test_a_variant_without_work_says_how_to_declare_it() -> None:
    with pytest.raises(ArgumentError) as error:
        make().quantity("one", SIZE, "rate", work="marks")
    assert str(error.value) == "'one' at 2^20 declares no work. Give its variant work={'marks': count}."


def test_the_table_shows_what_was_counted() -> None:
    table = study().table()
    rows = {row.label: row for row in table.rows if row.raw["size"] == SIZE}
    assert rows["Odd numbers"].cells["work"] == "7.20 million warp steps at 3.6 G/s"
    assert rows["A sieve"].cells["work"] == "3.00 million marks at 3.0 G/s; 0 zeros at 0 /s"
    assert rows["A sieve"].raw["work"] == "marks=3000000; zeros=0"
    assert "work" not in [column.key for column in make().table().shown]


def test_where_nothing_is_counted_there_is_no_gain() -> None:
    cells = (
        cell("all", SIZE, 8, work=work(marks=4)),
        cell("odd", SIZE, 8, work=work(marks=0)),
    )
    with pytest.raises(ArgumentError, match="'odd' at 2\\^20 has no gain: it does none of 'marks'"):
        study(measurements=cells).quantity("odd", SIZE, "gain", work="marks")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("warp steps", 1), "Work.name: expected a word such as 'warp_steps'; got 'warp steps'."),
        (("marks", -1), "Work.count: expected at least 0; got -1."),
        (("marks", 1, 0.0), "Work.ceiling: expected a rate above 0; got 0.0."),
    ],
)
def test_work_that_makes_no_sense_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        Work(*arguments)
    assert str(error.value) == message


def test_each_work_stands_once() -> None:
    with pytest.raises(ArgumentError, match="expected each work once; got 'marks' again"):
        cell("odd", SIZE, 8, work=(Work("marks", 1), Work("marks", 1)))


def test_work_is_written_only_where_there_is_some() -> None:
    """So that what was recorded before there was work stays as it is, to the byte."""
    bare = cell("odd", SIZE, 8)
    assert "work" not in to_plain(bare)
    assert build(Measurement, to_plain(bare), "f") == bare
    full = replace(bare, work=work(marks=3))
    assert to_plain(full)["work"] == [{"name": "marks", "count": 3, "ceiling": 4e9}]
    assert build(Measurement, to_plain(full), "f") == full
