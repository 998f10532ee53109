"""Ceilings by mix, and which part of them a measurement reaches."""

import dataclasses

import pytest

from gpuguide.errors import ImplausibleError, UnknownNameError
from gpuguide.results.ceilings import Ceiling, Ceilings, in_l2
from gpuguide.results.records import Measurement, Traffic
from study_results import CEILINGS, L2, SIZES, cell, make, missing


@pytest.mark.parametrize(
    ("read", "written", "expected"),
    [(0, 8, 3.0e12), (1, 1, 4.0e12), (8, 0, 4.5e12), (1, 3, 3.5e12), (3, 1, 4.25e12)],
)
def test_a_mix_lies_between_its_neighbours(read: int, written: int, expected: float) -> None:
    assert CEILINGS.for_traffic(Traffic(read, written)) == pytest.approx(expected)


def test_the_nearest_neighbours_count() -> None:
    """With 2 : 1 measured, a mix of five sixths lies between it and reading alone."""
    ceilings = Ceilings((*CEILINGS.items, Ceiling("two_to_one", 2.5e12, "B/s")))
    assert ceilings.for_traffic(Traffic(8, 4)) == 2.5e12
    assert ceilings.for_traffic(Traffic(5, 1)) == pytest.approx(3.5e12)


def test_a_mix_outside_of_the_measured_ones_has_no_ceiling() -> None:
    only_copy = Ceilings((Ceiling("copy", 4.0e12, "B/s"), Ceiling("fp32", 5e13, "FLOP/s")))
    with pytest.raises(UnknownNameError, match="Unknown ceiling for a mix of which 100% is read"):
        only_copy.for_traffic(Traffic(bytes_read=8))


def test_an_unknown_ceiling_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as error:
        CEILINGS.get("fp23")
    assert str(error.value) == "Unknown ceiling 'fp23'. Did you mean 'fp32'?"


def test_share_is_of_the_own_mix() -> None:
    """8 bytes x 2^26 in 160 us are 3.36 TB/s, of 4 TB/s for a copy."""
    found = make().share("four", SIZES[2])
    assert found is not None
    assert found.value == pytest.approx(8 * 2**26 / 160e-6 / 4e12)


@pytest.mark.parametrize(
    "measured",
    [
        cell("one", 2**20, 8_000),
        cell("one", 2**26, 200_000, traffic=None),
        cell("one", 2**26, 200_000, clock="launch"),
        cell("numpy", 2**26, 60_000_000),
        missing("one", 2**26, "no GPU"),
    ],
    ids=["in L2", "no traffic", "launch", "CPU", "no samples"],
)
def test_where_a_share_says_nothing_there_is_none(measured: Measurement) -> None:
    assert CEILINGS.share(measured, L2) is None


def test_no_share_without_cache_size_or_ceilings() -> None:
    assert CEILINGS.share(cell("one", 2**26, 200_000), None) is None
    assert make(ceilings=None).share("one", 2**26) is None


def test_four_times_the_cache_is_out_of_it() -> None:
    measured = cell("one", 1000, 10)
    assert not in_l2(measured, 2000)
    assert in_l2(measured, 2001)


def test_a_share_over_one_is_one_within_two_per_cent() -> None:
    """8 bytes x 2^26 at 4 TB/s take 134.2 us."""
    assert CEILINGS.share(cell("one", 2**26, 132_500), L2) == 1.0


def test_a_share_over_that_is_an_error() -> None:
    with pytest.raises(ImplausibleError) as error:
        CEILINGS.share(cell("one", 2**26, 100_000), L2)
    assert str(error.value) == (
        "'one' at 67108864 would reach 134.2% of the memory ceiling. "
        "Expected at most 102 %: check its traffic model, and measure the ceilings again."
    )


def test_arithmetic_is_held_against_its_own_unit() -> None:
    busy = Traffic(bytes_read=8, flops=50_000_000)
    assert CEILINGS.flop_share(cell("one", 8, 2_000, traffic=busy)) == 0.5
    assert CEILINGS.flop_share(cell("one", 8, 2_000, traffic=dataclasses.replace(busy, unit="tf32"))) is None
    assert CEILINGS.flop_share(cell("one", 8, 2_000, traffic=busy, clock="launch")) is None
    with pytest.raises(ImplausibleError, match=r"would reach 200\.0% of the fp32 ceiling"):
        CEILINGS.flop_share(cell("one", 8, 500, traffic=busy))


def test_a_ceiling_is_found_by_its_mix() -> None:
    assert [CEILINGS.get(mix).value for mix in ("write", "copy", "fp32")] == [3.0e12, 4.0e12, 5.0e13]


def test_bytes_without_operations_lack_no_bytes() -> None:
    moved = cell("one", 8, 5, traffic=Traffic(bytes_read=64))
    assert "which serves part of it" in CEILINGS.lack(moved, "share", L2)
    assert CEILINGS.lack(moved, "flop_share", L2) == "its traffic model counts no operations"
