"""The four parts of a reduction, which must give one answer in whatever order they are applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import wraps
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, shown

# The limit and the readings.
CASES: tuple[tuple[float, list[int]], ...] = (
    (0, [6]),
    (0, [2, 4]),
    (0, [2, 4, 9]),
    (5, [1, 8, 5, 10, 3]),
    (5, [5, 5]),
    (3, []),
    (-4, [-3, -2, -9]),
    (-4, [3, -3]),
    (0.5, [1, 0, 1, 1]),
)
_N_RANDOM, _LONGEST, _ORDERS = 20, 40, 6


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Reduce lists in several orders, and compare the answers with the mean."""
    for number, (limit, readings) in enumerate((*CASES, *_random_cases())):
        above = [x for x in readings if x > limit]
        expected = sum(above) / len(above) if above else limit
        for order in range(_ORDERS):
            case = f"For the readings {readings} and limit = {limit},"
            rng = np.random.default_rng((number, order))
            answer, finding = attempt(_reduction(function, rng, order), case, limit, readings)
            if finding is None and not _is_near(answer, expected):
                how = (
                    ("from the first to the last", "in pairs")[order] if order < 2 else "in another grouping"
                )
                finding = Finding(
                    "wrong", f"{case} put together {how}, the mean must be {expected}; got {shown(answer)}."
                )
            if finding is not None:
                yield finding
                return


def _reduction(function: Callable[..., Any], rng: np.random.Generator, order: int) -> Callable[..., Any]:
    """Return what applies the parts that the reader's function returns."""

    @wraps(function)  # so that an exception's line is the reader's
    def reduction(limit: float, readings: list[int]) -> Any:
        return _reduced(function(limit), readings, rng, order)

    return reduction


def _reduced(parts: Any, readings: list[int], rng: np.random.Generator, order: int) -> Any:
    """Apply them, without and with the identity among the readings."""
    map_one, reduce_two, identity, finish = parts
    values = [map_one(x) for x in readings]
    if order > 1 or not values:
        for place in rng.integers(0, len(values) + 1, 1 + order // 2):
            values.insert(int(place), deepcopy(identity))
    while len(values) > 1:
        if order == 0:
            at = 0
        elif order == 1:
            values = [
                reduce_two(*values[i : i + 2]) if i + 1 < len(values) else values[i]
                for i in range(0, len(values), 2)
            ]
            continue
        else:
            at = int(rng.integers(0, len(values) - 1))
        left, right = values[at : at + 2]
        pair = (right, left) if order > 3 else (left, right)
        values[at : at + 2] = [reduce_two(*pair)]
    return finish(values[0])


def _is_near(answer: Any, expected: float) -> bool:
    if isinstance(answer, bool) or not isinstance(answer, int | float | np.integer | np.floating):
        return False
    return bool(abs(float(answer) - expected) <= 1e-9 * max(1.0, abs(expected)))


def _random_cases() -> Iterator[tuple[float, list[int]]]:
    rng = np.random.default_rng(0)
    for n in rng.integers(2, _LONGEST + 1, _N_RANDOM):
        yield int(rng.integers(-5, 5)), [int(x) for x in rng.integers(-9, 30, n)]


EXERCISE = Exercise(
    name="any_grouping",
    title="A mean in any grouping",
    level="intermediate",
    minutes=15,
    teaches="What a reduction hands on must say enough for its parts to be put together in any order.",
    task=FunctionTask(judge=judge, parameters=("limit",)),
    lanes=("simulator",),
    pages=("kernel_families",),
    tags=("reduction", "CuPy"),
)
