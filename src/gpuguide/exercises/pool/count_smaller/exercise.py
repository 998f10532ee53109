"""The place of a number among sorted ones, by halving: a search with no more steps than needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuguide.exercises.cases import launches_1d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

N_VALUES = (0, 1, 2, 7, 64, 100, 255)


def calls() -> list[Call]:
    """Make launches with few and many sorted values, some of them equal, and limits beyond either end."""
    return launches_1d(_build)


def _build(n: int, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    values = np.sort(rng.integers(-100, 100, int(rng.choice(N_VALUES)), dtype=np.int32))
    limits = rng.integers(-105, 106, n, dtype=np.int32)
    if rng.random() < 0.5:
        # Neighbours of all magnitudes, for which other types, and differences, are not enough.
        centre = rng.choice(np.array([-(2**31) + 300, 2**31 - 300, 2**24], np.int64), values.size)
        values = np.sort(values + centre).astype(np.int32)
        limits = (limits + rng.choice(np.array([-(2**31) + 300, 2**31 - 300, 2**24]), n)).astype(np.int32)
    smaller = (values[:, None] < limits).sum(axis=0).astype(np.int32)
    arguments = {"values": values, "limits": limits, "counts": poisoned(n, np.int32)}
    return arguments, {"counts": smaller}


EXERCISE = Exercise(
    name="count_smaller",
    title="How many are smaller?",
    level="intermediate",
    minutes=15,
    teaches="In a sorted array a thread finds a place by halving, in as many steps as its length has bits.",
    task=KernelTask(
        calls=calls,
        limits=Limits(active_threads=0.9, loop_turns=8),
        signature=("int32[::1]",) * 3,
        parameters=("values", "limits", "counts"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("sparse_lookup",),
    tags=("search", "loop", "memory"),
)
