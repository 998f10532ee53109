"""Checks a reader's answer: a function in this session, or one in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gpuguide.errors import ArgumentError, BackendError, NoGpuError
from gpuguide.exercises import pool, progress
from gpuguide.exercises.host_function import judge_function
from gpuguide.exercises.lanes import choose_lanes, judge, judge_in_lanes
from gpuguide.exercises.model import Exercise, KernelTask
from gpuguide.exercises.reading import (
    Answer,
    check_parameters,
    definition,
    plain_function,
    quotable,
    read,
    read_file,
    read_host_file,
)
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, LaneReport
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.verdict import LANE_NAMES, Verdict

__all__ = ["check", "check_file", "judge"]


def check(
    name: str, function: Callable[..., Any], *, lanes: Sequence[str] | None = None, quiet: bool = False
) -> Verdict:
    """Judge your answer to an exercise, and remember it as done if it passes in all lanes at hand.

    A simulator traces a kernel's source thread by thread; it is also compiled, if NVIDIA's compiler is
    installed, and launched, if there is a GPU. You need not launch anything, and a kernel that crashes or
    never ends does not harm this session.

    Parameters
    ----------
    name : str
        The exercise, as `names` lists it.
    function : callable
        Your kernel, decorated with ``@cuda.jit``; or your function, where the exercise asks for one that
        runs on the host.
    lanes : sequence of str, optional
        Some of ``"simulator"``, ``"compile"`` and ``"gpu"``; by default all that the exercise has. An answer
        judged in only some of them is not remembered.
    quiet : bool
        Do not show on a terminal which lane is running.

    Returns
    -------
    Verdict
        Shown by ``print``, or as a notebook's last expression. Its ``passed`` is True or False.

    Raises
    ------
    UnknownNameError
        There is no such exercise or lane.
    ArgumentError
        `function` is not a function, has the wrong parameters, or its source cannot be found.
    NoGpuError
        The exercise can be judged on a GPU only, and there is none.

    Examples
    --------
    >>> from numba import cuda
    >>> from gpuguide.exercises import check
    >>> @cuda.jit
    ... def maximum_kernel(a, b, out):
    ...     i = cuda.grid(1)
    ...     if i < out.size:
    ...         out[i] = max(a[i], b[i])
    >>> check("guard", maximum_kernel, lanes=["simulator"]).passed
    True
    """
    exercise = pool.get(name)
    verdict = _check(exercise, function, choose_lanes(exercise, lanes), quiet)
    if verdict.passed and lanes is None:
        # A verdict is worth showing even if the list of solved exercises cannot be written.
        with suppress(progress.ProgressError):
            progress.remember(name)
    return verdict


def _check(exercise: Exercise, function: Callable[..., Any], chosen: tuple[str, ...], quiet: bool) -> Verdict:
    name = exercise.name
    if isinstance(exercise.task, KernelTask):
        return _judge(exercise, read(name, function), chosen, quiet)
    quoted = quotable(name, plain_function(name, function, kernel=False))
    here = partial(judge_function, exercise, function)
    try:
        answer = read(name, function, kernel=False) if "gpu" in chosen else quoted
    except ArgumentError as error:  # it can be called here, but not sent to another process
        return _judge(exercise, quoted, chosen, quiet, here, {"gpu": str(error)})
    return _judge(exercise, answer, chosen, quiet, here)


def check_file(
    name: str,
    path: Path,
    *,
    function: str = "",
    lanes: Sequence[str] | None = None,
    quiet: bool = False,
) -> Verdict:
    """Judge an answer in a file.

    Parameters
    ----------
    name : str
        The exercise.
    path : pathlib.Path
        A Python file. For a kernel nothing in it is executed: the kernel, the functions it calls, and the
        imports and constants they use are read from the source text. For a host function the file is
        executed in a process of its own, with your rights.
    function : str
        Name of the function; by default that of the exercise's stub, or else the last one in the file.
    lanes, quiet
        As for `check`.

    Returns
    -------
    Verdict
        As for `check`.

    Raises
    ------
    UnknownNameError, ArgumentError, NoGpuError
        As for `check`; or the file cannot be read.
    """
    exercise = pool.get(name)
    chosen = choose_lanes(exercise, lanes)
    if isinstance(exercise.task, KernelTask):
        return _judge(exercise, read_file(path, function, exercise.function_name), chosen, quiet)
    answer = read_host_file(path, function, exercise.function_name)
    return _judge(exercise, answer, chosen, quiet)


def _judge(
    exercise: Exercise,
    answer: Answer,
    lanes: tuple[str, ...],
    quiet: bool,
    judge_here: Callable[[], LaneReport] | None = None,
    missing: Mapping[str, str] = MappingProxyType({}),
) -> Verdict:
    if isinstance(exercise.task, KernelTask):
        # Before any process is started.
        check_parameters(exercise.name, exercise.task.parameters, answer)
        if not answer.is_kernel:
            finding = Finding(
                "compile",
                f"{answer.name} is a plain Python function, which no GPU can run: "
                "decorate it with @cuda.jit.",
                line=definition(answer).lineno,
            )
            return Verdict(exercise, (LaneReport(lanes[0], FAILED, findings=(finding,)),), answer)
    tell = (lambda lane: None) if quiet else _tell
    reports = judge_in_lanes(exercise, answer, lanes, judge_here=judge_here, missing=missing, tell=tell)
    if all(report.state == NOT_AT_HAND for report in reports):
        # The simulator's reason is about the answer, the others' about the machine.
        first, others = reports[0], reports[1:]
        reason = reports[-1].reason
        if first.lane == "simulator":
            left = [f"{LANE_NAMES[report.lane]}: {report.reason}" for report in others]
            reason = " ".join([first.reason, *left])
        raise _no_lane(exercise, lanes, reason)
    return Verdict(exercise, reports, answer)


def _tell(lane: str) -> None:
    """Show on a terminal which lane is running; nowhere else, because notebooks keep what is printed."""
    if sys.stderr.isatty():
        print(f"{LANE_NAMES[lane]} ...", file=sys.stderr)


def _no_lane(exercise: Exercise, lanes: tuple[str, ...], reason: str) -> NoGpuError | BackendError:
    if exercise.lanes == ("gpu",):
        return NoGpuError(f"{exercise.name!r} can be judged on a GPU only. {reason}")
    kind = NoGpuError if lanes == ("gpu",) else BackendError
    which = f"lane {lanes[0]}" if len(lanes) == 1 else f"lanes {', '.join(lanes)}"
    return kind(f"The {which} cannot judge {exercise.name!r} here. {reason}")
