"""An exercise as cells of a download: task, a start to edit, a check, folded hints, and a folded solution."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

from gpuguide_docs.downloads.markdown import Piece
from gpuguide_docs.show.exercises import check_call, check_commands

if TYPE_CHECKING:
    from gpuguide.exercises.model import Exercise

__all__ = ["exercise_cells"]


def exercise_cells(exercise: Exercise) -> list[Piece]:
    """Turn an exercise into cells that need nothing of the page before them.

    The start runs as it is, and the check after it says what is still wrong.
    """
    return [
        Piece("markdown", _task(exercise), apart=True),
        Piece("code", exercise.start.strip("\n")),
        _check(exercise),
        *(_hint(number, text) for number, text in enumerate(exercise.hints, start=1)),
        _solution(exercise.solution.strip("\n")),
    ]


def _task(exercise: Exercise) -> str:
    commands = check_commands(exercise).replace("$ ", "")
    return "\n\n".join(
        [
            f"### Exercise: {exercise.title}",
            f"*{exercise.level}, {exercise.minutes} minutes, checked without a GPU*",
            exercise.statement,
            "Change the next cell, run it, and then the one below it, which checks your answer. "
            f"Neither needs the cells above. On the command line:\n\n```\n{commands}\n```",
        ]
    )


def _check(exercise: Exercise) -> Piece:
    imported, call = check_call(exercise).rsplit("\n", 1)
    # A notebook shows the value of the last line, with drawings; a script has to print it.
    return Piece("code", f"{imported}\n{call}", script=f"{imported}\nprint({call})")


def _hint(number: int, text: str) -> Piece:
    folded = f"<details><summary>Hint {number}</summary>\n\n{text}\n\n</details>"
    return Piece("markdown", folded, apart=True)


def _solution(code: str) -> Piece:
    """Keep "run all" from putting the solution in the place of the reader's own function."""
    note = "# Not run. To try it, write True for False, run this cell, and run the check again."
    folded = f"# solution\n{note}\nif False:\n{indent(code, '    ')}"
    commented = "\n".join(f"# {line}".rstrip() for line in code.splitlines())
    return Piece("code", folded, hidden=True, script=f"# solution\n{commented}")
