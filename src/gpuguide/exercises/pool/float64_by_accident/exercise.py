"""Fahrenheit to Celsius: Python's floats have 64 bits, and they spread."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import launches_1d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits


def calls() -> list[Call]:
    """Make launches over temperatures between those of winter and of an oven, one of them missing."""
    return launches_1d(_build, tolerance=1e-4)


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    fahrenheit = rng.uniform(-40, 500, n).astype(np.float32)
    fahrenheit[1:2] = np.nan
    expected = ((fahrenheit.astype(np.float64) - 32) * 5 / 9).astype(np.float32)
    return {"fahrenheit": fahrenheit, "celsius": poisoned(n)}, {"celsius": expected}


EXERCISE = Exercise(
    name="float64_by_accident",
    title="Float64 by accident",
    level="intermediate",
    minutes=10,
    teaches="A Python float has 64 bits and silently turns float32 arithmetic into float64.",
    task=KernelTask(
        calls=calls,
        limits=Limits(active_threads=0.9, loop_turns=1, float64_instructions=0),
        signature=("float32[::1]", "float32[::1]"),
        parameters=("fahrenheit", "celsius"),
    ),
    lanes=("simulator", "compile", "gpu"),
    decided_in="compile",
    pages=("numba_types",),
    tags=("dtype", "float64", "compiler"),
)
