"""The worker process: reads a job, then a lane a line, and writes a report for each.

Run as ``python -m gpuguide.exercises.worker LANE ...``. A reader's code may crash or hang this process; the
session that started it only reads what it wrote.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO

from gpuguide.errors import ArgumentError
from gpuguide.exercises import pool
from gpuguide.exercises.compile_lane import judge_compile
from gpuguide.exercises.constants import decode
from gpuguide.exercises.gpu_judge import judge_on_gpu
from gpuguide.exercises.host_function import judge_function
from gpuguide.exercises.model import FunctionTask
from gpuguide.exercises.reading import Answer, execute
from gpuguide.exercises.report import LaneReport
from gpuguide.machine.backends import cupy, numba_cuda

__all__ = ["main", "perform"]


def perform(job: Mapping[str, Any], lane: str, say: Callable[[str], None]) -> LaneReport:
    """Judge what a job describes, in this process."""
    exercise = pool.get(job["exercise"])
    constants = {name: decode(value) for name, value in job["constants"].items()}
    answer = Answer(job["source"], job["name"], constants, job["place"], job["folder"])
    if isinstance(exercise.task, FunctionTask):
        say("real arrays" if lane == "gpu" else "stand-ins")
        path = Path(answer.folder, answer.place or "answer.py")
        sys.path[:0] = [answer.folder] if answer.folder not in ("", *sys.path) else []
        return judge_function(exercise, execute(answer.source, answer.name, path, constants), lane)
    if lane == "compile":
        return judge_compile(exercise, answer)
    return judge_on_gpu(exercise, answer, say)


def main(arguments: Sequence[str]) -> int:
    """Import what the lanes need, read the job, and write a report for each lane that is asked for."""
    answers = _take_standard_output()
    # Imports take longer than judging, so they run while the session still simulates. An import that fails
    # here fails again where it is needed, with its own message.
    with contextlib.suppress(Exception):
        if {"compile", "gpu"} & set(arguments):
            numba_cuda()
        if "gpu" in arguments:
            cupy()
    job = json.loads(sys.stdin.readline() or "null")
    for line in sys.stdin if job else ():
        try:
            report = perform(job, json.loads(line)["lane"], lambda label: _write(answers, {"at": label}))
        except ArgumentError as error:
            _write(answers, {"refused": str(error)})
        else:
            _write(answers, {"report": report.as_json()})
    return 0


def _take_standard_output() -> TextIO:
    """Return standard output, and redirect all that the reader's code prints to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _write(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _leave(code: int) -> NoReturn:
    """End at once: after an illegal address CUDA's own clean-up only complains, to the reader."""
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(OSError, TypeError):
        ctypes.CDLL(None).fflush(None)  # what kernels printed
    os._exit(code)


if __name__ == "__main__":
    _leave(main(sys.argv[1:]))
