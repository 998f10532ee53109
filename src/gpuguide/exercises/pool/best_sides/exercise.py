"""On which side each step of a program should run, when the data must be there and copies take time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, shown

Steps = list[tuple[int, int]]

# What it shows; the steps; the copies. Made up, not measured.
CASES: tuple[tuple[str, Steps, list[int]], ...] = (
    ("a program without steps", [], [3]),
    ("one step that is worth two copies", [(9, 1)], [2, 2]),
    ("one step that is not worth two copies", [(4, 1)], [2, 2]),
    # The same as before but for one thing, for who remembers answers by the others.
    ("a step that is worth two copies, between slower ones", [(9, 1)], [5, 5]),
    ("a step that is hardly faster on the GPU", [(9, 8)], [2, 2]),
    ("three steps that only together are worth the copies", [(4, 1), (4, 1), (4, 1)], [4, 9, 9, 4]),
    ("a slow step on the GPU between two fast ones", [(20, 1), (1, 3), (20, 1)], [5, 5, 5, 5]),
    ("a step that leaves few data", [(20, 1), (1, 6)], [5, 1, 1]),
    ("a step that is given few data", [(1, 9), (20, 1)], [9, 1, 9]),
    ("a large result", [(20, 1), (8, 1)], [2, 2, 30]),
    ("a program that goes back and forth", [(9, 1), (1, 9)] * 4, [1] * 9),
    ("eight steps that only together are worth the copies", [(4, 1)] * 8, [11, *[30] * 7, 12]),
    # To change one, two or three neighbouring steps makes some plans no better that are not the best.
    (
        "a program with several plans that are nearly the best",
        [(7, 4), (7, 8), (5, 1), (3, 8), (9, 2), (1, 1), (2, 3), (7, 7)],
        [3, 4, 9, 2, 1, 1, 7, 7, 5],
    ),
    (
        "a program whose best plan is far from the first guess",
        [(7, 5), (9, 7), (3, 7), (5, 6), (2, 4), (8, 6), (9, 1), (7, 7)],
        [1, 7, 6, 8, 4, 6, 5, 8, 2],
    ),
    ("a step of hours", [(9_000_000, 1)], [4_000_000, 4_000_000]),
    ("a copy of hours", [(8_000_000, 1)], [9_000_000, 1]),
    # Half a minute is too long for 16 bits, with a sign or without; hours to the millisecond are for float32.
    ("a step of half a minute", [(26_327, 42_958)], [36_920, 8_857]),
    ("a minute and a half", [(12_345, 54_321), (60_000, 9)], [70_001, 20_003, 30_007]),
    ("six hours, a millisecond longer on the CPU", [(20_000_001, 1)], [10_000_000, 9_999_999]),
    ("six hours, a millisecond longer on the GPU", [(20_000_000, 1)], [10_000_000, 10_000_000]),
)
_N_RANDOM, _MOST_STEPS = 60, 8
# In milliseconds: of some programs the steps take moments, of others up to a minute, or up to two hours.
_LONGEST = (20, 60_000, 7_200_000)


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare the time of each plan with that of the best one."""
    for title, steps, copy_ms in (*CASES, *_random_cases()):
        given = list(steps), list(copy_ms)
        case = f"For {title}, steps = {steps}, copy_ms = {copy_ms},"
        result, finding = attempt(function, case, *given)
        finding = finding or _finding(case, steps, copy_ms, result)
        if finding is None and given != (steps, copy_ms):
            finding = Finding("input_changed", f"{case} the lists were changed; they belong to the caller.")
        if finding is not None:
            yield finding
            return


def _finding(case: str, steps: Steps, copy_ms: list[int], result: Any) -> Finding | None:
    is_plan = isinstance(result, list | tuple) and len(result) == len(steps)
    if not is_plan or not all(isinstance(side, str) and side in ("cpu", "gpu") for side in result):
        return Finding(
            "wrong",
            f"{case} a list or a tuple with 'cpu' or 'gpu' for each step was expected; got {shown(result)}.",
        )
    plans = product(("cpu", "gpu"), repeat=len(steps))
    best = min(plans, key=lambda plan: _time(plan, steps, copy_ms))
    took, least = _time(tuple(result), steps, copy_ms), _time(best, steps, copy_ms)
    if took == least:
        return None
    return Finding("wrong", f"{case} {list(best)} takes {least} ms; {list(result)} takes {took} ms.")


def _time(plan: tuple[str, ...], steps: Steps, copy_ms: list[int]) -> int:
    places = ("cpu", *plan, "cpu")
    moves = zip(copy_ms, places, places[1:], strict=False)
    copies = sum(ms for ms, before, after in moves if before != after)
    return copies + sum(step[side == "gpu"] for step, side in zip(steps, plan, strict=True))


def _random_cases() -> Iterator[tuple[str, Steps, list[int]]]:
    rng = np.random.default_rng(0)
    for number in range(_N_RANDOM):
        n, longest = 1 + number % _MOST_STEPS, _LONGEST[number % len(_LONGEST)]
        steps = [(int(cpu), int(gpu)) for cpu, gpu in rng.integers(1, longest, (n, 2))]
        yield f"program {number + 1}", steps, [int(ms) for ms in rng.integers(1, longest * 3 // 5, n + 1)]


EXERCISE = Exercise(
    name="best_sides",
    title="Where each step should run",
    level="intermediate",
    minutes=20,
    teaches="Which side is best for a step depends on where its data are, and on where they are needed next.",
    task=FunctionTask(judge=judge, parameters=("steps", "copy_ms")),
    lanes=("simulator",),
    pages=("data_where_it_is", "transfers"),
    tags=("copies", "planning"),
)
