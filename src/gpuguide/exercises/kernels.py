"""Judges a kernel: traces each launch of its exercise until one gives a wrong result."""

from __future__ import annotations

import ast
from dataclasses import replace
from math import prod
from typing import Any

from gpuguide.exercises.answer import FILE, Answer, raised
from gpuguide.exercises.model import KernelExercise, Launch
from gpuguide.exercises.report import Finding, Report
from gpuguide.tracer import Trace, launch, load
from gpuguide.tracer.trace import trace

__all__ = ["about", "judge_kernel"]

#: Threads that go round a loop so often will hardly end; no exercise asks for more than a few hundred turns.
_MOST_TURNS = 20_000
#: A kernel that costs too much is launched with no more threads: it may take very long with more data.
_MOST_THREADS_OF_A_COSTLY_ONE = 256
#: What is said of a launch only where its results are right; those of the next launch may be wrong.
_RESULTS_ARE_RIGHT = ("uncoalesced", "bank_conflict", "float64", "limit")


def judge_kernel(exercise: KernelExercise, answer: Answer) -> Report:
    """Trace an answer in each launch."""
    try:
        kernel = load_kernel(answer)
    except (Exception, SystemExit) as error:  # of the file itself, before any launch
        return Report((raised(error, "your file"),))
    if finding := _unfit(exercise, answer):
        return Report((finding,))
    n_right, n_accesses, most = 0, -1, Report()
    costly: Report | None = None
    for each in exercise.launches():
        if costly and _threads(each) > _MOST_THREADS_OF_A_COSTLY_ONE:
            continue
        traced = _traced(kernel, each, exercise)
        report = Report(traced.findings, about(each, traced), n_right, printed=traced.printed, trace=traced)
        if traced.findings and traced.findings[0].kind not in _RESULTS_ARE_RIGHT:
            return costly if costly and traced.findings[0].kind == "endless" else report
        if traced.findings:
            costly = costly or report
        n_right += 1
        if (n := len(traced.run.accesses) if traced.run else 0) > n_accesses:
            n_accesses, most = n, report
    return costly or replace(most, n_right=n_right)


def load_kernel(answer: Answer) -> Any:
    """Return the kernel of an answer, executed with the tracer's stand-ins in the place of Numba.

    What the file launches itself is traced, so that readers can print what their kernel does.
    """
    if answer.function:
        return answer.function
    file = load(answer.source, FILE, launched=lambda configured, arguments: trace(configured, *arguments))
    return file.functions[answer.name]


def about(each: Launch, trace: Trace) -> str:
    """Say which launch it is: ``"With n = 33, 2 blocks of 32 threads"``."""
    return f"With {each.about}, {trace.label}"


def _threads(each: Launch) -> int:
    sizes = (each.blocks, each.threads)
    return prod(size if isinstance(size, int) else prod(size) for size in sizes)


def _traced(kernel: Any, each: Launch, exercise: KernelExercise) -> Trace:
    limits = exercise.limits
    if each.loop_turns is not None:
        limits = replace(limits, loop_turns=each.loop_turns)
    return launch(
        kernel, each.blocks, each.threads, each.arguments, expected=each.expected, tolerance=each.tolerance,
        limits=limits, shared_bytes=each.shared_bytes, most_turns=_MOST_TURNS,
    )  # fmt: skip


def _unfit(exercise: KernelExercise, answer: Answer) -> Finding | None:
    """Say why an answer is no kernel of this exercise."""
    functions = [node for node in ast.parse(answer.source).body if isinstance(node, ast.FunctionDef)]
    kernel = next(node for node in functions if node.name == answer.name)
    if not kernel.decorator_list:
        text = f"{answer.name} is a plain Python function: decorate it with @cuda.jit."
        return Finding("compile", text, (kernel.lineno,))
    if len(kernel.args.args) != len(exercise.parameters):
        text = f"{answer.name} must take the parameters ({', '.join(exercise.parameters)})."
        return Finding("signature", text, (kernel.lineno,))
    return None
