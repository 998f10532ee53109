"""Two alternating recipes: threads of a warp that take different branches wait for each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import launches_1d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make launches over whole numbers, an odd number of them in some."""
    return launches_1d(_build)


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    x = rng.integers(0, 1000, n, dtype=np.int32)
    expected = x.copy()
    for _ in range(8):
        expected[::2] = (3 * expected[::2] + 1) % 1000
        expected[1::2] = (expected[1::2] ** 2 + 1) % 1000
    return {"x": x, "out": poisoned(n, np.int32)}, {"out": expected}


EXERCISE = Exercise(
    name="divergence",
    title="Warps that agree",
    level="intermediate",
    minutes=15,
    teaches="All threads of a warp walk through each branch that one of them takes: sort the work by branch.",
    task=KernelTask(
        calls=calls,
        limits=Limits(loop_turns=24, divergent_branches=0.1),
        signature=("int32[::1]", "int32[::1]"),
        parameters=("x", "out"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("divergence",),
    tags=("warp", "branch"),
)
