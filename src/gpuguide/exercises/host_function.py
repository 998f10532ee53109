"""Judges a host function: calls it with stand-ins, or on the GPU, and reports what it did."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable
from itertools import islice
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.exercises.model import Exercise, FunctionTask
from gpuguide.exercises.report import FAILED, NOT_AT_HAND, PASSED, LaneReport
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.stand_ins.time_limit import TooLongError, time_limit
from gpuguide.machine.memory import is_out_of_memory

__all__ = ["judge_function"]

LIMIT_S = float(os.environ.get("GPUGUIDE_TIME_LIMIT", "20"))
"""Seconds that a function may take for all cases together."""

_MOST_FINDINGS = 5


def judge_function(exercise: Exercise, function: Callable[..., Any], lane: str = "simulator") -> LaneReport:
    """Call a reader's function as its exercise prescribes.

    Parameters
    ----------
    exercise : Exercise
        Whose task is a function.
    function : callable
        The reader's.
    lane : str
        ``"simulator"`` with stand-ins; ``"gpu"`` with the real CuPy, in a worker process.

    Returns
    -------
    LaneReport
        Of that lane.

    Raises
    ------
    ArgumentError
        The function has the wrong parameters.
    """
    task = exercise.task
    assert isinstance(task, FunctionTask)
    _check_signature(exercise.name, task.parameters, function)
    judge = task.judge if lane == "simulator" else task.on_gpu
    assert judge is not None
    try:
        with time_limit(LIMIT_S):
            findings = tuple(islice(judge(function), _MOST_FINDINGS))
            praise = task.praise(function) if task.praise and not findings and lane == "simulator" else ""
    except (Exception, SystemExit, TooLongError) as error:  # the reader's own
        if lane == "gpu" and is_out_of_memory(error):
            return LaneReport(lane, NOT_AT_HAND, "The GPU has too little free memory at the moment.")
        findings = (_raised(error, function),)
    if findings:
        return LaneReport(lane, FAILED, findings=findings)
    return LaneReport(lane, PASSED, notes=(praise,) if praise else ())


def _check_signature(exercise: str, expected: tuple[str, ...], function: Callable[..., Any]) -> None:
    if not expected:
        return
    try:
        inspect.signature(function).bind(*expected)
    except (TypeError, ValueError):
        name = getattr(function, "__name__", "the function")
        raise ArgumentError(
            f"{exercise} asks for a function with the parameters ({', '.join(expected)}); "
            f"{name}{_signature(function)} cannot be called so."
        ) from None


def _signature(function: Callable[..., Any]) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return "()"


def _raised(error: BaseException, function: Callable[..., Any]) -> Finding:
    """Say what the reader's function raised, with the last line of its file that the error passed."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    file = code.co_filename if code is not None else ""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if _is_of(frame, file)]
    where = f" in line {lines[-1]}" if lines else ""
    name = getattr(function, "__name__", "The function")
    if isinstance(error, TooLongError):
        message = f"{name} had not ended after {error.limit_s:g} s{where}."
        return Finding("endless", message, line=lines[-1] if lines else None)
    text = f"{type(error).__name__}: {error}".rstrip(".")
    return Finding("exception", f"{name} raised {text}{where}.", line=lines[-1] if lines else None)


def _is_of(frame: Any, file: str) -> bool:
    return bool(frame.f_code.co_filename == file)
