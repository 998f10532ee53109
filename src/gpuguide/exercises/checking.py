"""Checks a reader's answer: a function of this session, a text, or a file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from gpuguide.exercises import pool
from gpuguide.exercises.answer import Answer, read_file, read_function, read_source
from gpuguide.exercises.kernels import judge_kernel
from gpuguide.exercises.model import Exercise, KernelExercise
from gpuguide.exercises.verdict import Verdict

__all__ = ["check", "check_file", "judge"]


def check(name: str, answer: Callable[..., Any] | str, *, gpu: bool = False) -> Verdict:
    """Judge your answer to an exercise, and remember it as done if it passes.

    No GPU is needed: a kernel is traced thread by thread, and a function of the host gets stand-ins for what
    it uses. You need not launch anything, and a kernel that never ends does not harm this session.

    Parameters
    ----------
    name : str
        The exercise, as `names` lists it.
    answer : callable or str
        Your function, a kernel decorated with ``@cuda.jit``; or the source text of it, which needs no Numba.
    gpu : bool
        Launch a right kernel on this computer's GPU, too.

    Returns
    -------
    Verdict
        Shown by ``print``, or as a notebook's last expression. Its ``passed`` is True or False.

    Raises
    ------
    UnknownNameError
        There is no such exercise.
    ArgumentError
        `answer` is neither a function nor a text with one, or its source cannot be found.
    NoGpuError
        `gpu` is asked for, and there is none.

    Examples
    --------
    >>> from gpuguide.exercises import check, get
    >>> check("guard", get("guard").solution).passed
    True
    """
    exercise = pool.get(name)
    taken = read_source(answer, exercise.function_name) if isinstance(answer, str) else read_function(answer)
    verdict = judge(exercise, taken, gpu=gpu)
    if verdict.passed:
        from gpuguide.exercises import progress

        # A verdict is worth showing even if the list of solved exercises cannot be written.
        with suppress(progress.ProgressError, ModuleNotFoundError):
            progress.remember(name)
    return verdict


def check_file(name: str, path: Path, *, gpu: bool = False) -> Verdict:
    """Judge an answer in a file, which is executed."""
    exercise = pool.get(name)
    return judge(exercise, read_file(path, exercise.function_name), gpu=gpu)


def judge(exercise: Exercise, answer: Answer, *, gpu: bool = False) -> Verdict:
    """Judge an answer; nothing is remembered."""
    if not isinstance(exercise, KernelExercise):
        # It needs NumPy, and kernels do not.
        from gpuguide.exercises.host import judge_host

        return Verdict(exercise, answer, judge_host(exercise, answer))  # type: ignore[arg-type]
    report = judge_kernel(exercise, answer)
    said = ""
    if gpu and not report.findings:
        from gpuguide.exercises.second_opinion import judge_on_gpu

        report, said = judge_on_gpu(exercise, answer, report)
    return Verdict(exercise, answer, report, said)
