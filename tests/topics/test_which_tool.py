"""What only the kernels of which_tool promise: rows of any length, and one source for two compilers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpuguide as gg
from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.which_tool import kernels, lines, rivals
from gpuguide.topics.which_tool.study import shares, softmax
from kernel_emulator import needs_host_compiler
from warp_emulator import EmulatedKernel

SHAPES = ((1, 1), (3, 33), (2, 513), (1, 8192))
ROUNDING = {"rtol": 1e-5, "atol": 1e-12}


def numbers(shape: tuple[int, int]) -> np.ndarray:
    return np.random.default_rng(shape[1]).uniform(-90, 90, shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_of_any_length_in_numba(shape: tuple[int, int]) -> None:
    x, out = numbers(shape), np.full(shape, 9, np.float32)
    assert not gg.trace(kernels.numba_kernel[shape[0], kernels.BLOCK], x, out).findings
    np.testing.assert_allclose(out, shares(x.astype(float)), **ROUNDING)


@pytest.mark.parametrize("shape", [(3, 33), (2, 2049)])
def test_rows_of_any_length_in_five_kernels(shape: tuple[int, int]) -> None:
    x, out = numbers(shape), np.full(shape, 9, np.float32)
    largest, totals = np.full((2, shape[0]), 9, np.float32)
    for name, arguments in {
        "largest_of_rows": (x, largest),
        "differences": (x, largest, out),
        "powers": (out, out),
        "sums_of_rows": (out, totals),
        "quotients": (out, totals, out),
    }.items():
        kernel = getattr(kernels, name)
        assert not gg.trace(kernel[shape[0], kernels.BLOCK], *arguments).findings
    np.testing.assert_allclose(out, shares(x.astype(float)), **ROUNDING)


@needs_compilers()
def test_kernels_compile_without_a_spill() -> None:
    from numba import float32

    facts = numba_facts(kernels.numba_kernel, (float32[:, ::1], float32[:, ::1]))
    assert (facts.spills, facts.stack_bytes, facts.count("call")) == (0, 0, 0)
    assert facts.registers <= 48
    x, row = float32[:, ::1], float32[::1]
    for name, signature in {
        "largest_of_rows": (x, row),
        "differences": (x, row, x),
        "powers": (x, x),
        "sums_of_rows": (x, row),
        "quotients": (x, row, x),
    }.items():
        facts = numba_facts(getattr(kernels, name), signature)
        assert (facts.spills, facts.stack_bytes, facts.count("call")) == (0, 0, 0), name
        assert facts.registers <= 32, name  # as many threads as a multiprocessor holds
        assert facts.count("ld.global") >= kernels.AT_ONCE, name
    facts = raw_facts(kernels.raw_source, "softmax")
    assert facts.spills == 0
    assert facts.registers <= 40


def test_the_successor_gets_the_same_source() -> None:
    source = Path(kernels.__file__).read_text(encoding="utf-8")
    assert source.count(rivals.NUMBA_IMPORT) == 1


def test_each_tool_has_lines() -> None:
    on_gpu = {variant.name for variant in softmax.variants if variant.needs_gpu}
    assert on_gpu - {"five_kernels"} == {*lines.lines_written()}


# What the emulator lacks.
OPERATIONS = r"""
#include <cmath>
static float __int_as_float(unsigned x) { float y; std::memcpy(&y, &x, 4); return y; }
static float __shfl_xor_sync(unsigned all, float x, int mask) {
    int bits; std::memcpy(&bits, &x, 4);
    return __int_as_float((unsigned)__shfl_sync(all, bits, threadIdx.x % 32 ^ mask));
}
"""


@needs_host_compiler()
def test_rows_of_any_length_in_cuda(tmp_path: Path) -> None:
    parameters = "const float* x, float* out, int cols"
    kernel = EmulatedKernel(OPERATIONS + kernels.raw_source, "softmax", parameters, tmp_path)
    for shape in SHAPES:
        x, out = numbers(shape), np.full(shape, 9, np.float32)
        kernel(shape[0], kernels.BLOCK, x, out, np.int32(shape[1]))
        np.testing.assert_allclose(out, shares(x.astype(float)), **ROUNDING)
