"""``gpuguide exercises``: lists exercises, starts one, checks it, watches it, gives hints."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from gpuguide.errors import ArgumentError
from gpuguide.exercises import pool, progress
from gpuguide.exercises.model import Exercise, KernelExercise
from gpuguide.exercises.worker import NOT_YET, PASSED, REFUSED

__all__ = ["perform"]

LIMIT_S = float(os.environ.get("GPUGUIDE_TIME_LIMIT", "30"))
"""Seconds that checking a file may take."""
_POLL_S = 0.3
_WIDTH = 88


def perform(options: argparse.Namespace) -> int:
    """Do what the command line asks for."""
    actions = {
        "list": _list, "show": _show, "start": _start, "next": _next, "check": _check, "watch": _watch,
        "hint": _hint, "reset": _reset,
    }  # fmt: skip
    return actions[options.action or "list"](options)


# --- Which exercise, which file ---------------------------------------------------------------------------


def _named(name: str | None) -> tuple[Exercise, Path]:
    """Return an exercise and its file, by a name, by a file, or as the one that is in hand."""
    if name is None:
        return _in_hand()
    path = Path(name)
    if path.suffix == ".py":
        return pool.get(path.stem), path
    return pool.get(name), Path(f"{name}.py")


def _in_hand() -> tuple[Exercise, Path]:
    """Return the exercise whose file in this folder was saved last."""
    files = [path for name in pool.names() if (path := Path(f"{name}.py")).is_file()]
    if not files:
        raise ArgumentError("There is no file of an exercise here. Begin with: gpuguide exercises next")
    path = max(files, key=lambda file: file.stat().st_mtime)
    return pool.get(path.stem), path


def _in_order() -> list[Exercise]:
    """Return the kernels in teaching order, then the functions of the host."""
    exercises = [pool.get(name) for name in pool.names()]
    return sorted(exercises, key=lambda exercise: not isinstance(exercise, KernelExercise))


def _next_one() -> Exercise | None:
    done = progress.read()
    return next((exercise for exercise in _in_order() if exercise.name not in done), None)


# --- Actions ----------------------------------------------------------------------------------------------


def _list(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.table import Table

    done = progress.read()
    table = Table(box=None, pad_edge=False)
    for heading in ("exercise", "about", "level", "minutes", "done"):
        table.add_column(heading, overflow="fold", justify="right" if heading == "minutes" else "left")
    exercises = _in_order()
    for exercise in exercises:
        row = (exercise.name, exercise.title, exercise.level, str(exercise.minutes))
        table.add_row(*row, done.get(exercise.name, ""))
    Console().print(table)
    n_done = sum(exercise.name in done for exercise in exercises)
    print(f"\n{n_done} of {len(exercises)} done. {_what_next()}")
    return 0


def _what_next() -> str:
    exercise = _next_one()
    if exercise is None:
        return "That was the last one."
    return f"Next: {exercise.title} ({exercise.name}). Begin with: gpuguide exercises next"


def _show(options: argparse.Namespace) -> int:
    if options.number is not None:
        return _hint(options)
    exercise, _ = _named(options.name)
    if options.solution:
        print(exercise.solution, end="")
        return 0
    _markdown(f"# {exercise.title}\n\n{exercise.statement}")
    print(f"\n{exercise.level.capitalize()}, about {exercise.minutes} minutes.")
    print(f"Begin with: gpuguide exercises start {exercise.name}")
    return 0


def _hint(options: argparse.Namespace) -> int:
    name, number = options.name, 1 if options.number is None else options.number
    if name is not None and name.isdecimal():
        number = int(name)
        name = None
    exercise, _ = _named(name)
    n = len(exercise.hints)
    if not 1 <= number <= n:
        raise ArgumentError(f"{exercise.name!r} has the hints 1 to {n}; got {number}.")
    _markdown(exercise.hints[number - 1])
    if number < n:
        print(f"\nAnother one: gpuguide exercises hint {exercise.name} {number + 1}")
    return 0


def _markdown(text: str) -> None:
    """Show Markdown: laid out on a terminal, as it is written elsewhere."""
    if not sys.stdout.isatty():
        print(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=min(Console().width, _WIDTH)).print(Markdown(text))


def _start(options: argparse.Namespace) -> int:
    exercise = pool.get(options.name)
    return _begin(exercise, options.to or Path(f"{exercise.name}.py"))


def _next(options: argparse.Namespace) -> int:
    exercise = _next_one()
    if exercise is None:
        print(_what_next())
        return 0
    path = Path(f"{exercise.name}.py")
    if path.exists():
        print(f"{path} is here already. Edit it, then: gpuguide exercises check {exercise.name}")
        return 0
    return _begin(exercise, path)


def _begin(exercise: Exercise, path: Path) -> int:
    if path.exists():
        raise ArgumentError(f"{path} exists already. To begin anew: gpuguide exercises reset {exercise.name}")
    _write(path, _beginning(exercise))
    file = "" if path == Path(f"{exercise.name}.py") else f" {path}"
    print(f"Wrote {path}, with the task. Edit it, then: gpuguide exercises check {exercise.name}{file}")
    return 0


def _beginning(exercise: Exercise) -> str:
    """Return the text to start from, with the task as comments at its top."""
    lines = f"{exercise.title}\n\n{exercise.statement}".splitlines()
    task = "\n".join(f"# {line}".rstrip() for line in lines)
    return f"{task}\n\n{exercise.start}"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ArgumentError(
            f"Cannot write {path}: {error.strerror}. Choose another place with --to."
        ) from None


def _reset(options: argparse.Namespace) -> int:
    exercise, path = _named(options.name)
    text = _beginning(exercise)
    if not path.exists() or path.read_text(encoding="utf-8") == text:
        _write(path, text)
        print(f"{path} is as it was at the start.")
        return 0
    kept = path.with_name(f"{path.name}.bak")
    path.replace(kept)
    _write(path, text)
    print(f"Wrote {path} anew; yours is kept as {kept}.")
    return 0


def _check(options: argparse.Namespace) -> int:
    exercise, path = _named(options.name)
    return _judge(exercise, options.file or path, gpu=options.gpu)


def _judge(exercise: Exercise, path: Path, *, gpu: bool) -> int:
    """Check a file in a process of its own; return 0 if it passes."""
    if not path.is_file():
        raise ArgumentError(f"There is no file {path}. Begin with: gpuguide exercises start {exercise.name}")
    worker = [sys.executable, "-m", "gpuguide.exercises.worker", exercise.name, str(path), *["--gpu"] * gpu]
    try:
        ended = subprocess.run(worker, timeout=LIMIT_S, check=False, env=_environment()).returncode
    except subprocess.TimeoutExpired:
        print(f"{exercise.name}: not yet\n\nThe check had not ended after {LIMIT_S:.0f} s, and was stopped.")
        return 1
    if ended == PASSED:
        print(f"\n{_remember(exercise.name)}")
    elif ended not in (NOT_YET, REFUSED):
        print(
            f"{exercise.name}: not yet\n\nYour code ended the process that checked it, with the code {ended}."
        )
    return int(ended != PASSED)


def _environment() -> dict[str, str]:
    """Let the process find this package, wherever Python found it."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _remember(name: str) -> str:
    try:
        progress.remember(name)
        return _what_next()
    except progress.ProgressError as error:
        return str(error)


def _watch(options: argparse.Namespace) -> int:
    """Check a file at each save, until it passes or the reader interrupts."""
    exercise, path = _named(options.name)
    path, checked = options.file or path, 0
    while True:
        saved = path.stat().st_mtime_ns if path.is_file() else 0
        if saved != checked or not checked:
            checked = saved
            if _judge(exercise, path, gpu=options.gpu) == 0:
                return 0
            print(f"\nWatching {path}; Ctrl+C ends it.", flush=True)
        time.sleep(_POLL_S)
