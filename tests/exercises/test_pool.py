"""The pool: right answers pass, stubs and beginners' mistakes are refused, texts say what they must."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from operator import attrgetter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from pool_answers import (
    announced_kinds,
    kernels,
    kinds,
    known_reports,
    not_at_hand,
    reports,
    right_answers,
    wrong_answers,
)

from gpuguide.exercises import get, names
from gpuguide.exercises.model import LEVELS, POOL, Call, Exercise
from gpuguide_docs.contract.typed_figures import find_typed_figures, plain_lines

FILES = ("exercise.py", "statement.md", "hints.md", "stub.py", "solution.py")
# Threads that all launches of an exercise may have together: a bound on a check's time that no clock shakes.
MOST_THREADS = 20_000
# Of the largest launch, shared memory included.
MOST_ACCESSES = 30_000


@pytest.mark.parametrize("name", names())
def test_the_solution_passes(name: str) -> None:
    exercise = get(name)
    said = known_reports(exercise, exercise.solution)
    assert not kinds(said), said[-1].findings
    if reason := not_at_hand(said):
        pytest.skip(f"a lane is not at hand: {reason}")
    assert all(report.passed for report in said)


@pytest.mark.parametrize(
    "path", [path for paths in right_answers().values() for path in paths], ids=attrgetter("stem")
)
def test_other_right_answers_pass(path: Path) -> None:
    """What the statement allows is allowed, however it is written."""
    exercise = get(next(name for name, paths in right_answers().items() if path in paths))
    said = reports(exercise, path.read_text(encoding="utf-8"))
    assert not kinds(said), said[-1].findings
    assert said[0].passed, said[0].reason


@pytest.mark.parametrize("name", names())
def test_the_stub_is_refused(name: str) -> None:
    exercise = get(name)
    said = known_reports(exercise, exercise.stub)
    assert kinds(said)
    # Else somebody without that lane would be told that the stub has passed.
    assert said[-1].lane == (exercise.decided_in or "simulator")


# Stubs that give wrong results, or touch what they must not: the statement says so. All others work, slowly.
DOES_NOT_WORK = {"guard": "out_of_range"}
SLOW = {"limit", "float64", "uncoalesced", "bank_conflict"}


@pytest.mark.parametrize("name", kernels())
def test_a_stub_works_and_is_only_slow(name: str) -> None:
    exercise = get(name)
    first = kinds(known_reports(exercise, exercise.stub))[0]
    assert first in ({DOES_NOT_WORK[name]} if name in DOES_NOT_WORK else SLOW)


@pytest.mark.parametrize("name", names())
def test_beginners_mistakes_are_refused_for_the_right_reason(name: str) -> None:
    exercise, answers = get(name), wrong_answers()[name]
    assert len(answers) >= 2
    for path in answers:
        found = kinds(known_reports(exercise, path.read_text(encoding="utf-8")))
        assert found, f"{path.name} passes"
        assert found[0] in announced_kinds(path), f"{path.name}: found {found}"


@pytest.mark.parametrize("name", kernels())
def test_what_was_found_can_be_drawn(name: str) -> None:
    """A drawing is made when it is asked for, so nothing else would show that it cannot be."""
    exercise = get(name)
    for source in (exercise.stub, *(path.read_text(encoding="utf-8") for path in wrong_answers()[name])):
        report = known_reports(exercise, source)[-1]
        assert all(len(line) <= 78 for line in report.drawing.splitlines())
        if report.svg:
            assert ElementTree.fromstring(report.svg).tag.endswith("svg")


@pytest.mark.parametrize("name", names())
def test_an_answer_of_constants_is_refused(name: str) -> None:
    """A kernel that does nothing, and a function that returns nothing."""
    exercise = get(name)
    source = f"def {exercise.function_name}({', '.join(exercise.task.parameters)}):\n    return None\n"
    assert kinds(reports(exercise, source))


@pytest.mark.parametrize("name", kernels())
def test_a_largest_block_is_stated_where_shared_memory_may_depend_on_it(name: str) -> None:
    """A shared array has a length of its own, and must have room for whatever block comes."""
    exercise = get(name)
    answers = exercise.solution, *(path.read_text(encoding="utf-8") for path in right_answers()[name])
    if any("shared.array" in answer for answer in answers):
        sides = {max(side) for side in zip(*(call.block for call in exercise.task.calls()), strict=True)}
        assert sides <= {int(number) for number in re.findall(r"\b\d+\b", exercise.statement)}


def test_the_order_is_complete() -> None:
    folders = {path.name for path in POOL.iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert set(names()) == folders
    assert len(names()) == len(set(names()))


@pytest.mark.parametrize("name", names())
def test_the_folder_is_complete(name: str) -> None:
    folder = POOL / name
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == sorted(FILES)
    exercise = get(name)
    assert exercise.name == name
    assert 1 <= len(exercise.title.split()) <= 6
    assert exercise.teaches.endswith(".")
    assert exercise.pages
    assert exercise.tags
    assert "simulator" in exercise.lanes


@pytest.mark.parametrize("name", names())
def test_level_minutes_and_hints(name: str) -> None:
    exercise = get(name)
    assert exercise.level in LEVELS
    assert 5 <= exercise.minutes <= 45
    assert 2 <= len(exercise.hints) <= 3


def test_levels_do_not_fall() -> None:
    """Kernel exercises become harder along the order, and the last is not the first's equal."""
    levels = [LEVELS.index(get(name).level) for name in kernels()]
    assert levels == sorted(levels)
    assert len(set(levels)) > 1


