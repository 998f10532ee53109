"""What only the kernels of reductions promise: any length, in the tracer, which knows shuffles."""

from __future__ import annotations

import numpy as np
import pytest

import gpuguide as gg
from compile_lane import needs_compilers, numba_facts
from gpuguide.topics.reductions import kernels
from gpuguide.topics.reductions.kernels import BLOCK, PER_THREAD

LENGTHS = (1, 31, 33, 257, 1031, 16_421)
SUMS = ("one_atomic_each", "tree", "strided_tree", "many_by_tree", "many_per_thread")


def numbers(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(-1, 2, n).astype(np.float32)


@pytest.mark.parametrize("n", LENGTHS)
def test_sums_of_any_length(n: int) -> None:
    x = numbers(n)
    for name in SUMS:
        if n > 2000 and not name.startswith("many"):
            continue  # a thread for each number takes the tracer long
        per_thread = PER_THREAD if name.startswith("many") else 1
        out = np.zeros(1, np.float32)
        traced = gg.trace(getattr(kernels, name)[-(-n // (BLOCK * per_thread)), BLOCK], x, out)
        assert not traced.findings, name
        assert out[0] == x.sum(), name


@pytest.mark.parametrize("n", [1, 31, 4100])
def test_a_scalar_product_of_any_length(n: int) -> None:
    x, y, out = numbers(n), numbers(n)[::-1].copy(), np.zeros(1, np.float32)
    assert not gg.trace(kernels.dot[2, 256], x, y, out).findings
    assert out[0] == x @ y


@pytest.mark.parametrize("n", LENGTHS)
def test_two_launches_sum_and_find_the_first_largest(n: int) -> None:
    x, blocks = numbers(n), -(-n // (BLOCK * PER_THREAD))
    sums, out = np.full(blocks, 9, np.float32), np.full(1, 9, np.float32)
    assert not gg.trace(kernels.sums_of_blocks[blocks, BLOCK], x, sums).findings
    assert not gg.trace(kernels.one_block[1, BLOCK], sums, out).findings
    assert out[0] == x.sum()
    values, places, at = sums, np.full(blocks, -1, np.int32), np.full(1, -1)
    assert not gg.trace(kernels.largest_of_blocks[blocks, BLOCK], x, values, places).findings
    assert not gg.trace(kernels.largest_of_all[1, BLOCK], values, places, at).findings
    assert at[0] == np.argmax(x)


@pytest.mark.parametrize("shape", [(1, 1), (3, 31), (9, 257), (2, 16_421)])
def test_rows_and_columns_of_any_shape(shape: tuple[int, int]) -> None:
    a = numbers(shape[0] * shape[1]).reshape(shape)
    rows, cols = shape
    launches = {
        "thread_per_row": ((-(-rows // 256), 256), 1),
        "eight_per_row": ((-(-rows // 32), 256), 1),
        "block_per_row": ((rows, 256), 1),
        "blocks_per_row": (((-(-cols // (BLOCK * PER_THREAD)), rows), BLOCK), 1),
        "thread_per_column": (((-(-cols // 256), -(-rows // 256)), 256), 0),
    }
    for name, (launch, axis) in launches.items():
        if name == "thread_per_column" and cols > 1000:
            continue
        out = np.zeros(shape[1 - axis], np.float32)
        assert not gg.trace(getattr(kernels, name)[launch], a, out, most_threads=9999).findings, name
        assert (out == a.sum(axis)).all(), name


@pytest.mark.parametrize("shape", [(1, 0), (33, 7), (31, 63), (33, 64), (35, 65), (3, 127)])
def test_eight_threads_add_up_a_row_of_any_length(shape: tuple[int, int]) -> None:
    a = numbers(shape[0] * shape[1]).reshape(shape)
    out = np.full(len(a), 9, np.float32)
    assert not gg.trace(kernels.eight_per_row[-(-len(a) // 32), 256], a, out).findings
    assert (out == a.sum(axis=1)).all()


@needs_compilers()
@pytest.mark.parametrize("name", ["many_per_thread", "sums_of_blocks", "dot", "eight_per_row"])
def test_kernels_with_shuffles_fill_a_multiprocessor(name: str) -> None:
    """With 32 registers it holds as many of their threads as of any, 2048."""
    from numba import float32

    vector, matrix = float32[::1], float32[:, ::1]
    signatures = {"dot": (vector,) * 3, "eight_per_row": (matrix, vector)}
    facts = numba_facts(getattr(kernels, name), signatures.get(name, (vector, vector)))
    assert (facts.spills, facts.count("call")) == (0, 0)
    assert facts.registers <= 32


@needs_compilers()
def test_the_largest_is_chosen_among_numbers_in_registers() -> None:
    """Their array stays out of memory, all 32 loads are unrolled, and three blocks of 512 threads fit."""
    from numba import float32, int32

    facts = numba_facts(kernels.largest_of_blocks, (float32[::1], float32[::1], int32[::1]))
    assert (facts.spills, facts.stack_bytes, facts.count("call")) == (0, 0, 0)
    assert facts.count("ld.global") >= 2 * PER_THREAD  # and once more for the last block
    assert facts.registers <= 40
