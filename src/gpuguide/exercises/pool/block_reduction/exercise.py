"""A sum per block: a tree in shared memory, with a barrier in each round."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import eighths, launches_1d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make launches of blocks whose width is a power of two."""
    return launches_1d(_build, blocks=(1, 2, 32, 64, 256), with_launch=True)


def _build(
    n: int, rng: np.random.Generator, grid: int, threads: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    # Multiples of 1/8: the sum is exact in any order.
    x = eighths(rng, -99, 999, n)
    padded = np.zeros(grid * threads, np.float32)
    padded[:n] = x
    return {"x": x, "sums": poisoned(grid)}, {"sums": padded.reshape(grid, threads).sum(axis=1)}


EXERCISE = Exercise(
    name="block_reduction",
    title="A sum in a tree",
    level="intermediate",
    minutes=25,
    teaches="A tree in shared memory adds up a block in a few rounds, with a barrier in each.",
    task=KernelTask(
        calls=calls,
        limits=Limits(bank_conflicts=1, atomics=0, loop_turns=16),
        signature=("float32[::1]", "float32[::1]"),
        parameters=("x", "sums"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("shared_memory",),
    tags=("shared memory", "barrier", "reduction"),
)
