"""Functions of the host are called with stand-ins; whatever they do, a report comes of it."""

import sys
from typing import NamedTuple

import answers
import numpy as np
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.exercises import get
from gpuguide.exercises.host_function import judge_function
from gpuguide.exercises.model import FunctionTask
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
from gpuguide.exercises.stand_ins.judging import attempt


def task(**changes):
    def judge(function):
        for x in (1, 2):
            if function(x) != 2 * x:
                yield Finding("wrong", f"With {x} the result is wrong.")

    whole = {"judge": judge, "parameters": ("x",), "praise": lambda function: "Two calls were right."}
    return answers.exercise(task=FunctionTask(**{**whole, **changes}), lanes=("simulator", "gpu"))


def test_a_right_function_is_praised() -> None:
    report = judge_function(task(), lambda x: 2 * x)
    assert (report.lane, report.state, report.notes) == ("simulator", PASSED, ("Two calls were right.",))
    assert judge_function(task(praise=None), lambda x: 2 * x).notes == ()


def test_findings_are_kept_in_order() -> None:
    report = judge_function(task(), lambda x: 0)
    assert report.state == FAILED
    assert [str(finding) for finding in report.findings] == [
        "With 1 the result is wrong.",
        "With 2 the result is wrong.",
    ]


def test_a_judge_without_end_is_left_after_a_few() -> None:
    def judge(function):
        while True:
            yield Finding("wrong", "Again.")

    assert len(judge_function(task(judge=judge), lambda x: x).findings) == 5


def test_a_changed_input_comes_before_a_wrong_result() -> None:
    def judge(function):
        for kind in ("wrong", "input_changed", "wrong"):
            yield Finding(kind, "Something is wrong.")

    report = judge_function(task(judge=judge), lambda x: 0)
    assert [finding.kind for finding in report.findings] == ["input_changed", "wrong", "wrong"]


def forgets(cp, x, factors):
    if not x.size:
        return
    x * factors[:, None]


def test_a_missing_return_is_asked_for() -> None:
    (finding,) = judge_function(get("one_launch"), forgets).findings
    assert finding.message.endswith("and it is not. The function returns nothing: is a return missing?")


def half_done(cp, a, b):
    a_gpu = cp.asarray(a)
    product = ...
    a_gpu[...] = product
    return ...


def test_blanks_that_are_left_are_named() -> None:
    (finding,) = judge_function(get("fill_in_dot"), half_done).findings
    first = half_done.__code__.co_firstlineno
    lines = first + 2, first + 4
    assert finding.message == "Blanks are left (lines {} and {}): put code in the place of `...`.".format(
        *lines
    )
    assert (finding.line, finding.lines) == (lines[0], lines)
    # Elsewhere, three dots may be as good as any other word.
    assert "Blanks" not in judge_function(get("one_launch"), half_done).findings[0].message


def test_what_the_function_raises_is_a_finding_with_its_line() -> None:
    def fails(x):
        y = x - x
        return x / y

    report = judge_function(task(), fails)
    (finding,) = report.findings
    line = fails.__code__.co_firstlineno + 2
    assert (finding.kind, finding.line) == ("exception", line)
    assert finding.message == f"fails raised ZeroDivisionError: division by zero in line {line}."


@pytest.mark.parametrize("function", [lambda: 0, lambda x, y: 0, lambda *, x: 0])
def test_wrong_parameters_are_refused(function) -> None:
    with pytest.raises(
        ArgumentError, match=r"double asks for a function with the parameters \(x\); <lambda>\("
    ):
        judge_function(task(), function)


def test_the_gpu_lane_has_a_judge_of_its_own() -> None:
    def on_gpu(function):
        yield Finding("wrong", "Seen on the GPU.")

    report = judge_function(task(on_gpu=on_gpu), lambda x: 2 * x, "gpu")
    assert (report.lane, report.state, str(report.findings[0])) == ("gpu", FAILED, "Seen on the GPU.")
    report = judge_function(task(on_gpu=lambda function: ()), lambda x: 2 * x, "gpu")
    assert (report.state, report.notes) == (PASSED, ())


