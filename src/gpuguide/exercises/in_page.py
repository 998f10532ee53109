"""Answers a page that runs this package in the browser; standard library only. Replies are JSON."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from html import escape
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gpuguide.errors import GpuGuideError
from gpuguide.exercises import pool
from gpuguide.exercises.answer import read_source
from gpuguide.exercises.checking import judge
from gpuguide.tracer import Trace
from gpuguide.tracer.script import run_script

__all__ = ["check", "trace"]


def check(name: str, source: str) -> str:
    """Judge an answer to an exercise."""
    exercise, printed = pool.get(name), StringIO()
    try:
        with redirect_stdout(printed):
            verdict = judge(exercise, read_source(source, exercise.function_name))
    except GpuGuideError as error:
        return _reply(text=str(error))
    lines = verdict.findings[0].lines if verdict.findings else ()
    return _reply(passed=verdict.passed, html=verdict.html() + _pre(printed.getvalue()), lines=lines)


def trace(source: str) -> str:
    """Run a script, and show each launch of a kernel as the command ``gpuguide trace`` does."""
    parts: list[str] = []
    lines: set[int] = set()
    printed = StringIO()

    def show(where: str, traced: Trace) -> None:
        parts.extend([_take(printed), f"<p>{escape(where.strip())}</p>", traced._repr_html_()])
        lines.update(line for finding in traced.findings for line in finding.lines)

    with TemporaryDirectory() as folder, redirect_stdout(printed):
        path = Path(folder, "kernel.py")
        path.write_text(source, encoding="utf-8")
        try:
            n_wrong = run_script(path, show=show)
        except SyntaxError as error:
            return _reply(text=f"Python cannot read line {error.lineno}: {error.msg}.", lines=[error.lineno])
    passed = bool(parts) and not n_wrong
    return _reply(passed=passed, html="".join([*parts, _take(printed)]), lines=sorted(lines))


def _take(printed: StringIO) -> str:
    """Return what was printed since the last time."""
    text = printed.getvalue()
    printed.seek(0)
    printed.truncate()
    return _pre(text)


def _pre(text: str) -> str:
    return f"<pre>{escape(text)}</pre>" if text else ""


def _reply(*, passed: bool = False, **more: Any) -> str:
    """Say whether nothing is wrong, with ``html`` or ``text`` to show, and the ``lines`` to mark."""
    return json.dumps({"passed": passed, **more})
