"""Tiles at the edges of matrices of any shape, and what the steps of the page differ in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpuguide as gg
from gpuguide.topics.shared_memory import kernels

Launch = tuple[tuple[int, int], int | tuple[int, int]]


def up(length: int, width: int) -> int:
    return -(-length // width)


GRIDS: dict[str, Callable[[int, int], Launch]] = {
    **dict.fromkeys(
        ("tile", "padded", "unsigned"), lambda rows, cols: ((up(cols, 32), up(rows, 32)), (32, 8))
    ),
    "large": lambda rows, cols: ((up(rows, 128), up(cols, 64)), 512),
    "aligned": lambda rows, cols: ((up(rows + 7, 128), up(cols, 64)), 512),
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
