"""A transposed matrix: a tile in shared memory, so that reading and writing go along rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuguide.exercises.cases import FAR_2D, in_words, matrix_in_words, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

# Rows and columns, and blocks along x and y.
LAUNCHES = (
    ((1, 1), (1, 1)),
    ((31, 5), (1, 1)),
    ((5, 31), (2, 1)),
    ((33, 40), (2, 2)),
    ((2, 100), (5, 1)),
    ((100, 20), (1, 4)),
    ((0, 5), (1, 1)),
)


def calls() -> list[Call]:
    """Make launches of blocks of 32 x 32 over matrices that are not square."""
    return [*(_call(*launch) for launch in LAUNCHES), replace(_call(FAR_2D, (3, 33)), gpu_only=True)]


def _call(shape: tuple[int, int], grid: tuple[int, int]) -> Call:
    rng = np.random.default_rng(shape)
    # More digits than half precision has.
    x = (rng.permutation(shape[0] * shape[1]) + 2049).reshape(shape).astype(np.float32) / 8
    if x.size > 1000:
        x[1, 1] = 0
    label = f"{matrix_in_words(shape)}, {in_words(grid, (32, 32))}"
    arguments = {"x": x, "out": poisoned(shape[::-1])}
    return Call(label, grid, (32, 32), arguments, {"out": np.ascontiguousarray(x.T)})


EXERCISE = Exercise(
    name="transpose",
    title="Rows into columns",
    level="intermediate",
    minutes=30,
    teaches="A tile in shared memory makes scattered accesses coalesced, if it avoids bank conflicts.",
    task=KernelTask(
        calls=calls,
        limits=Limits(sectors_per_request=5, bank_conflicts=1, loop_turns=2),
        signature=("float32[:, ::1]", "float32[:, ::1]"),
        parameters=("x", "out"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("shared_memory",),
    tags=("shared memory", "coalesced access", "bank conflict"),
)
