"""The place of a number among sorted ones, by halving: a search with no more steps than needed."""

from __future__ import annotations

from itertools import cycle, product
from typing import Any

import numpy as np

from gpuguide.exercises.cases import launches_1d, poisoned
from gpuguide.exercises.model import Call, Exercise, KernelTask, Limits

# How many values there are, and how far from their middle they go: with 0 all are equal.
VALUES = ((1, 9), (7, 9), (2, 9), (100, 0), (0, 9), (1, 9), (255, 0), (64, 100), (255, 100))


def calls() -> list[Call]:
    """Make launches with few and many sorted values, some of them equal, and limits beyond either end."""
    values = cycle(product((False, True), VALUES))
    return launches_1d(lambda n, rng: _build(n, rng, *next(values)))


def _build(
    n: int, rng: np.random.Generator, large: bool, values_and_spread: tuple[int, int]
) -> tuple[dict[str, Any], dict[str, Any]]:
    n_values, spread = values_and_spread
    values = np.sort(rng.integers(-spread, spread + 1, n_values, dtype=np.int32))
    limits = rng.integers(-spread - 5, spread + 6, n, dtype=np.int32)
    if large:
        # Neighbours of all magnitudes, for which other types, and differences, are not enough.
        centre = rng.choice(np.array([-(2**31) + 300, 2**31 - 300, 2**24], np.int64), values.size)
        values = np.sort(values + centre).astype(np.int32)
        limits = (limits + rng.choice(np.array([-(2**31) + 300, 2**31 - 300, 2**24]), n)).astype(np.int32)
        # Nothing is smaller than the least number there is, nor larger than the greatest.
        ends = np.iinfo(np.int32)
        values[:1], values[-1:] = ends.min, ends.max
        limits[::9], limits[1::9] = ends.min, ends.max
    smaller = np.searchsorted(values, limits).astype(np.int32)
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
        limits=Limits(active_threads=0.9, loop_turns=9),
        signature=("int32[::1]",) * 3,
        parameters=("values", "limits", "counts"),
    ),
    lanes=("simulator", "compile", "gpu"),
    pages=("sparse_lookup",),
    tags=("search", "loop", "memory"),
)
