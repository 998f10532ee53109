"""Short forms of variants, and the work and traffic that they declare: counted exactly, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.machine.device import EXAMPLE_DEVICE
from gpuguide.measure.plan import Variant, cpu, end_to_end, gpu, kernel, per_element
from gpuguide.results.records import Traffic, Work


def call(x: Any, out: Any) -> None:
    """Do nothing."""


def blocks(n: int) -> tuple[int, int]:
    return n // 32, 32


@pytest.mark.parametrize(
    ("made", "written_out"),
    [
        (cpu(call, "It", threads=8), {"device": "cpu", "clock": "host", "threads": 8}),
        (kernel(call, "It", blocks), {"arrays": "numba", "grid": blocks}),
        (gpu(call, "It", mutates=True), {"simulatable": False, "mutates": True}),
        (end_to_end(call, "It"), {"clock": "end_to_end", "simulatable": False}),
        (cpu(call, "It", name="it"), {"name": "it", "device": "cpu", "clock": "host", "threads": 1}),
    ],
)
def test_a_short_form_is_a_variant_written_out(made: Variant, written_out: Any) -> None:
    assert made == Variant(**{"name": "call", "call": call, "label": "It"} | written_out)
    assert made.note == "Do nothing."


@pytest.mark.parametrize("dtype", ["float64", np.float64])
def test_traffic_of_whole_arrays_grows_with_the_size(dtype: Any) -> None:
    traffic = per_element(reads=2, writes=1, flops=3, unit="fp64")
    assert traffic(1000, dtype) == Traffic(16_000, 8000, 3000, "fp64")
    assert per_element(reads=0, writes=1)(10, dtype) == Traffic(0, 80)


MARKS = {"work": {"marks": lambda n: 2 * n, "words": lambda n, dtype: np.int64(n * dtype.itemsize // 4)}}
CEILING = {"work_ceilings": {"marks": lambda device: 32 * device.sm_count * device.sm_clock_hz}}


def test_work_is_counted_from_the_size_and_the_type() -> None:
    made = gpu(call, "It", **MARKS, **CEILING)
    dtype = np.dtype("float64")
    ceiling = 32 * 132 * 1.98e9
    assert made.counted(10, dtype, EXAMPLE_DEVICE) == (Work("marks", 20, ceiling), Work("words", 20))
    assert made.counted(10, dtype, None) == (Work("marks", 20), Work("words", 20))
    assert type(made.counted(10, dtype, None)[1].count) is int


@pytest.mark.parametrize("wrong", [2.0, -1, True, None])
def test_a_count_that_is_none_is_refused(wrong: Any) -> None:
    made = cpu(call, "It", work={"marks": lambda n: wrong})
    message = rf"work 'marks' must be counted exactly, as an integer .*; got {wrong!r} at 10\^6"
    with pytest.raises(ArgumentError, match=message):
        made.counted(10**6, np.dtype("int8"), None)


def test_a_ceiling_that_no_work_has_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"work_ceilings: Unknown work 'mark'. Did you mean 'marks'"):
        gpu(call, "It", **MARKS, work_ceilings={"mark": float})
    with pytest.raises(ArgumentError, match="work_ceilings are those of a GPU"):
        cpu(call, "It", **MARKS, **CEILING)
