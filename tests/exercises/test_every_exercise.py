"""Every exercise: its solution passes, its start is refused, and each of its mistakes gets its kind."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module

import pytest

from gpuguide.exercises import get, names
from gpuguide.exercises.answer import read_source
from gpuguide.exercises.checking import judge
from gpuguide.exercises.model import LEVELS, HostExercise, KernelExercise, Mistake

ODD = ("None", "3", "'text'", "[]", "(1, 2)", "object()")


def mistakes(name: str) -> tuple[Mistake, ...]:
    return import_module(f"gpuguide.exercises.pool.{name}.exercise").MISTAKES


def verdict(name: str, source: str):
    exercise = get(name)
    return judge(exercise, read_source(source, exercise.function_name))


@pytest.mark.parametrize("name", names())
def test_its_solution_passes(name: str) -> None:
    assert verdict(name, get(name).solution).findings == ()


@pytest.mark.parametrize("name", names())
def test_its_start_is_refused(name: str) -> None:
    assert verdict(name, get(name).start).findings


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name in names() for number in range(len(mistakes(name)))]
)
def test_a_mistake_gets_its_kind(name: str, number: int) -> None:
    mistake = mistakes(name)[number]
    found = verdict(name, mistake.made_in(get(name).solution)).findings
    assert [finding.kind for finding in found[:1]] == [mistake.kind], found


@pytest.mark.parametrize("name", names())
def test_it_is_complete(name: str) -> None:
    exercise = get(name)
    assert (exercise.name, exercise.level in LEVELS) == (name, True)
    assert len(exercise.hints) >= 2
    assert "*Judged:*" in exercise.statement
    assert exercise.pages
    assert 4 <= len(mistakes(name)) <= 8
    assert re.fullmatch(r"(\S+ ){0,5}\S+", exercise.title)
    for parameter in exercise.parameters:
        assert f"`{parameter}" in exercise.statement


@pytest.mark.parametrize("name", [name for name in names() if isinstance(get(name), HostExercise)])
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_result_is_refused_in_words(name: str, odd: str) -> None:
    """A judge that fails on what a beginner returns would show a traceback of its own."""
    exercise = get(name)
    source = f"def {exercise.function_name}({', '.join(exercise.parameters)}):\n    return {odd}\n"
    assert verdict(name, source).findings


@pytest.mark.parametrize("name", [name for name in names() if isinstance(get(name), KernelExercise)])
def test_its_launches_are_the_same_each_time(name: str) -> None:
    first, second = ([(each.about, dict(each.expected)) for each in get(name).launches()] for _ in range(2))
    assert first == second


def test_what_a_page_checks_needs_neither_numpy_nor_numba() -> None:
    """A browser's Python has neither."""
    in_page = [name for name in names() if get(name).in_page]
    code = f"""
import sys
for module in ("numpy", "numba", "numba_cuda", "cupy", "scipy", "rich", "platformdirs"):
    sys.modules[module] = None
from gpuguide import exercises
assert all(exercises.check(name, exercises.get(name).solution).passed for name in {in_page})
"""
    subprocess.run([sys.executable, "-c", code], check=True)
