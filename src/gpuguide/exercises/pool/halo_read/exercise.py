"""The largest of three neighbours: what to read where a neighbour does not exist."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import launches_1d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

# In launches of up to so many elements all values are such as a message shows well.
_PLAIN = 32


def calls() -> list[Call]:
    """Make launches over lines of negative values, so that a zero from nowhere would win."""
    return launches_1d(_build, views=True)


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    x = (-rng.uniform(1, 9, n) * 10.0 ** rng.integers(0, 9, n)).astype(np.float32)
    if n > _PLAIN:  # neither zero nor a low number is a mark for a neighbour that does not exist
        x[:2] = x[-2:] = np.finfo(np.float32).min
        x[2] = 0
    wide = np.pad(x, 1, constant_values=-np.inf)
    expected = np.maximum(np.maximum(wide[:-2], wide[2:]), x)
    return {"x": x, "out": poisoned(n)}, {"out": expected}


EXERCISE = Exercise(
    name="halo_read",
    title="Neighbours at the ends",
    level="beginner",
    minutes=10,
    teaches="A thread that reads its neighbours must decide what to read where there is none.",
    task=KernelTask(
        calls=calls,
        limits=Limits(reads_per_element=3, loop_turns=4),
        signature=("float32[::1]", "float32[::1]"),
        parameters=("x", "out"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("stencil",),
    tags=("stencil", "bounds"),
)