def test_a_full_gpu_is_no_finding() -> None:
    def full(x):
        raise MemoryError("Out of memory allocating 8 bytes")

    report = judge_function(task(on_gpu=lambda function: [function(1)]), full, "gpu")
    assert (report.state, report.reason) == (NOT_AT_HAND, "The GPU has too little free memory at the moment.")
    assert judge_function(task(), full).findings[0].kind == "exception", (
        "on the host it is the function's own"
    )


def looks_inside(x):
    return x._data


def changes_the_type(x):
    type(x).launch = None


def changes_the_judge(x):
    kind = type(x)
    kind.note_launch = lambda *_: None


def looks_at_who_calls(x):
    return sys._getframe(1).f_locals


def asks_by_name(x):
    name = "_data"
    return getattr(x, name)


def asks_another(x):
    return looks_inside(x)


@pytest.mark.parametrize(
    ("function", "step", "what"),
    [
        (looks_inside, 1, "uses _data"),
        (changes_the_type, 1, "takes launch from the type of an object"),
        (changes_the_judge, 2, "uses note_launch"),
        (looks_at_who_calls, 1, "uses _getframe"),
        (asks_by_name, 1, "names _data"),
        (asks_another, looks_inside.__code__.co_firstlineno + 1, "uses _data"),
    ],
)
def test_what_judges_a_function_is_out_of_its_reach(function, step, what) -> None:
    line = step if function is asks_another else function.__code__.co_firstlineno + step
    (finding,) = judge_function(task(), function).findings
    assert finding.line == line
    assert str(finding) == (
        f"Line {line} {what}, which is hidden in a library or in what judges the answer: do without it."
    )


class Doubling(NamedTuple):
    by: int = 2

    def of(self, x):
        return x * self.by


def doubles(x):
    kept = Kept()
    by = 2 if type(kept).__name__ == "Kept" else 0
    return kept._held(Doubling()._replace(by=by).of(x))


class Kept:
    def __init__(self):
        self._last = 0

    def _held(self, x):
        self._last = x
        return self._last


def test_a_function_may_hide_what_is_its_own() -> None:
    assert judge_function(task(), doubles).state == PASSED


def test_what_only_a_gpu_can_run_is_judged_there() -> None:
    def judge(function):
        yield attempt(function, "Once", FakeCupy())[1]

    def by_a_kernel(x):
        return x.ElementwiseKernel("T a", "T b", "b = a")

    report = judge_function(task(judge=judge), by_a_kernel)
    line = by_a_kernel.__code__.co_firstlineno + 1
    assert (report.state, report.reason) == (
        NOT_AT_HAND,
        f"Line {line} uses cp.ElementwiseKernel: code in CUDA C++, which the stand-ins cannot run; a GPU can "
        "judge it.",
    )


@pytest.mark.filterwarnings("default")
def test_a_warning_names_the_reader_s_line(capsys) -> None:
    """The line inside of NumPy or a stand-in, and its path, say nothing to readers."""

    def means(x):
        np.var(np.ones(1), ddof=1)
        return 2 * x

    judge_function(task(), means)
    line = means.__code__.co_firstlineno + 1
    said = capsys.readouterr().err.splitlines()
    assert said[0] == f"Line {line}: RuntimeWarning: Degrees of freedom <= 0 for slice"
    assert all(each.startswith(f"Line {line}: RuntimeWarning: ") for each in said)


@pytest.mark.filterwarnings("default")
def test_a_warning_of_the_judge_s_own_is_not_shown(capsys) -> None:
    def judge(function):
        np.var(np.ones(1), ddof=1)
        yield from ()

    from_another_file = eval(compile("lambda x: x", "answer.py", "eval"))
    assert judge_function(task(judge=judge), from_another_file).passed
    assert capsys.readouterr().err == ""