@pytest.mark.parametrize("name", names())
def test_the_statement_names_all_parameters(name: str) -> None:
    exercise = get(name)
    for each in exercise.task.parameters:
        assert re.search(rf"^- .*`[^`]*\b{each}\b[^`]*`.*:", exercise.statement, re.M), each
    for source in (exercise.stub, exercise.solution):
        assert parameters(source, exercise.function_name) == list(exercise.task.parameters)


def parameters(source: str, function: str) -> list[str]:
    node = [each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)][-1]
    assert node.name == function
    return [argument.arg for argument in node.args.args]


@pytest.mark.parametrize("name", kernels())
def test_the_statement_says_what_is_judged(name: str) -> None:
    exercise = get(name)
    assert "*Judged:*" in exercise.statement
    for array in re.findall(r"^- `(\w+)`.*?(?=^- |^$)", exercise.statement, re.M | re.S):
        assert array in exercise.task.parameters


@pytest.mark.parametrize("name", names())
def test_texts_are_of_the_subset(name: str) -> None:
    """Paragraphs, lists, code, emphasis and links: no headings, pictures, HTML, or roles."""
    exercise = get(name)
    for text in (exercise.statement, *exercise.hints):
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
        assert "`" not in prose, "code is closed on its line"
        assert not re.search(r"^\s*#|!\[|<\w|\{\w+\}", prose, re.M)
        assert "!" not in prose
        assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("name", names())
def test_texts_hold_no_measured_figure(name: str) -> None:
    """What is judged may be a figure: it is asked for, nobody measured it."""
    exercise = get(name)
    statement = re.sub(r"^\*Judged:\*.*?(?:\n\n|\Z)", "", exercise.statement, flags=re.M | re.S)
    for text in (exercise.title, exercise.teaches, statement, *exercise.hints, *comments(exercise)):
        assert not find_typed_figures(plain_lines(text))


def comments(exercise: Exercise) -> list[str]:
    """Comments of the stub and of the solution."""
    lines = (exercise.stub + exercise.solution).splitlines()
    return [line.partition("#")[2] for line in lines]


@pytest.mark.parametrize("name", kernels())
def test_a_check_stays_within_its_budget(name: str) -> None:
    """Threads and accesses are counted, not seconds: a launch of few is quick everywhere."""
    exercise = get(name)
    calls = list(exercise.task.calls())
    traced = [call for call in calls if not call.gpu_only]
    assert sum(n_threads(call.grid) * n_threads(call.block) for call in traced) <= MOST_THREADS
    assert len({call.label for call in calls}) == len(calls)
    largest = known_reports(exercise, exercise.solution)[0].stats
    assert largest.accesses <= MOST_ACCESSES


