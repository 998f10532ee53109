"""The pool of exercises as the site shows it: where each stands, and how a reader checks an answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gpuguide.errors import ArgumentError
from gpuguide.exercises import pool

if TYPE_CHECKING:
    from gpuguide.exercises.model import Exercise
    from gpuguide_docs.pages.pages_toml import Page
    from gpuguide_docs.show.site import Site

__all__ = [
    "check_call",
    "check_commands",
    "exercise_files",
    "exercise_id",
    "find_exercise",
    "home_of",
]

_TEXTS = ("exercise.py", "task.md", "start.py", "solution.py")


def find_exercise(name: str) -> Exercise:
    """Return an exercise whose texts are all there, or say what is missing."""
    try:
        exercise = pool.get(name)
        _ = exercise.statement, exercise.solution, exercise.function_name
    except (OSError, ImportError, AttributeError) as error:
        raise ArgumentError(f"Exercise {name!r} is incomplete: {error}.") from error
    except (IndexError, SyntaxError) as error:
        raise ArgumentError(f"Exercise {name!r}: start.py must hold a function; {error}.") from error
    return exercise


def exercise_files(exercise: Exercise) -> list[Path]:
    """Return the files that a page depends on which shows the exercise."""
    return [exercise.folder / name for name in _TEXTS]


def exercise_id(name: str, part: str = "") -> str:
    """Return the identifier that a link to an exercise, or to a part of it, ends with.

    >>> exercise_id("grid_stride", "hint-1")
    'exercise-grid-stride-hint-1'
    """
    return "-".join(["exercise", *name.split("_"), *([part] if part else [])])


def home_of(site: Site, name: str) -> Page | None:
    """Return the page that links to an exercise lead to; None leaves it to the page of the whole pool.

    Several pages may show an exercise. Its home is the first of its own list that does.
    """
    pages = [page for page in site.pages if name in page.exercises and page.source(site.layout).is_file()]
    own = pool.get(name).pages if pages else ()
    return min(pages, key=lambda page: [*own, page.name].index(page.name), default=None)


def check_call(exercise: Exercise) -> str:
    """Return the Python that checks an answer in a session: an import and a call."""
    call = f'gpuguide.exercises.check("{exercise.name}", {exercise.function_name})'
    return f"import gpuguide.exercises\n\n{call}"


def check_commands(exercise: Exercise) -> str:
    """Return the commands that write the start and check it, each after a prompt."""
    name = exercise.name
    return f"$ gpuguide exercises start {name}\n$ gpuguide exercises check {name}"
