"""The simulator lane: every launch of an exercise, traced in this process, up to the first that is wrong."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np

from gpuguide.exercises.cases import poisoned
from gpuguide.exercises.constants import evaluate
from gpuguide.exercises.model import Call, Exercise, KernelTask
from gpuguide.exercises.numpy_views import as_constant, as_launched, values
from gpuguide.exercises.reading import Answer, check_parameters, undefined, unsupported
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED, LaneReport
from gpuguide.exercises.signatures import mismatch
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.judge import Launch, judge_launch, with_writers
from gpuguide.exercises.simulator.source import prepare
from gpuguide.exercises.simulator.trace import Figures, Trace
from gpuguide.measure.clocks import quiet

__all__ = ["judge_simulated", "with_line"]

_MANY_THREADS = 1024


def judge_simulated(exercise: Exercise, answer: Answer) -> LaneReport:
    """Trace a kernel in every launch of an exercise."""
    # A check makes a million tuples, none of which knows itself: to search them takes a sixth of the time.
    with quiet():
        return _judged(exercise, answer)


def _judged(exercise: Exercise, answer: Answer) -> LaneReport:
    task = exercise.task
    assert isinstance(task, KernelTask)
    check_parameters(exercise.name, task.parameters, answer)
    if found := unsupported(answer):
        return LaneReport("simulator", FAILED, findings=tuple(found))
    constants = {name: as_constant(value) for name, value in answer.constants.items()}
    kernel = prepare(
        answer.source, answer.name, constants, lambda node, known: as_constant(evaluate(node, known))
    )
    report, most, largest = LaneReport("simulator", PASSED), (-1, 0), None
    for n_calls, (call, order) in enumerate(_launches(task.calls), 1):
        if found := mismatch(answer, call.arguments):
            return replace(report, state=FAILED, findings=tuple(found), call=call.label, n_calls=n_calls - 1)
        limits = task.limits
        if exercise.decided_in == "compile":  # it sees more, and decides
            limits = replace(limits, float64_instructions=None)
        if call.loop_turns is not None:
            limits = replace(limits, loop_turns=call.loop_turns)
        trace, findings = judge_launch(kernel, _as_data(call), limits, order)
        if findings and findings[0].kind == "unsupported":
            return LaneReport("simulator", NOT_AT_HAND, findings[0].message)
        if findings:
            located = [with_line(with_writers(finding, trace), answer) for finding in findings]
            return _failed(trace, located, call, order, n_calls - 1)
        if _size(trace.figures) >= most:
            most, largest = _size(trace.figures), trace
            report = replace(report, stats_call=call.label, result=trace.names[next(iter(call.expected))])
        report = replace(report, n_calls=n_calls)
    if found := undefined(answer):
        return replace(report, state=FAILED, findings=tuple(found), n_calls=0)
    return replace(report, stats=largest.figures.work if largest else None, trace=largest)


def _size(figures: Figures) -> tuple[int, int]:
    """Return the key by which launches are compared: one whose threads mostly lack an element says little."""
    return figures.reads + figures.writes + figures.atomics, figures.threads


def _as_data(call: Call) -> Launch:
    """Return a launch as the simulator takes it."""
    expected = {name: values(contents) for name, contents in call.expected.items()}
    unset = [name for name in call.expected if _holds_nothing(call.arguments[name])]
    arguments = as_launched(call.arguments, unset)
    return Launch(call.label, call.grid, call.block, arguments, expected, call.tolerance, call.shared_bytes)


def _launches(calls: Callable[[], Iterable[Call]]) -> Iterator[tuple[Call, str]]:
    """Yield every launch, then the last one of each block once more, its blocks and threads backwards.

    Those that only a GPU makes are left out, and once more those without results: no order shows in them. Of
    a block's others, those with many threads are made once more only where no other is.
    """
    last: dict[tuple[int, ...], tuple[bool, int, Call]] = {}
    for position, call in enumerate(call for call in calls() if not call.gpu_only):
        yield call, "forward"
        # A launch changes copies of its arrays, so it can be made once more of the same call.
        if any(values.size for values in call.expected.values()):
            is_small = prod((*call.grid, *call.block)) < _MANY_THREADS
            if call.block not in last or is_small >= last[call.block][0]:
                last[call.block] = is_small, position, call
    for _, _, call in sorted(last.values(), key=itemgetter(1)):
        yield call, "reverse"


def _holds_nothing(x: np.ndarray[Any, Any]) -> bool:
    return x.tobytes() == poisoned(x.shape, x.dtype).tobytes()


def with_line(finding: Finding, answer: Answer) -> Finding:
    r"""Add to a wrong element the lines that store into its array.

    >>> answer = Answer("def k(x, out):\n    out[0] = 0\n    out[1] = x[1]", "k")
    >>> with_line(Finding("wrong", "out[2] is wrong.", array="out"), answer).lines
    (2, 3)
    """
    if finding.line is not None or not finding.array:
        return finding
    nodes = (node for node in ast.walk(answer.tree) if isinstance(node, ast.expr))
    stores = sorted({node.lineno for node in nodes if _changes(node, finding.array)})
    return replace(finding, line=stores[0], lines=tuple(stores)) if stores else finding


def _changes(node: ast.expr, array: str) -> bool:
    """Say whether a node stores into an array, or changes it atomically."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
            return name == array
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="atomic")), args=[ast.Name(id=name), *_]):
            return name == array
    return False


def _failed(trace: Trace, findings: list[Finding], call: Call, order: str, n_calls: int) -> LaneReport:
    backwards = "" if order == "forward" else ", blocks and threads in reverse order"
    return LaneReport(
        "simulator",
        FAILED,
        findings=tuple(findings),
        call=call.label + backwards,
        n_calls=n_calls,
        trace=trace,
    )