@pytest.mark.parametrize("name", kernels())
def test_an_index_of_16_bits_is_too_narrow_for_one_launch(name: str) -> None:
    """And the simulator, which is too slow for that one, has more elements than a block can have threads."""
    calls = list(get(name).task.calls())
    traced = [call for call in calls if not call.gpu_only]
    assert largest_size(calls) > 2**16
    assert largest_size(traced) > 1024


def largest_size(calls: list[Call]) -> int:
    return max(x.size for call in calls for x in call.arguments.values() if isinstance(x, np.ndarray))


def n_threads(axes: tuple[int, ...]) -> int:
    product = 1
    for length in axes:
        product *= length
    return product


@pytest.mark.parametrize("name", kernels())
def test_calls_are_made_afresh_and_alike(name: str) -> None:
    """A kernel changes the arrays it gets, so each call of `calls` makes new ones with the same contents."""
    task = get(name).task
    for first, second in zip(task.calls(), task.calls(), strict=True):
        assert list(first.arguments) == list(task.parameters)
        assert set(first.expected) <= set(first.arguments)
        for key, value in first.arguments.items():
            other = second.arguments[key]
            np.testing.assert_array_equal(value, other)
            assert not np.ndim(value) or not np.shares_memory(value, other)


@pytest.mark.parametrize("name", names())
def test_solutions_are_short(name: str) -> None:
    """And plain ASCII, by whose columns mutants are made."""
    assert get(name).solution.isascii()
    lines = [line for line in get(name).solution.splitlines() if line.strip()]
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 100


# What a GPU may do right by chance, or does right and merely slowly: the simulator is there to find it.
GPU_MAY_PASS = {
    "race": "a race can come out right, on one GPU nearly always",
    "missed_barrier": "what a barrier does that some threads miss is undefined, and often harmless",
    "divergent_barrier": "what a barrier does that some threads miss is undefined, and often harmless",
    "missing_lane": "what a shuffle takes from a lane that is not there is undefined, and often harmless",
    "uninitialised": "memory that nobody has set may hold a zero by chance",
    "negative_index": "Numba reads from the end, and the value there can be the right one",
    "out_of_range": "a value read behind an array may not change the result",
    "limit": "the result is right",
    "float64": "the result is right",
    "came_between": "other threads may not come between by chance",
    "memory": "a GPU has more of it than the task allows",
    "uncoalesced": "the result is right",
    "bank_conflict": "the result is right",
}


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in names() if "gpu" in get(name).lanes])
def test_the_gpu_agrees(name: str) -> None:
    exercise = get(name)
    (report,) = reports(exercise, exercise.solution, ("gpu",))
    assert report.passed, report.findings or report.reason
    for path in wrong_answers()[name]:
        if not announced_kinds(path) & GPU_MAY_PASS.keys():
            source = path.read_text(encoding="utf-8")
            assert kinds(reports(exercise, source, ("gpu",))), f"{path.name} passes on the GPU"


@pytest.mark.parametrize("name", names())
def test_code_for_a_notebook_imports_only_what_the_package_brings(name: str) -> None:
    """Or CuPy, without which no GPU is used."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    brought = {re.match(r"[a-z-]+", each)[0] for each in project["project"]["dependencies"]}
    for code in re.findall(r"```python\n(.*?)```", get(name).statement, re.DOTALL):
        tree = list(ast.walk(ast.parse(code)))
        used = [alias.name for node in tree if isinstance(node, ast.Import) for alias in node.names]
        used += [str(node.module) for node in tree if isinstance(node, ast.ImportFrom)]
        packages = {module.partition(".")[0] for module in used} - sys.stdlib_module_names
        assert packages <= {*brought, "gpuguide", "cupy", "cupyx"}
