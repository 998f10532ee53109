"""The sum of each row of a matrix, by a warp a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuguide.exercises.cases import FAR_2D, eighths, in_words, matrix_in_words, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits
from gpuguide.machine.launch import blocks_1d

# Rows, columns, threads along y, and blocks more than are needed.
LAUNCHES = (
    (1, 1, 1, 0),
    (1, 33, 1, 0),
    (3, 31, 2, 0),
    (5, 200, 4, 0),
    (35, 64, 1, 1),
    (17, 100, 8, 0),
    (2, 0, 2, 0),
    (0, 7, 4, 0),
)


def calls() -> list[Call]:
    """Make the launches."""
    return [*(_call(*launch) for launch in LAUNCHES), replace(_call(*FAR_2D, 8, 0), gpu_only=True)]


def _call(rows: int, columns: int, threads: int, more: int) -> Call:
    # Multiples of 1/8: the sum is exact in any order.
    x = eighths(np.random.default_rng((rows, columns)), -999, 1000, (rows, columns))
    grid, block = (1, blocks_1d(rows, threads) + more), (32, threads)
    label = f"{matrix_in_words((rows, columns))}, {in_words(grid, block)}"
    return Call(label, grid, block, {"x": x, "sums": poisoned(rows)}, {"sums": x.sum(axis=1)})


EXERCISE = Exercise(
    name="row_sums",
    title="A sum along an axis",
    level="intermediate",
    minutes=20,
    teaches="A warp adds up a row together: neighbours read neighbours, and shuffles join what they found.",
    task=KernelTask(
        calls=calls,
        limits=Limits(
            sectors_per_request=5, reads_per_element=1, atomics=0, loop_turns=12, float64_instructions=0
        ),
        signature=("float32[:, ::1]", "float32[::1]"),
        parameters=("x", "sums"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("scan_and_warps",),
    tags=("warp", "reduction", "coalesced access"),
)
