"""Types by accident: the reference, and instructions in compiled code."""

import numpy as np
import pytest

from compile_lane import needs_compilers, numba_facts, numba_ptx
from gpuguide.topics.numba_types import kernels
from gpuguide.topics.numba_types import study as numba_types
from gpuguide.topics.numba_types.instructions import (
    FloatInstructions,
    counting_words,
    float_instructions,
)

COUNTERS = ("range_int64", "range_int32", "own_counter")


def test_the_reference_agrees_with_a_sum_in_python() -> None:
    for kept in (0.0, 0.25, 0.999, 1.0):
        terms = [numba_types.DOSE * kept**k for k in range(1, numba_types.DOSES + 1)]
        got = numba_types.level_reference(np.array([kept]))[0]
        assert got == pytest.approx(sum(reversed(terms)), rel=1e-13)


@needs_compilers()
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("python_floats", FloatInstructions(0, 128, 2)),
        ("one_left", FloatInstructions(0, 128, 2)),
        ("float32_only", FloatInstructions(128, 0, 0)),
        ("scale_python_float", FloatInstructions(0, 1, 2)),
    ],
)
def test_one_literal_decides_where_all_is_computed(name: str, expected: FloatInstructions) -> None:
    assert float_instructions(numba_ptx(getattr(kernels, name), vectors())) == expected


@needs_compilers()
def test_a_factor_that_float32_holds_is_multiplied_in_32_bits() -> None:
    def doubled(x, out):
        out[0] = x[0] * 2.0

    for kernel in (kernels.scale_float32, doubled):
        assert float_instructions(numba_ptx(kernel, vectors())).float64 == 0


@needs_compilers()
def test_rounding_each_step_converts_there_and_back_in_each() -> None:
    found = float_instructions(numba_ptx(kernels.rounded_steps, vectors()))
    doses = found.float64 // 2
    assert doses > 1
    assert (found.float32, found.conversions) == (0, 2 * doses + 1)


@needs_compilers()
def test_range_looks_at_every_turn_and_a_counter_of_ones_own_does_not() -> None:
    facts = {name: numba_facts(getattr(kernels, name), counting()) for name in COUNTERS}
    looks = {name: each.count("setp.gt.s") for name, each in facts.items()}
    assert looks["range_int64"] == looks["range_int32"] >= 4
    assert looks["own_counter"] == 0
    assert facts["range_int64"].count("selp.b64") >= 4
    assert facts["range_int32"].count("setp.gt.s64") == facts["range_int32"].count("selp.b64") == 0
    assert all(each.spills == 0 and each.count("add.f64") == 0 for each in facts.values())


@needs_compilers()
def test_range_counts_three_times_for_each_dose_and_twice_that_in_64_bits() -> None:
    words = {name: counting_words(numba_ptx(getattr(kernels, name), counting())) for name in COUNTERS}
    assert (words["range_int64"], words["range_int32"]) == (6, 3)
    assert words["own_counter"] <= 1


def counting() -> tuple[object, ...]:
    from numba import float32, int64

    return float32[::1], int64, float32[::1]


def vectors() -> tuple[object, object]:
    from numba import float32

    return float32[::1], float32[::1]
