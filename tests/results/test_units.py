"""Sizes and timed regions in words: one writer for tables, charts and prose."""

import pytest

from gpuguide.charts.marks import timed_words
from gpuguide.results.records import CLOCKS, VariantInfo
from gpuguide.results.results import with_region
from gpuguide.results.sample import sample_results
from gpuguide.results.units import REGIONS, format_size, size_words


@pytest.mark.parametrize(
    ("size", "plain", "words"),
    [
        (0, "0", "0"),
        (999, "999", "999"),
        (1000, "10^3", "10³"),
        (1823, "1823", "1823"),
        (65_536, "2^16", "2¹⁶"),
        (65_537, "65 537", "65\u202f537"),
        (10**9, "10^9", "10⁹"),
        (2**28, "2^28", "2²⁸"),
    ],
)
def test_prose_and_tables_write_the_same_size(size: int, plain: str, words: str) -> None:
    assert (format_size(size), size_words(size)) == (plain, words)


def test_each_clock_has_its_words() -> None:
    assert tuple(REGIONS) == CLOCKS
    assert all(all(region) for region in REGIONS.values())


@pytest.mark.parametrize(
    ("clock", "in_a_table", "on_an_axis"),
    [
        ("device", "kernel", "on the GPU"),
        ("launch", "launch", "of the launch"),
        ("end_to_end", "end to end", "until the result is there"),
        ("host", "CPU", "on the CPU"),
    ],
)
def test_table_and_axis_name_the_same_region(clock: str, in_a_table: str, on_an_axis: str) -> None:
    assert with_region(VariantInfo("one", "One", clock=clock)) == f"One ({in_a_table})"
    assert timed_words(sample_results(), ["numba"], clock) == on_an_axis
