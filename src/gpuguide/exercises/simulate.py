"""The simulator lane: every launch of an exercise, traced in this process, up to the first that is wrong."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gpuguide.exercises.answer import Answer, check_parameters
from gpuguide.exercises.cases import poisoned
from gpuguide.exercises.compare import changed_inputs, snapshot, wrong_results
from gpuguide.exercises.limits import over_limits
from gpuguide.exercises.model import Call, Exercise, KernelTask
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED, LaneReport
from gpuguide.exercises.trace import prepare, run
from gpuguide.exercises.trace.findings import KINDS, Finding
from gpuguide.exercises.trace.prepare import TracedKernel
from gpuguide.exercises.trace.trace import Trace

__all__ = ["judge_simulated", "with_line"]

# After these, missing results are no news.
_ENDS_THE_LAUNCH = ("endless", "exception")


def judge_simulated(exercise: Exercise, answer: Answer) -> LaneReport:
    """Trace a kernel in every launch of an exercise.

    Parameters
    ----------
    exercise : Exercise
        Whose task is a kernel.
    answer : Answer
        The reader's kernel.

    Returns
    -------
    LaneReport
        With the findings of the first launch that is wrong and a drawing, or with the figures of the
        launch that touches memory most often. Not at hand if the kernel uses something that the simulator
        does not have.

    Raises
    ------
    ArgumentError
        The kernel has the wrong parameters.
    """
    task = exercise.task
    assert isinstance(task, KernelTask)
    check_parameters(exercise.name, task.parameters, answer)
    kernel = prepare(answer.source, answer.name, answer.constants)
    report, most = LaneReport("simulator", PASSED), (0, 0)
    for n_calls, (call, order) in enumerate(_launches(task.calls), 1):
        trace, findings = _launch(kernel, task, call, order)
        unknown = next((finding for finding in findings if finding.kind == "unsupported"), None)
        if unknown is not None:
            return LaneReport("simulator", NOT_AT_HAND, unknown.message)
        if findings:
            located = [with_line(finding, answer) for finding in findings]
            return _failed(trace, located, call, order, n_calls - 1)
        if _size(trace) >= most:
            most = _size(trace)
            report = replace(report, stats=trace.stats, stats_call=call.label)
        report = replace(report, n_calls=n_calls)
    return report


def _size(trace: Trace) -> tuple[int, int]:
    """Return the key by which launches are compared: one whose threads mostly lack an element says little."""
    stats = trace.stats
    return stats.reads + stats.writes + stats.atomics, stats.threads


def _launches(calls: Callable[[], Iterable[Call]]) -> Iterator[tuple[Call, str]]:
    """Yield every launch, then the last one of each block once more, its blocks and threads backwards."""
    last: dict[tuple[int, ...], int] = {}
    for position, call in enumerate(calls()):
        yield call, "forward"
        last[call.block] = position
    for position, call in enumerate(calls()):
        if position in last.values():
            yield call, "reverse"


def _launch(kernel: TracedKernel, task: KernelTask, call: Call, order: str) -> tuple[Trace, list[Finding]]:
    before = snapshot(call.arguments)
    trace = run(
        kernel,
        call.grid,
        call.block,
        call.arguments,
        order=order,
        shared_bytes=call.shared_bytes,
        outputs=[name for name in call.expected if _holds_nothing(before[name])],
    )
    findings = [*trace.findings, *changed_inputs(call, before, call.arguments, trace.names)]
    if not any(finding.kind in _ENDS_THE_LAUNCH for finding in findings):
        findings += wrong_results(call, call.arguments, trace.names)
    if not findings:
        findings = over_limits(task.limits, call, trace)
    return trace, sorted(findings, key=lambda finding: KINDS.index(finding.kind))


def _holds_nothing(x: np.ndarray[Any, Any]) -> bool:
    return x.tobytes() == poisoned(x.shape, x.dtype).tobytes()


def with_line(finding: Finding, answer: Answer) -> Finding:
    r"""Add to a wrong element the line that stores into its array, where there is just one.

    Parameters
    ----------
    finding : Finding
        Of any kind; one that has a line is returned as it is.
    answer : Answer
        The reader's kernel.

    Returns
    -------
    Finding
        With a line, if it could be found.

    Examples
    --------
    >>> answer = Answer("def k(x, out):\n    i = 0\n    out[i] = x[i]", "k")
    >>> with_line(Finding("wrong", "out[0] is wrong.", array="out"), answer).line
    3
    """
    if finding.line is not None or not finding.array:
        return finding
    stores = {
        node.lineno
        for node in ast.walk(ast.parse(answer.source))
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == finding.array
    }
    return replace(finding, line=stores.pop(), lines=()) if len(stores) == 1 else finding


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
