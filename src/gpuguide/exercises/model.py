"""What an exercise is: data, and the texts of its folder. `pool/__init__.py` says how to write one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from gpuguide.errors import ArgumentError
from gpuguide.tracer.judge import Limits

__all__ = [
    "ANYTHING",
    "LEVELS",
    "POOL",
    "Case",
    "Exercise",
    "HostExercise",
    "KernelExercise",
    "Launch",
    "Limits",
    "Mistake",
]

LEVELS = ("beginner", "intermediate", "advanced")
"""The levels, easiest first."""

NO_LIMITS = Limits()

POOL = Path(__file__).parent / "pool"
"""The folder that holds one folder per exercise."""

Level = Literal["beginner", "intermediate", "advanced"]
Numbers = int | tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise: what it is about, and the texts that lie in its folder.

    Attributes
    ----------
    name : str
        That of its folder.
    title : str
        One to six words.
    level : str
        One of `LEVELS`.
    minutes : int
        How long it may take.
    teaches : str
        One sentence.
    pages : tuple of str
        Pages of the guide that it practises.
    tags : tuple of str
        What it is about.
    in_page : bool
        Whether the standard library is enough to check it, as in a browser.

    Examples
    --------
    >>> from gpuguide.exercises import get
    >>> exercise = get("guard")
    >>> exercise.level, exercise.minutes, exercise.parameters
    ('beginner', 5, ('a', 'b', 'out'))
    """

    name: str
    title: str
    level: Level
    minutes: int
    teaches: str
    pages: tuple[str, ...]
    tags: tuple[str, ...]
    in_page: bool = False

    @property
    def folder(self) -> Path:
        """Where its texts lie."""
        return POOL / self.name

    @property
    def statement(self) -> str:
        """The task in Markdown."""
        return self._task[0]

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints in Markdown, the gentlest first."""
        return self._task[1:]

    @cached_property
    def start(self) -> str:
        """Python source to start from."""
        return self._text("start.py")

    @cached_property
    def solution(self) -> str:
        """Python source of one right answer."""
        return self._text("solution.py")

    @property
    def function_name(self) -> str:
        """Name of the function to write: the last one of the start."""
        return self._function.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of its parameters."""
        return tuple(parameter.arg for parameter in self._function.args.args)

    @cached_property
    def _function(self) -> ast.FunctionDef:
        return [node for node in ast.parse(self.start).body if isinstance(node, ast.FunctionDef)][-1]

    @cached_property
    def _task(self) -> tuple[str, ...]:
        parts: list[list[str]] = [[]]
        for line in self._text("task.md").splitlines():
            if line.strip() == "---":
                parts.append([])
            else:
                parts[-1].append(line)
        return tuple("\n".join(lines).strip() for lines in parts)

    def _text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Launch:
    """A launch that a kernel must get right.

    Attributes
    ----------
    about : str
        What is special about it: ``"n = 33"``.
    blocks, threads : int or tuple of int
        Of the grid, and of a block, x first.
    arguments : dict
        Arrays of the tracer and numbers by name, in the order of the parameters. An array made by `empty`
        holds nothing: a kernel that reads it before writing is told so.
    expected : dict
        What the named arrays must hold afterwards, in C order. All others must be as they were.
    tolerance : float
        The largest absolute difference; 0 asks for equal numbers.
    shared_bytes : int
        Dynamic shared memory of a block.
    loop_turns : int or None
        In place of the exercise's limit.
    """

    about: str
    blocks: Numbers
    threads: Numbers
    arguments: Mapping[str, Any]
    expected: Mapping[str, list[Any]]
    tolerance: float = 0.0
    shared_bytes: int = 0
    loop_turns: int | None = None


@dataclass(frozen=True, kw_only=True)
class KernelExercise(Exercise):
    """A kernel to write: it is launched on the tracer, which needs neither a GPU nor NumPy.

    Attributes
    ----------
    launches : callable
        Yields `Launch` objects, cheap ones first; the first that goes wrong is shown.
    limits : Limits
        The tracer's: what is required besides right results.
    """

    launches: Callable[[], Iterable[Launch]]
    limits: Limits = NO_LIMITS
    in_page: bool = True


ANYTHING = object()
"""What a function may return if the judge alone can say whether it is right."""


@dataclass(frozen=True)
class Case:
    """A call that a function of the host must get right.

    Attributes
    ----------
    about : str
        Begins each sentence on it: ``"For an image of 4 x 6"``.
    arguments : tuple
        As the function gets them. NumPy's arrays, the GPU's, and lists must be as they were afterwards.
    expected : object
        What it must return: a NumPy array, one of the GPU by `Cupy.put`, numbers, a tuple, None; by default
        `ANYTHING`, where only the judge can say.
    tolerance : float
        The largest absolute difference of an element; 0 asks for equal numbers.
    raises : type or None
        The exception that is asked for.
    changes : tuple of int
        Places of the arguments that may change.
    extra : object
        Whatever the judge needs besides.
    """

    about: str
    arguments: tuple[Any, ...]
    expected: Any = ANYTHING
    tolerance: float = 0.0
    raises: type[Exception] | None = None
    changes: tuple[int, ...] = ()
    extra: Any = None


@dataclass(frozen=True, kw_only=True)
class HostExercise(Exercise):
    """A function to write that runs on the host: it is called with what `cases` yields.

    Attributes
    ----------
    cases : callable
        Yields `Case` objects, the plainest first; the first that goes wrong is shown.
    judge : callable or None
        ``judge(case, result)`` looks at what a right result was made by: assertions of `judging` on the log.
        It may return a sentence to be shown with a pass.
    """

    cases: Callable[[], Iterable[Case]]
    judge: Callable[[Case, Any], str | None] | None = None


@dataclass(frozen=True)
class Mistake:
    """A beginner's mistake: another text in the place of one that stands once in the solution.

    `kind` is that of the finding that must come first.
    """

    old: str
    new: str
    kind: str

    def made_in(self, solution: str) -> str:
        """Return the solution with the mistake."""
        if (n := solution.count(self.old)) != 1:
            raise ArgumentError(f"{self.old!r} stands {n} times in the solution; expected once.")
        return solution.replace(self.old, self.new)
