"""What the tests of the pool share: answers judged in the lanes at hand, and those written by hand."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from gpuguide.exercises import get, names
from gpuguide.exercises.check import judge
from gpuguide.exercises.model import Exercise, KernelTask
from gpuguide.exercises.report import NOT_AT_HAND, LaneReport

RIGHT, WRONG = Path(__file__).parent / "right", Path(__file__).parent / "wrong"
# Lanes that need no GPU, the quick one first.
LANES = ("simulator", "compile")


def kernels() -> list[str]:
    """Names of the exercises that ask for a kernel."""
    return [name for name in names() if isinstance(get(name).task, KernelTask)]


@cache
def with_launches_made(exercise: Exercise) -> Exercise:
    """The same exercise, whose launches are made once for all answers: the simulator changes copies."""
    if not isinstance(exercise.task, KernelTask):
        return exercise
    launches = tuple(exercise.task.calls())
    return replace(exercise, task=replace(exercise.task, calls=lambda: launches))


def reports(exercise: Exercise, source: str, lanes: tuple[str, ...] = LANES) -> list[LaneReport]:
    """What the lanes say of an answer, up to the first that refuses it."""
    exercise, said = with_launches_made(exercise), []
    for lane in lanes:
        if lane in exercise.lanes:
            said.append(judge(exercise, source, name=exercise.function_name, lane=lane))
            if said[-1].findings:
                break
    return said


@cache
def known_reports(exercise: Exercise, source: str) -> list[LaneReport]:
    """The same of an answer that several tests look at, judged once."""
    return reports(exercise, source)


def changed(name: str, *changes: tuple[str, str]) -> str:
    """The solution of an exercise, with something else in the place of what stands there."""
    source = get(name).solution
    for right, other in changes:
        assert right in source, f"The solution of {name} has no {right!r}."
        source = source.replace(right, other)
    return source


def judged(name: str, source: str) -> LaneReport:
    """What the first lane says of an answer."""
    return judge(get(name), source, name=get(name).function_name)


def kinds(said: list[LaneReport]) -> list[str]:
    """Kinds of the findings, the one to read first in front."""
    return [finding.kind for report in said for finding in report.findings]


def not_at_hand(said: list[LaneReport]) -> str:
    """Which lane could not judge, and why; empty if all could."""
    reasons = [f"{report.lane}: {report.reason}" for report in said if report.state == NOT_AT_HAND]
    return "; ".join(reasons)


def wrong_answers() -> dict[str, list[Path]]:
    """Answers with a mistake, by exercise."""
    return _by_exercise(WRONG)


def right_answers() -> dict[str, list[Path]]:
    """Right answers in other styles than the solution's, by exercise."""
    return _by_exercise(RIGHT)


@cache
def _by_exercise(folder: Path) -> dict[str, list[Path]]:
    """Answers written by hand; one exercise's name can begin with another's."""
    found: dict[str, list[Path]] = {name: [] for name in names()}
    for path in sorted(folder.glob("*.py")):
        owners = [name for name in names() if path.stem.startswith(f"{name}_")]
        assert owners, f"{path.name} must begin with the name of an exercise"
        found[max(owners, key=len)].append(path)
    return found


def announced_kinds(path: Path) -> set[str]:
    """The kinds of finding that an answer's docstring announces: `Found: race, wrong.`"""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    announced = re.search(r"^Found: (.+)\.$", docstring, re.M)
    assert announced, f"{path.name}: the docstring must end in 'Found: kind.'"
    return set(announced[1].split(", "))
