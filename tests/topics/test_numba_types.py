"""Types by accident: what the reference notices, and instructions in compiled code."""

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

NAMES = ("python_floats", "rounded_steps", "one_left", "float32_only")
COUNTERS = ("range_int64", "range_int32", "own_counter")


# Results ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("doses", [127, 129])
def test_a_dose_too_few_or_too_many_is_noticed(doses: int) -> None:
    """The difference is far outside the tolerance where nearly all of a dose is kept."""
    kept = numba_types.level.make_inputs(257, exact=False)[0].astype(np.float64)
    level = np.zeros_like(kept)
    for _ in range(doses):
        level = (level + numba_types.DOSE) * kept
    expected = numba_types.level_reference(kept)
    allowed = numba_types.level.tolerance.factor(257, np.dtype("float32")) * np.maximum(expected, kept)
    assert (np.abs(level - expected) > 10 * allowed).any()


def test_the_reference_agrees_with_a_sum_in_python() -> None:
    for kept in (0.0, 0.25, 0.999, 1.0):
        terms = [numba_types.DOSE * kept**k for k in range(1, numba_types.DOSES + 1)]
        got = numba_types.level_reference(np.array([kept]))[0]
        assert got == pytest.approx(sum(reversed(terms)), rel=1e-13)


# Compiled code ----------------------------------------------------------------------------------------------


@needs_compilers()
@pytest.mark.parametrize(
    ("name", "float32", "float64"),
    [("python_floats", 0, 128), ("one_left", 0, 128), ("float32_only", 128, 0)],
)
def test_one_literal_decides_where_all_doses_are_computed(name: str, float32: int, float64: int) -> None:
    found = float_instructions(numba_ptx(getattr(kernels, name), vectors()))
    assert (found.float32, found.float64) == (float32, float64)
    assert found.conversions == (2 if float64 else 0)


@needs_compilers()
def test_rounding_each_step_converts_there_and_back_in_each() -> None:
    found = float_instructions(numba_ptx(kernels.rounded_steps, vectors()))
    doses = found.float64 // 2
    assert doses > 1
    assert found.float32 == 0
    assert found.conversions == 2 * doses + 1


@needs_compilers()
def test_float64_arrays_leave_nothing_to_convert() -> None:
    found = float_instructions(numba_ptx(kernels.python_floats, vectors("float64")))
    assert found == FloatInstructions(float32=0, float64=128, conversions=0)


@needs_compilers()
def test_a_factor_of_2_1_is_computed_in_64_bits_and_one_of_2_is_not() -> None:
    def doubled(x, out):
        out[0] = x[0] * 2.0

    by_accident = float_instructions(numba_ptx(kernels.scale_python_float, vectors()))
    assert by_accident == FloatInstructions(0, 1, 2)
    assert float_instructions(numba_ptx(kernels.scale_float32, vectors())).float64 == 0
    assert float_instructions(numba_ptx(doubled, vectors())).float64 == 0


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


def vectors(kind: str = "float32") -> tuple[object, object]:
    import numba

    return (getattr(numba, kind)[::1],) * 2


def test_moves_and_other_conversions_are_not_counted() -> None:
    ptx = "\n".join(
        (
            "\tld.global.f64 %fd1, [%rd1];",
            "\tmov.f64 %fd2, 0d0000000000000000;",
            "\t@%p1 fma.rn.f64 %fd3, %fd1, %fd2, %fd2;",
            "\tcvt.rmi.f32.f32 %f1, %f2;",
            "\tcvt.rn.f32.f64 %f3, %fd3;",
            "\tsetp.lt.f32 %p2, %f1, %f3;",
            "\tcvt.s64.s32 %rd2, %r1;",
            "\t.reg .f64 %fd<4>;",
            "\tst.global.f32 [%rd1], %f3;",
        )
    )
    assert float_instructions(ptx) == FloatInstructions(float32=1, float64=1, conversions=1)


# Data -------------------------------------------------------------------------------------------------------


def test_words_of_a_loop_are_those_for_each_addition() -> None:
    """Of the loop with most additions; what stands outside, and floats, are not counted."""
    rest = "$L__BB0_1:\n\tadd.f32 %f2, %f1, %f1;\n\tadd.s64 %rd2, %rd1, 1;\n\t@%p1 bra \t$L__BB0_1;\n"
    body = "".join(
        (
            "$L__BB0_2:\n",
            "\tfma.rn.f32 %f3, %f2, %f1, %f1;\n\tfma.rn.f32 %f3, %f3, %f1, %f1;\n\tmul.f32 %f4, %f3, %f1;\n",
            "\tadd.s32 %r2, %r1, -2;\n\tsetp.ne.s32 %p1, %r2, 0;\n\tselp.b64 %rd3, -1, 0, %p1;\n",
            "\t@%p1 bra \t$L__BB0_2;\n",
        )
    )
    assert counting_words(f"\tadd.s64 %rd1, %rd1, 8;\n{rest}\n{body}\n\tret;\n") == (1 + 1 + 2) / 2


@pytest.mark.gpu
def test_counts_on_the_gpu_are_those_of_the_page() -> None:
    import cupy as cp

    import gpuguide as gg

    x = gg.numba_view(cp.zeros(1024, cp.float32))
    found = {}
    for name in NAMES:
        kernel = getattr(kernels, name)
        kernel[4, 256](x, x)
        (ptx,) = [ptx for types, ptx in kernel.inspect_asm().items() if "float32" in str(types)]
        found[name] = float_instructions(ptx)
    assert found["python_floats"] == found["one_left"]
    assert found["float32_only"].float64 == 0 < found["float32_only"].float32
    assert found["rounded_steps"].conversions > found["python_floats"].conversions
