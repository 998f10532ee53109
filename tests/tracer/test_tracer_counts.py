"""What a launch did, in numbers that can be worked out by hand; and limits on them."""

from __future__ import annotations

from typing import Any

import pytest

from gpuguide import tracer

IMPORTS = "from numba import cuda, float32\n@cuda.jit\n"


def trace(source: str, block: Any, *arguments: Any, grid: Any = 1, **limits: Any) -> tracer.Trace:
    kernel = [*tracer.load(IMPORTS + source).functions.values()][-1]
    return tracer.launch(kernel, grid, block, arguments, limits=tracer.Limits(**limits))


def zeros(*shape: int, dtype: str = "float32") -> tracer.Array:
    n = 1
    for extent in shape:
        n *= extent
    return tracer.array([0] * n, dtype, shape)


@pytest.mark.parametrize(
    ("index", "dtype", "sectors"),
    [
        ("i", "float32", 4),
        ("i", "float64", 8),
        ("i", "uint8", 1),
        ("i * 2", "float32", 8),
        ("i * 8", "float32", 32),
        ("0", "float32", 1),
        ("i + 1", "float32", 5),
    ],
)
def test_sectors(index: str, dtype: str, sectors: int) -> None:
    counts = trace(
        f"def k(x):\n    i = cuda.grid(1)\n    v = x[{index}]\n", 32, zeros(300, dtype=dtype)
    ).counts
    assert counts.sectors_per_request == sectors
    assert (counts.reads, counts.writes, counts.threads) == (32, 0, 32)


@pytest.mark.parametrize(
    ("shape", "dtype", "index", "passes"),
    [
        ("(32, 32)", "float32", "i, 0", 32),
        ("(32, 33)", "float32", "i, 0", 1),
        ("64", "float32", "i * 2", 2),
        ("64", "float32", "0", 1),
        ("64", "float64", "i", 1),
        ("64", "int8", "i", 1),
    ],
)
def test_bank_conflicts(shape: str, dtype: str, index: str, passes: int) -> None:
    source = f"def k(x):\n    i, s = cuda.grid(1), cuda.shared.array({shape}, x.dtype)\n    s[{index}] = 1"
    counts = trace(source, 32, zeros(1, dtype=dtype)).counts
    assert counts.bank_conflicts == passes
    assert counts.shared_bytes > 0


def test_turns_atomics_barriers_and_branches() -> None:
    source = (
        "def k(x):\n    i = cuda.grid(1)\n    for n in range(i % 4):\n        cuda.atomic.add(x, 0, 1)\n"
        "    cuda.syncthreads()\n    if i % 2:\n        cuda.atomic.add(x, 1, 1)\n"
    )
    counts = trace(source, 32, zeros(2), divergent_branches=1).counts
    assert (counts.loop_turns, counts.atomics, counts.barriers) == (3, 8 * 6 + 16, 1)
    assert counts.divergent_branches == 1
    assert "64 atomic operations" in str(counts)


TWICE = "def k(x, out):\n    i = cuda.grid(1)\n    out[i] = x[i]\n    out[i] = x[i]\n"
MERGED = "def k(x, out):\n    i = cuda.grid(1)\n    out[i] = x[i] + x[i]\n"
ONE = (
    "def k(x, out):\n    if cuda.grid(1) == 0:\n        for i in range(x.size):\n            out[i] = x[i]\n"
)
SUM = "def k(x, out):\n    cuda.atomic.add(out, 0, x[cuda.grid(1)])\n"


@pytest.mark.parametrize(
    ("source", "limits", "text"),
    [
        (TWICE, {"reads_per_element": 1}, "x[0] is read twice (in lines 5 and 6), where once is enough"),
        (TWICE, {"reads_per_block": 1}, "x[0] is read twice by one block"),
        (TWICE, {"reads_per_element": 2}, ""),
        (TWICE, {"writes_per_element": 1}, "out[0] is written twice"),
        (MERGED, {"reads_per_element": 1}, ""),
        (ONE, {"active_threads": 0.9}, "Only 1 thread of 64 touched the arrays"),
        (
            ONE,
            {"loop_turns": 3},
            "A thread makes 64 turns of loops, where 3 are enough. Most are those of line 5",
        ),
        (SUM, {"atomics": 2}, "The launch makes 64 atomic operations on global memory, where 2 are enough"),
        (SUM, {"atomics_per_block": 1}, "A block makes 32 atomic operations"),
        (
            SUM,
            {"atomics_per_warp": 0},
            "A warp makes 32 atomic operations on global memory, where none is needed",
        ),
        (SUM, {"atomics": 64}, ""),
    ],
)
def test_limits(source: str, limits: dict[str, Any], text: str) -> None:
    findings = trace(source, 32, zeros(64), zeros(64), grid=2, **limits).findings
    assert [finding.kind for finding in findings] == (["limit"] if text else [])
    assert not text or text in findings[0].text
