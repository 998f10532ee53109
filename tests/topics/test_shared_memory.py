"""Tiles at the edges of matrices of any shape, and what the steps of the page differ in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpuguide as gg
from compile_lane import needs_compilers, numba_facts, raw_facts
from gpuguide.topics.shared_memory import kernels
from kernel_emulator import as_ctypes, build, needs_host_compiler

Launch = tuple[tuple[int, int], int | tuple[int, int]]


def up(length: int, width: int) -> int:
    return -(-length // width)


GRIDS: dict[str, Callable[[int, int], Launch]] = {
    **dict.fromkeys(
        ("tile", "padded", "unsigned"), lambda rows, cols: ((up(cols, 32), up(rows, 32)), (32, 8))
    ),
    "large": lambda rows, cols: ((up(rows, 64), up(cols, 64)), 512),
    "aligned": lambda rows, cols: ((up(rows + 7, 64), up(cols, 64)), 512),
}


def traced(name: str, rows: int, cols: int) -> Any:
    """Trace a transpose, and compare its result."""
    a = np.arange(rows * cols, dtype=np.float32).reshape(rows, cols)
    out = np.full((cols, rows), -1, np.float32)
    launch = getattr(kernels, f"transpose_{name}")[GRIDS[name](rows, cols)]
    trace = gg.trace(launch, a, out, inputs=["a"], most_threads=10**6)
    assert (out == a.T).all()
    return trace


# The last has whole tiles of all kinds, and a row of the result begins at any place of a sector.
@pytest.mark.parametrize("shape", [(1, 1), (33, 31), (7, 257), (261, 67)], ids=str)
@pytest.mark.parametrize("name", GRIDS)
def test_a_transpose_is_right_at_every_edge(name: str, shape: tuple[int, int]) -> None:
    """No thread touches what is not there, none reads what is not written yet."""
    assert traced(name, *shape).passed


def test_the_spare_column_avoids_the_bank_conflicts() -> None:
    """All 32 threads want one bank without it, and none waits for another with it."""
    conflicts = {name: traced(name, 64, 64).counts.bank_conflicts for name in GRIDS}
    assert conflicts == {"tile": 32, "padded": 1, "unsigned": 1, "large": 1, "aligned": 1}


@needs_compilers()
@pytest.mark.parametrize("name", ["unsigned", "large", "aligned"])
def test_no_shape_is_compared_in_float64(name: str) -> None:
    """The sum of two uint32 is a uint64, and Numba compares that with a signed shape in float64."""
    from numba import float32

    matrix = float32[:, ::1]
    assert numba_facts(getattr(kernels, f"transpose_{name}"), (matrix, matrix)).count("cvt.rn.f64") == 0


@needs_compilers()
def test_no_sign_is_tested_and_the_inner_loop_is_written_out() -> None:
    """Without uint32, each of the 33 indices costs two comparisons."""
    from numba import float32

    x = float32[::1]
    facts = numba_facts(kernels.neighbours_shared, (x, x))
    assert (facts.count("ld.shared"), facts.count("setp") < 10) == (33, True)
    assert numba_facts(kernels.neighbours_constant, (x, x)).count("ld.global") >= 33


@needs_host_compiler()
def test_the_kernel_in_cuda_cpp_is_right_at_every_edge(tmp_path: Path) -> None:
    """On the CPU, where the blocks have one dimension."""
    source = kernels.transpose_source.replace("blockIdx.x", "blockIdx.x % down")
    source = source.replace("blockIdx.y", "blockIdx.x / down").replace("#pragma unroll", "")
    source = source.replace("const int x", "const int down = (rows + 7 + T - 1) / T, x")
    library = build(source, {"transpose": "const float* a, float* out, int rows, int cols"}, tmp_path)
    for rows, cols in ((1, 1), (33, 31), (64, 64), (7, 257), (193, 130)):
        a = np.arange(rows * cols, dtype=np.float32).reshape(rows, cols)
        out = np.full((cols, rows), -1, np.float32)
        blocks = up(rows + 7, 64) * up(cols, 64)
        arguments = a, out, np.int32(rows), np.int32(cols)
        assert library.run_transpose(blocks, 512, *map(as_ctypes, arguments)) == 0
        assert (out == a.T).all()


@needs_compilers()
def test_the_kernel_in_cuda_cpp_keeps_its_numbers_in_registers() -> None:
    facts = raw_facts(kernels.transpose_source, "transpose")
    assert (facts.spills, facts.stack_bytes, facts.registers <= 64) == (0, 0, True)
