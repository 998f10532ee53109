"""The larger of two values: the last threads of a grid have no element."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import launches_1d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make launches whose threads seldom fit the arrays."""
    return launches_1d(_build, views=True)


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    a, b = (rng.normal(size=n).astype(np.float32) for _ in range(2))
    # Some are equal, nearly so, or of any magnitude, for which products and differences have no room.
    a[1::5] = b[1::5]
    a[2::5] = np.nextafter(b[2::5], np.float32(np.inf))
    magnitude = 10 ** rng.uniform(-35, 35, n)
    for x in (a, b):
        x[3::5] *= magnitude[3::5]
    a[4::20], b[14::20] = np.inf, -np.inf
    return {"a": a, "b": b, "out": poisoned(n)}, {"out": np.maximum(a, b)}


EXERCISE = Exercise(
    name="guard",
    title="Threads without an element",
    level="beginner",
    minutes=5,
    teaches="A grid is rounded up to whole blocks, so a thread must check that its element exists.",
    task=KernelTask(
        calls=calls,
        limits=Limits(loop_turns=1),
        signature=("float32[::1]", "float32[::1]", "float32[::1]"),
        parameters=("a", "b", "out"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("first_kernel",),
    tags=("grid", "block", "bounds"),
)
