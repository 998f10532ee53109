"""The four parts of a reduction, which must give one answer in whatever order they are applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.stand_ins.judging import attempt, shown
from gpuguide.exercises.trace.findings import Finding

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
            answer, finding = attempt(lambda: _reduced(function, limit, readings, rng, order), case)  # noqa: B023
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


def _reduced(
    function: Callable[..., Any], limit: float, readings: list[int], rng: np.random.Generator, order: int
) -> Any:
    """Apply the parts, without and with the identity among them."""
    map_one, reduce_two, identity, finish = function(limit)
    parts = [map_one(x) for x in readings]
    if order > 1 or not parts:
        for place in rng.integers(0, len(parts) + 1, 1 + order // 2):
            parts.insert(int(place), deepcopy(identity))
    while len(parts) > 1:
        if order == 0:
            at = 0
        elif order == 1:
            parts = [
                reduce_two(*parts[i : i + 2]) if i + 1 < len(parts) else parts[i]
                for i in range(0, len(parts), 2)
            ]
            continue
        else:
            at = int(rng.integers(0, len(parts) - 1))
        left, right = parts[at : at + 2]
        pair = (right, left) if order > 3 else (left, right)
        parts[at : at + 2] = [reduce_two(*pair)]
    return finish(parts[0])


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
