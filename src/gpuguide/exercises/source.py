"""Takes a reader's function apart: its source, the functions it calls, and the constants it refers to."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.exercises.answer import Answer, Piece, arrange, free_names
from gpuguide.exercises.constants import is_constant

__all__ = ["plain_function", "quotable", "read"]


def plain_function(exercise: str, function: object, *, kernel: bool = True) -> FunctionType:
    """Return the Python function behind what a reader passed in.

    Parameters
    ----------
    exercise : str
        Name of the exercise, for the message.
    function : object
        A kernel, be it Numba's, its simulator's, or a function without a decorator.
    kernel : bool
        Whether the exercise asks for a kernel.

    Returns
    -------
    function
        As it was defined with ``def``.

    Raises
    ------
    ArgumentError
        It is something else; the message says what to pass instead.

    Examples
    --------
    >>> def double(x): ...
    >>> plain_function("guard", double) is double
    True
    """
    usage = f"check({exercise!r}, my_function)"
    if isinstance(function, type):
        raise ArgumentError(f"{usage} expects a function; got the class {function.__name__!r}.")
    if hasattr(function, "dispatcher") and hasattr(function, "griddim"):
        raise ArgumentError(
            f"{usage} expects the kernel itself; got one with its launch, kernel[grid, block]. "
            "Leave the brackets out: the check launches it with grids of its own."
        )
    if kernel:
        _refuse_other_compilers(usage, function)
    plain = _unwrapped(function)
    if not isinstance(plain, FunctionType):
        advice = f" To check a file, run: gpuguide exercises check {exercise} FILE"
        raise ArgumentError(
            f"{usage} expects a function that was defined with def; got {_described(function)}."
            + (advice if isinstance(function, str) else "")
        )
    if plain.__name__ == "<lambda>":
        raise ArgumentError(f"{usage} expects a function that was defined with def; got a lambda.")
    return plain


def _unwrapped(function: object) -> object:
    """Return what Numba's dispatcher (``py_func``) or its simulator's (``fn``) wraps."""
    for attribute in ("py_func", "fn"):
        inner = getattr(function, attribute, None)
        if isinstance(inner, FunctionType):
            return inner
    return function


def _refuse_other_compilers(usage: str, function: object) -> None:
    module = type(function).__module__
    if module.startswith(("numba.core", "numba.np")):
        raise ArgumentError(
            f"{usage} expects a kernel for the GPU; this function was compiled for the CPU. "
            "Decorate it with @cuda.jit instead."
        )
    options = getattr(function, "targetoptions", {})
    if getattr(function, "_device", False) or (isinstance(options, dict) and options.get("device")):
        raise ArgumentError(
            f"{usage} expects a kernel; got a device function, which only a kernel can call. "
            "Decorate it with @cuda.jit, without device=True."
        )


def _described(value: object) -> str:
    kind = type(value)
    if isinstance(value, BuiltinFunctionType):
        return f"the built-in function {value.__name__!r}"
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return f"an object of the type {name}"


def read(exercise: str, function: object, *, kernel: bool = True) -> Answer:
    """Take a function of this session apart.

    Parameters
    ----------
    exercise : str
        Name of the exercise, for messages.
    function : object
        As for `plain_function`.
    kernel : bool
        As for `plain_function`.

    Returns
    -------
    Answer
        The function's source, that of the functions it calls, and the constants they use.

    Raises
    ------
    ArgumentError
        It is not a function, its source cannot be found, or it refers to something that cannot be sent as
        text.
    """
    plain = plain_function(exercise, function, kernel=kernel)
    collected = _Collected(exercise)
    collected.add(plain.__name__, plain)
    # On the first line, if it is free: the functions stand where they stood in their file.
    imports = Piece("; ".join(collected.imports.values()), 1)
    pieces = [*collected.functions.values(), *([imports] if imports.text else [])]
    return Answer(arrange(pieces), plain.__name__, collected.constants, _shown(collected.file))


def quotable(exercise: str, function: FunctionType) -> Answer:
    """Return a function's own source, to quote lines of it.

    Parameters
    ----------
    exercise : str
        Name of the exercise.
    function : function
        Of `plain_function`.

    Returns
    -------
    Answer
        Without text if the source cannot be found.

    Examples
    --------
    >>> answer = quotable("guard", quotable)
    >>> answer.name, answer.place
    ('quotable', 'source.py')
    """
    try:
        text, line, file = _source(exercise, function)
    except ArgumentError:
        return Answer("", function.__name__)
    return Answer(arrange([Piece(text, line)]), function.__name__, place=_shown(file))


def _shown(file: str) -> str:
    """Return the name of a file that a reader knows; notebooks and prompts make up names of their own."""
    made_up = file.startswith("<") or "ipykernel" in file or not Path(file).is_file()
    return "" if made_up else Path(file).name


class _Collected:
    """What has been found so far, while following calls from function to function."""

    def __init__(self, exercise: str) -> None:
        self.exercise = exercise
        self.objects: dict[str, object] = {}
        self.functions: dict[str, Piece] = {}
        self.imports: dict[str, str] = {}
        self.constants: dict[str, object] = {}
        self.file = ""

    def add(self, name: str, function: FunctionType) -> None:
        """Add a function under the name by which its caller knows it, and all that it needs."""
        text, line, place = _source(self.exercise, function)
        # Only the kernel's own file has the line numbers that messages show.
        self.file = self.file or place
        renamed = re.sub(rf"\bdef\s+{re.escape(function.__name__)}\b", f"def {name}", text, count=1)
        self.functions[name] = Piece(renamed, line if place == self.file else 0)
        for needed, value in _outside(function, ast.parse(text)):
            if needed in self.objects and self.objects[needed] is not value:
                raise ArgumentError(
                    f"{function.__name__!r} and another function of the same kernel use {needed!r} for "
                    f"different things. Rename one of them."
                )
            if needed not in self.objects:
                self.objects[needed] = value
                self._add_value(function.__name__, needed, value)

    def _add_value(self, user: str, name: str, value: object) -> None:
        inner = _unwrapped(value)
        line = _import_line(name, value)
        if line:
            self.imports[name] = line
        elif isinstance(inner, FunctionType):
            if name not in self.functions:
                self.add(name, inner)
        elif is_constant(value):
            self.constants[name] = value
        else:
            raise ArgumentError(
                f"{user!r} refers to {name!r}, which is {_described(value)}. From outside a kernel takes "
                f"only numbers, tuples and small arrays: make it an argument."
            )


def _source(exercise: str, function: FunctionType) -> tuple[str, int, str]:
    """Return the text of a function, the number of its first line, and the name of its file."""
    try:
        lines, line = inspect.getsourcelines(function)
    except (OSError, TypeError, SyntaxError):
        raise ArgumentError(
            f"The source of {function.__name__!r} cannot be found, perhaps because it was typed at Python's "
            f"prompt. Save it to a file and run: gpuguide exercises check {exercise} FILE"
        ) from None
    return textwrap.dedent("".join(lines)), line, function.__code__.co_filename


def _outside(function: FunctionType, tree: ast.Module) -> Iterator[tuple[str, object]]:
    """Yield the names that a function takes from outside, with their values."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    closure = {name: cell.cell_contents for name, cell in cells}
    for name in sorted(free_names(tree.body[0])):
        if name in closure:
            yield name, closure[name]
        elif name in function.__globals__:
            yield name, function.__globals__[name]


def _import_line(name: str, value: Any) -> str:
    """Return the statement that imports a value under a name; empty if no module owns the value."""
    if isinstance(value, ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        return f"from {parent} import {last} as {name}" if parent else f"import {last} as {name}"
    home, last = "", ""
    if type(value).__module__.startswith(("numba.core.types", "numba.cuda.types")):
        home, last = "numba", value.name
    elif isinstance(value, BuiltinFunctionType) and value.__module__ == "math":
        home, last = "math", value.__name__
    elif isinstance(value, np.ufunc) or (isinstance(value, type) and issubclass(value, np.generic)):
        home, last = "numpy", value.__name__
    elif _is_of_cuda(value):
        home, last = "numba.cuda", value.__name__
    return f"from {home} import {last} as {name}" if home else ""


def _is_of_cuda(value: Any) -> bool:
    """Say whether a value is one of numba.cuda's own functions, and not a kernel that it compiled."""
    home = str(getattr(value, "__module__", ""))
    return home.startswith("numba.cuda") and _unwrapped(value) is value
