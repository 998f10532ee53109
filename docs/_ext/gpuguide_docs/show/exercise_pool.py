"""The pool of exercises as the site shows it: where each stands, and how a reader checks an answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gpuguide.errors import ArgumentError
from gpuguide.exercises import pool
from gpuguide.exercises.model import POOL

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
    "lanes_text",
]

_TEXTS = ("exercise.py", "statement.md", "hints.md", "stub.py", "solution.py")


def find_exercise(name: str) -> Exercise:
    """Find an exercise whose texts are all there.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    Exercise
        Its texts are read; nothing of them is executed.

    Raises
    ------
    UnknownNameError
        If there is no such exercise; the message names the nearest.
    ArgumentError
        If a file of it is missing, or its stub holds no function.
    """
    try:
        exercise = pool.get(name)
        _ = exercise.statement, exercise.hints, exercise.solution, exercise.function_name
    except (OSError, ImportError, AttributeError) as error:
        raise ArgumentError(f"Exercise {name!r} is incomplete: {error}.") from error
    except (IndexError, SyntaxError) as error:
        raise ArgumentError(f"Exercise {name!r}: stub.py must hold a function; {error}.") from error
    return exercise


def exercise_files(exercise: Exercise) -> list[Path]:
    """Give the files that an exercise is read from.

    Parameters
    ----------
    exercise : Exercise
        One of the pool.

    Returns
    -------
    list of pathlib.Path
        A page that shows the exercise depends on these.
    """
    folder = exercise.folder or POOL / exercise.name
    return [folder / name for name in _TEXTS]


def exercise_id(name: str, part: str = "") -> str:
    """Give the identifier that a link to an exercise, or to a part of it, ends with.

    Parameters
    ----------
    name : str
        Of the exercise.
    part : str
        Such as ``"hint-1"`` or ``"solution"``.

    Returns
    -------
    str
        It stays as long as the exercise keeps its name.

    Examples
    --------
    >>> exercise_id("grid_stride", "hint-1")
    'exercise-grid-stride-hint-1'
    """
    return "-".join(["exercise", *name.split("_"), *([part] if part else [])])


def home_of(site: Site, name: str) -> Page | None:
    """Find the page that shows an exercise.

    Parameters
    ----------
    site : Site
        Of the project.
    name : str
        Of the exercise.

    Returns
    -------
    Page or None
        The first that lists it and is written; None leaves it to the page of the whole pool.
    """
    pages = (page for page in site.pages if name in page.exercises)
    return next((page for page in pages if page.source(site.layout).is_file()), None)


def check_call(exercise: Exercise) -> str:
    """Give the Python that checks an answer in a session.

    Parameters
    ----------
    exercise : Exercise
        One of the pool.

    Returns
    -------
    str
        An import and a call.
    """
    call = f'gpuguide.exercises.check("{exercise.name}", {exercise.function_name})'
    return f"import gpuguide.exercises\n\n{call}"


def check_commands(exercise: Exercise) -> str:
    """Give the commands that write the stub and check it.

    Parameters
    ----------
    exercise : Exercise
        One of the pool.

    Returns
    -------
    str
        Two lines, each after a prompt.
    """
    name = exercise.name
    return f"$ gpuguide exercises start {name}\n$ gpuguide exercises check {name}"


def lanes_text(exercise: Exercise) -> str:
    """Say what checking an answer needs.

    Parameters
    ----------
    exercise : Exercise
        One of the pool.

    Returns
    -------
    str
        One clause.
    """
    if exercise.lanes == ("gpu",):
        return "checked on a GPU"
    if "simulator" not in exercise.lanes or exercise.decided_in == "compile":
        return "checked by the compiler, no GPU needed"
    return "checked without a GPU"
