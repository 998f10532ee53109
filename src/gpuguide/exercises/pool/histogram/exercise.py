"""A histogram: many threads add to one bin at the same time."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import launches_1d
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

BINS = (1, 7, 16, 40)


def calls() -> list[Call]:
    """Make launches with few and with many bins, and with values that have none."""
    return launches_1d(_build)


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    n_bins = int(rng.choice(BINS))
    values = rng.integers(-2, n_bins + 2, n, dtype=np.int32)
    counted = values[(values >= 0) & (values < n_bins)]
    arguments = {"values": values, "counts": np.zeros(n_bins, np.int32)}
    return arguments, {"counts": np.bincount(counted, minlength=n_bins).astype(np.int32)}


EXERCISE = Exercise(
    name="histogram",
    title="Counting together",
    level="intermediate",
    minutes=15,
    teaches="Where many threads add to one place, only an atomic addition loses nothing.",
    task=KernelTask(
        calls=calls,
        limits=Limits(active_threads=0.9, reads_per_element=1),
        signature=("int32[::1]", "int32[::1]"),
        parameters=("values", "counts"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("atomics",),
    tags=("atomics", "race"),
)
