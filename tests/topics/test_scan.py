"""What only the kernels of scan promise: any length, in the tracer, which knows shuffles and votes."""

from __future__ import annotations

import numpy as np
import pytest

import gpuguide as gg
from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.scan import kernels
from gpuguide.topics.scan.kernels import BLOCK, PIECE

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
