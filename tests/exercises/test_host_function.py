"""Functions of the host are called with stand-ins; whatever they do, a report comes of it."""

import answers
import pytest

from gpuguide.errors import ArgumentError
from gpuguide.exercises.host_function import judge_function
from gpuguide.exercises.model import FunctionTask
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED
from gpuguide.exercises.simulator.findings import Finding


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
