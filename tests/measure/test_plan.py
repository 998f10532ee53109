"""Variants and traffic that are made in one line: what they leave out is what their name says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure.plan import (
    Variant,
    cpu_variant,
    cupy_variant,
    end_to_end_variant,
    kernel_variant,
    streaming_traffic,
)
from gpuguide.results.records import Traffic, Work


def call(x: Any, out: Any) -> None:
    """Do nothing."""


@pytest.mark.parametrize(
    ("made", "written_out"),
    [
        (cpu_variant("it", call), Variant("it", call, device="cpu", clock="host", threads=1)),
        (cpu_variant("it", call, threads=8), Variant("it", call, device="cpu", clock="host", threads=8)),
        (kernel_variant("it", call), Variant("it", call, arrays="numba")),
        (cupy_variant("it", call), Variant("it", call, simulatable=False)),
        (end_to_end_variant("it", call), Variant("it", call, clock="end_to_end", simulatable=False)),
    ],
)
def test_a_short_form_is_a_variant_written_out(made: Variant, written_out: Variant) -> None:
    assert made == written_out
    assert (made.label, made.note) == ("it", "Do nothing.")


def test_a_short_form_takes_what_a_variant_takes() -> None:
    made = kernel_variant("it", call, "Its label", mutates=True, arrays="cupy", max_size=3)
    assert made == Variant("it", call, label="Its label", mutates=True, arrays="cupy", max_size=3)
    assert replace(made, label="it").label == "it"


@pytest.mark.parametrize("dtype", ["float64", np.dtype("float64"), np.float64])
def test_traffic_of_whole_arrays_grows_with_the_size(dtype: Any) -> None:
    traffic = streaming_traffic(reads=2, writes=1, flops=3, unit="fp64")
    assert traffic(1000, dtype) == Traffic(16_000, 8000, 3000, "fp64")
    assert traffic(0, dtype).bytes_total == 0
    assert streaming_traffic(reads=0, writes=1)(10, dtype) == Traffic(0, 80)


def marks(n: int) -> int:
    """Two for each."""
    return 2 * n


def words(n: int, dtype: Any) -> Any:
    return np.int64(n * np.dtype(dtype).itemsize // 4)


def per_second(device: Any) -> float:
    return 32 * device.sm_count * device.sm_clock_hz


def test_work_is_counted_on_the_host_from_the_size_and_the_type() -> None:
    made = kernel_variant(
        "it", call, work={"marks": marks, "words": words}, work_ceilings={"marks": per_second}
    )
    ceiling = 32 * 132 * 1.98e9
    dtype = np.dtype("float64")
    assert made.counted(10, dtype, EXAMPLE_DEVICE) == (Work("marks", 20, ceiling), Work("words", 20))
    assert type(made.counted(10, dtype, None)[1].count) is int
    assert made.counted(10, dtype, None) == (Work("marks", 20), Work("words", 20))
    assert kernel_variant("it", call).counted(10, dtype, EXAMPLE_DEVICE) == ()
    assert hash(made) == hash(replace(made, work={}, work_ceilings={}))


@pytest.mark.parametrize("wrong", [2.0, -1, True, None])
def test_a_count_that_is_none_is_refused(wrong: Any) -> None:
    made = cpu_variant("it", call, work={"marks": lambda n: wrong})
    with pytest.raises(ArgumentError) as error:
        made.counted(10**6, np.dtype("int8"), None)
    assert str(error.value) == (
        "Variant 'it': work 'marks' must be counted exactly, as an integer of at least 0; "
        f"got {wrong!r} at 10^6."
    )


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (
            kernel_variant,
            {"work": {"marks": marks}, "work_ceilings": {"mark": per_second}},
            "work_ceilings: Unknown work 'mark'. Did you mean 'marks'",
        ),
        (
            cpu_variant,
            {"work": {"marks": marks}, "work_ceilings": {"marks": per_second}},
            "work_ceilings are those of a GPU",
        ),
    ],
)
def test_a_ceiling_that_no_work_has_is_refused(make: Any, options: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make("it", call, **options)
