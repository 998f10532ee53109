"""Three passes over arrays in one: intermediate results stay in a register."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import eighths, launches_1d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make launches on whole numbers, for which each step is exact."""
    return launches_1d(_build)


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    # Large, and x and y near to each other: half precision would lose the digits that matter.
    x, y, weight = (eighths(rng, 300, 300 + width, n) for width in (3, 3, 19))
    weight[::2] *= -1
    expected = (x - y) ** 2 * weight
    return {"x": x, "y": y, "weight": weight, "out": poisoned(n)}, {"out": expected}


EXERCISE = Exercise(
    name="fusion",
    title="Three passes in one",
    level="intermediate",
    minutes=10,
    teaches="Keep intermediate results in a variable: each pass over an array is traffic.",
    task=KernelTask(
        calls=calls,
        limits=Limits(reads_per_element=1, writes_per_element=1, loop_turns=2),
        signature=("float32[::1]",) * 4,
        parameters=("x", "y", "weight", "out"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("ufuncs", "fusion", "kernel_families", "memory_pools"),
    tags=("registers", "memory", "CuPy"),
)
