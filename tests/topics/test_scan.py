"""What only the kernels of scan promise: any length, in the tracer, which knows shuffles and votes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpuguide as gg
from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.scan import kernels
from gpuguide.topics.scan.kernels import BLOCK, PIECE
from kernel_emulator import needs_host_compiler
from warp_emulator import EmulatedKernel

LENGTHS = (1, 33, 257, 1031, PIECE, 2 * PIECE + 37)


def numbers(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(-1, 2, n).astype(np.float32)


@pytest.mark.parametrize("n", LENGTHS)
def test_running_totals_of_any_length(n: int) -> None:
    x, blocks = numbers(n), -(-n // PIECE)
    sums, out = np.full(blocks, 9, np.float32), np.full(n, 9, np.float32)
    assert not gg.trace(kernels.sums_of_pieces[blocks, BLOCK], x, sums).findings
    ends = np.cumsum(sums)
    assert not gg.trace(kernels.totals_of_pieces[blocks, BLOCK], x, ends, out).findings
    assert (out == np.cumsum(x)).all()


@pytest.mark.parametrize("n", LENGTHS)
def test_what_is_positive_keeps_its_order(n: int) -> None:
    x, blocks = np.arange(1, n + 1, dtype=np.float32) * numbers(n), -(-n // PIECE)
    counts, expected = np.full(blocks, -9, np.int32), x[x > 0]
    assert not gg.trace(kernels.count_positive[blocks, BLOCK], x, counts).findings
    ends = np.cumsum(counts, dtype=np.int32)
    assert ends[-1] == expected.size
    out = np.full(max(1, expected.size), 9, np.float32)
    assert not gg.trace(kernels.keep_positive[blocks, BLOCK], x, ends, out).findings
    assert (out[: expected.size] == expected).all()


@needs_compilers()
def test_kernels_compile_without_a_spill() -> None:
    from numba import float32, int32

    x, counts = float32[::1], int32[::1]
    signatures = {
        "sums_of_pieces": (x, x),
        "totals_of_pieces": (x, x, x),
        "count_positive": (x, counts),
        "keep_positive": (x, counts, x),
    }
    for name, signature in signatures.items():
        facts = numba_facts(getattr(kernels, name), signature)
        assert (facts.spills, facts.stack_bytes, facts.count("call")) == (0, 0, 0), name
        assert facts.registers <= 48, name
    facts = raw_facts(kernels.look_back_source, "look_back")
    assert facts.spills == 0
    assert facts.registers * 128 <= 65_536 // 3  # three blocks of 128 threads at least


# What the emulator lacks; blocks take turns in it, so each finds the total of the piece before.
OPERATIONS = r"""
struct float4 { float x, y, z, w; };
static unsigned __float_as_uint(float x) { unsigned y; std::memcpy(&y, &x, 4); return y; }
static float __uint_as_float(unsigned x) { float y; std::memcpy(&y, &x, 4); return y; }
static float4 __ldcs(const float4* at) { return *at; }
static void __stcs(float4* at, float4 x) { *at = x; }
static int __ffs(unsigned x) { return __builtin_ffs(x); }
static float __shfl_sync(unsigned all, float x, int from) {
    return __uint_as_float(__shfl_sync(all, (int)__float_as_uint(x), from));
}
static float __shfl_up_sync(unsigned all, float x, int by) {
    return __uint_as_float(__shfl_up_sync(all, (int)__float_as_uint(x), by));
}
static float __shfl_xor_sync(unsigned all, float x, int mask) {
    return __shfl_sync(all, x, threadIdx.x % 32 ^ mask);
}
static unsigned __ballot_sync(unsigned, bool vote) {
    int votes[32];
    meet(warp(), SHUFFLE, threadIdx.x % 32, vote, votes);
    unsigned bits = 0;
    for (int k = 0; k < 32; ++k) bits |= (unsigned)votes[k] << k;
    return bits;
}
static void __nanosleep(unsigned) {}
static bool __any_sync(unsigned all, bool vote) { return __ballot_sync(all, vote) != 0; }
"""


@needs_host_compiler()
def test_look_back_adds_up_what_other_blocks_publish(tmp_path: Path) -> None:
    """Of 150 pieces, the block of the last finds sums of the 100 before it, and totals before those."""
    parameters = "const float* x, float* out, volatile u64* state, unsigned* next, long long n"
    kernel = EmulatedKernel(OPERATIONS + kernels.look_back_source, "look_back", parameters, tmp_path)
    for n in (1, 2, 3, 33, 16_384, 16_385, 3 * 16_384 + 7):
        x, out = numbers(n), np.full(n, 9, np.float32)
        pieces = -(-n // 16_384)
        state, drawn = np.zeros(pieces, np.uint64), np.zeros(1, np.uint32)
        kernel(pieces, 128, x, out, state, drawn, np.int64(n))
        assert (out == np.cumsum(x)).all(), n
    sums = np.random.default_rng(0).integers(-9, 9, 149).astype(np.float32)
    totals = np.cumsum(sums, dtype=np.float32)
    n = 149 * 16_384 + 5
    x, out = np.ones(n, np.float32), np.full(n, 9, np.float32)
    state = np.zeros(150, np.uint64)
    state[:49] = 2 << 32 | totals[:49].view(np.uint32).astype(np.uint64)
    state[49:149] = 1 << 32 | sums[49:].view(np.uint32).astype(np.uint64)
    kernel(1, 128, x, out, state, np.array([149], np.uint32), np.int64(n))
    assert (out[-5:] == totals[-1] + np.arange(1, 6)).all()
    assert (out[:-5] == 9).all()
    assert state[149] == 2 << 32 | int((totals[-1:] + 5).view(np.uint32)[0])
