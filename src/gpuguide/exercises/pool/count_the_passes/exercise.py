"""How many arrays a chain of operations moves through memory, one by one and as one kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.judging import attempt, shown

Steps = list[tuple[str, list[str]]]

CASES: tuple[tuple[Steps, list[str]], ...] = (
    ([("sum", ["x", "y"])], ["sum"]),
    ([("d", ["x", "y"]), ("out", ["d", "d"])], ["out"]),
    ([("d", ["x", "y"]), ("e", ["x", "y"]), ("out", ["d", "e"])], ["out"]),
    ([], []),
    ([("d", ["x", "y"]), ("out", ["d", "d"])], ["d", "out"]),
    ([("s", ["x"]), ("t", ["s", "x"]), ("u", ["t", "x"])], ["u"]),
    ([("s", ["x", "x"]), ("t", ["x", "y"])], ["s", "t"]),
    ([("zeros", []), ("out", ["zeros", "x"])], ["out"]),
    ([("s", ["x"]), ("t", ["s"]), ("u", ["s", "t"]), ("v", ["u", "u"])], ["v"]),
    # What one program makes, another one may read: each begins anew.
    ([("d", ["sum", "square"])], ["d"]),
)
_N_RANDOM = 30
# Some begin or end like others, and each may be of the inputs in one program and made in the next.
_NAMES = ("x", "y", "x2", "sum", "sums", "square", "d", "dx", "r", "r1")


def judge(function: Callable[..., Any]) -> Iterator[Finding]:
    """Compare both numbers for each program."""
    for steps, wanted in (*CASES, *_random_cases()):
        given = deepcopy((steps, wanted))
        case = f"For steps = {steps} and wanted = {wanted},"
        result, finding = attempt(function, case, *given)
        finding = finding or _finding(case, result, _moved(steps, wanted))
        if finding is None and given != (steps, wanted):
            finding = Finding("input_changed", f"{case} the lists were changed; they belong to the caller.")
        if finding is not None:
            yield finding
            return


def _finding(case: str, result: Any, expected: tuple[int, int]) -> Finding | None:
    numbers = list(result) if isinstance(result, tuple | list) else []
    if len(numbers) != 2 or not all(map(_is_whole, numbers)):
        return Finding("wrong", f"{case} two whole numbers were expected; got {shown(result)}.")
    for got, right, how in zip(numbers, expected, ("step by step", "fused"), strict=True):
        if got != right:
            return Finding("wrong", f"{case} {right} arrays are moved {how}; got {got}.")
    return None


def _is_whole(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _moved(steps: Steps, wanted: list[str]) -> tuple[int, int]:
    one_by_one, known, from_memory = 0, set(), 0
    for result, operands in steps:
        one_by_one += 1 + sum(operands.index(name) == place for place, name in enumerate(operands))
        for name in operands:
            if name not in known:
                known.add(name)
                from_memory += 1
        known.add(result)
    return one_by_one, from_memory + len(wanted)


def _random_cases() -> Iterator[tuple[Steps, list[str]]]:
    rng = np.random.default_rng(0)
    for _ in range(_N_RANDOM):
        names = [str(name) for name in rng.permutation(_NAMES)]
        steps = []
        for made in range(3, 3 + int(rng.integers(1, 7))):
            operands = [names[i] for i in rng.integers(0, made, int(rng.integers(1, 4)))]
            steps.append((names[made], operands))
        results = [result for result, _ in steps]
        wanted = [results[-1], *(name for name in results[:-1] if rng.random() < 0.2)]
        yield steps, wanted


EXERCISE = Exercise(
    name="count_the_passes",
    title="What fusion saves",
    level="beginner",
    minutes=10,
    teaches="Fused steps read their inputs and write what is wanted; everything between stays in registers.",
    task=FunctionTask(judge=judge, parameters=("steps", "wanted")),
    lanes=("simulator",),
    pages=("fusion",),
    tags=("traffic", "fusion"),
)
