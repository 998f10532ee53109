"""``gpuguide exercises``: lists exercises, shows one, writes a file to start from, and checks an answer."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from gpuguide.errors import ArgumentError
from gpuguide.exercises import pool, progress
from gpuguide.exercises.check import check_file
from gpuguide.exercises.lanes import why_undecided
from gpuguide.exercises.model import KernelTask
from gpuguide.exercises.verdict import LANE_NAMES

if TYPE_CHECKING:
    from gpuguide.exercises.model import Exercise

__all__ = ["perform"]

_WIDTH = 88


def perform(options: argparse.Namespace) -> int:
    """Do what the command line asks for.

    >>> options = argparse.Namespace(action="show", name="guard", hint=None, solution=True)
    >>> perform(options) # doctest: +ELLIPSIS
    from numba import cuda
    ...
    0
    """
    actions = {"list": _list, "show": _show, "start": _start, "check": _check, "reset": _reset}
    return actions[options.action](options)


def _list(options: argparse.Namespace) -> int:
    done = progress.read()
    table = Table(box=None, pad_edge=False)
    for heading in ("exercise", "about", "level", "minutes", "done"):
        table.add_column(heading, overflow="fold", justify="right" if heading == "minutes" else "left")
    exercises = _in_order()
    for exercise in exercises:
        row = (exercise.name, exercise.title, exercise.level, str(exercise.minutes))
        table.add_row(*row, done.get(exercise.name, ""))
    console = Console()
    console.print(table)
    n_done = sum(exercise.name in done for exercise in exercises)
    print(f"\n{n_done} of {len(exercises)} done. {_next(done)}")
    return 0


def _in_order() -> list[Exercise]:
    """Return the kernels in teaching order, then the functions of the host."""
    exercises = [pool.get(name) for name in pool.names()]
    return sorted(exercises, key=lambda exercise: not isinstance(exercise.task, KernelTask))


def _next(done: progress.Progress) -> str:
    """Say which exercise comes next and how it is begun."""
    exercise = next((each for each in _in_order() if each.name not in done), None)
    if exercise is None:
        return "That was the last one."
    return f"Next: {exercise.title}. Begin with: gpuguide exercises start {exercise.name}"


def _show(options: argparse.Namespace) -> int:
    exercise = pool.get(options.name)
    if options.solution:
        print(exercise.solution, end="")
    elif options.hint is not None:
        _markdown(_hint(exercise, options.hint))
    else:
        _markdown(f"# {exercise.title}\n\n{exercise.statement}")
        print(f"\n{_facts(exercise)}\nBegin: gpuguide exercises start {exercise.name}")
    return 0


def _hint(exercise: Exercise, number: int) -> str:
    n = len(exercise.hints)
    if not 1 <= number <= n:
        raise ArgumentError(f"{exercise.name!r} has {n} hints, --hint 1 to --hint {n}; got --hint {number}.")
    more = f"\n\nAnother one: `--hint {number + 1}`." if number < n else ""
    return f"{exercise.hints[number - 1]}{more}"


def _facts(exercise: Exercise) -> str:
    hints = f"{len(exercise.hints)} hints (--hint 1)" if exercise.hints else "no hints"
    return f"{exercise.level.capitalize()}, about {exercise.minutes} minutes, {hints}."


def _markdown(text: str) -> None:
    """Show Markdown: laid out on a terminal, as it is written elsewhere."""
    if not sys.stdout.isatty():
        print(text)
        return
    Console(width=min(Console().width, _WIDTH)).print(Markdown(text))


def _start(options: argparse.Namespace) -> int:
    exercise = pool.get(options.name)
    path = options.to or Path(f"{exercise.name}.py")
    try:
        # "x" never overwrites what a reader has written.
        with path.open("x", encoding="utf-8") as file:
            file.write(f"{_as_comment(exercise)}\n\n{exercise.stub}")
    except FileExistsError:
        raise ArgumentError(f"{path} exists already. Choose another file with --to.") from None
    except OSError as error:
        raise ArgumentError(
            f"Cannot write {path}: {error.strerror}. Choose another file with --to."
        ) from None
    where = "" if path == Path(f"{exercise.name}.py") else f" {path}"
    print(f"Wrote {path}, with the task. Edit it, then: gpuguide exercises check {exercise.name}{where}")
    if missing := why_undecided(exercise):
        print(f"Only the {LANE_NAMES[exercise.decided_in].lower()} can decide this one here: {missing}")
    return 0


def _as_comment(exercise: Exercise) -> str:
    """Return the task as comments, to stand at the top of the file."""
    lines = f"{exercise.title}\n\n{exercise.statement}".splitlines()
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _check(options: argparse.Namespace) -> int:
    if options.lanes and options.file is None and options.lanes[-1].endswith(".py"):
        options.file = Path(options.lanes.pop())  # it stands behind the lanes
    file = options.file or Path(f"{options.name}.py")
    if options.file is None and not file.exists():
        pool.get(options.name)  # a mistyped name is the first thing to mend
        raise ArgumentError(
            f"There is no file {file} here. Begin with: gpuguide exercises start {options.name}; or name "
            "your file."
        )
    verdict = check_file(options.name, file, function=options.function, lanes=options.lanes)
    print(verdict)
    if verdict.passed:
        print(f"\n{_remember(options)}")
    return 0 if verdict.passed else 1


def _remember(options: argparse.Namespace) -> str:
    """Note a pass in all lanes that are at hand, and say what comes next; the verdict stands in any case."""
    if options.lanes:
        return "Judged in some lanes only, so it is not noted as done: leave out --lanes for that."
    try:
        progress.remember(options.name)
        return _next(progress.read())
    except progress.ProgressError as error:
        return str(error)


def _reset(options: argparse.Namespace) -> int:
    print("Forgotten." if progress.forget() else "There was no progress to forget.")
    return 0
