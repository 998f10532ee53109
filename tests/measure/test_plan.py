"""Variants and traffic that are made in one line: what they leave out is what their name says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpuguide.measure.plan import (
    Variant,
    cpu_variant,
    cupy_variant,
    end_to_end_variant,
    kernel_variant,
    streaming_traffic,
)
from gpuguide.results.records import Traffic


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
