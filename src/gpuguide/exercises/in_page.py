"""Answers a page that runs this package in the browser; standard library only. Replies are JSON."""

from __future__ import annotations

import json

from gpuguide.errors import GpuGuideError
from gpuguide.exercises import pool
from gpuguide.exercises.answer import read_source
from gpuguide.exercises.checking import judge

__all__ = ["check"]


def check(name: str, source: str) -> str:
    """Judge an answer to an exercise on a kernel: ``passed``, the verdict as ``html``, and the ``lines`` it names."""
    exercise = pool.get(name)
    try:
        verdict = judge(exercise, read_source(source, exercise.function_name))
    except GpuGuideError as error:
        return json.dumps({"passed": False, "text": str(error)})
    lines = verdict.findings[0].lines if verdict.findings else ()
    return json.dumps({"passed": verdict.passed, "html": verdict.html(), "lines": lines})
