"""A multiple added to an array: a grid of any size, whose threads step by the whole grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import eighths, launches_1d
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make launches with too few threads, enough, and too many."""
    return launches_1d(_build, grids="any")


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    # Multiples of 1/8: the result is exact, whether or not product and sum are rounded as one.
    factor = eighths(rng, 2, 9, 1)[0]
    x, y = (eighths(rng, 1, 99, n) for _ in range(2))
    return {"factor": factor, "x": x, "y": y}, {"y": y + factor * x}


EXERCISE = Exercise(
    name="grid_stride",
    title="Any grid will do",
    level="intermediate",
    minutes=15,
    teaches="A loop in steps of the whole grid handles any length and keeps a warp's accesses together.",
    task=KernelTask(
        calls=calls,
        limits=Limits(sectors_per_request=4, loop_turns=12),
        signature=("float32", "float32[::1]", "float32[::1]"),
        parameters=("factor", "x", "y"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("first_kernel", "launch_sizes"),
    tags=("grid", "loop", "coalesced access"),
)
