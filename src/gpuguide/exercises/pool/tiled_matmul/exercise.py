"""A product of matrices from tiles in shared memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuguide.exercises.cases import FAR_2D, eighths, in_words, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits
from gpuguide.machine.launch import blocks_1d

# Rows of a, columns of a, columns of b.
SHAPES = (
    (1, 1, 1),
    (8, 8, 8),
    (9, 17, 10),
    (16, 24, 7),
    (3, 30, 9),
    (67, 2, 16),
    (5, 4, 70),
    (2, 0, 3),
    (0, 4, 5),
)
TILE = 8


def calls() -> list[Call]:
    """Make the launches."""
    rows, columns = FAR_2D
    return [*(_call(*shape) for shape in SHAPES), replace(_call(rows, 5, columns), gpu_only=True)]


def _call(m: int, n: int, p: int) -> Call:
    # Multiples of 1/8, and those of b small: the sum is exact in any order.
    rng = np.random.default_rng((m, n, p))
    a, b = eighths(rng, -400, 401, (m, n)), eighths(rng, -4, 9, (n, p))
    b[:1] += 256.125  # half precision would lose their fractions
    grid = (blocks_1d(p, TILE), blocks_1d(m, TILE))
    label = f"m = {m}, n = {n}, p = {p}, {in_words(grid, (TILE, TILE))}"
    product = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    arguments = {"a": a, "b": b, "c": poisoned((m, p))}
    return Call(label, grid, (TILE, TILE), arguments, {"c": product})


EXERCISE = Exercise(
    name="tiled_matmul",
    title="A product from tiles",
    level="intermediate",
    minutes=35,
    teaches="What all threads of a block need is fetched once, tile by tile, between two barriers.",
    task=KernelTask(
        calls=calls,
        limits=Limits(reads_per_block=1, bank_conflicts=2, loop_turns=40, float64_instructions=0),
        signature=("float32[:, ::1]", "float32[:, ::1]", "float32[:, ::1]"),
        parameters=("a", "b", "c"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("shared_memory",),
    tags=("shared memory", "barrier", "matrix product"),
)
