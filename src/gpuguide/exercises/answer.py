"""A reader's answer: its text, from a file or a notebook's cell, and the function that is defined there."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from time import process_time
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.exercises.report import Finding
from gpuguide.tracer.findings import with_capital

__all__ = [
    "FILE",
    "Answer",
    "EndlessError",
    "line_of",
    "load_function",
    "raised",
    "read_file",
    "read_function",
    "read_source",
]

FILE = "<answer>"
"""The file's name in all code of answers: it tells the reader's frames from all others."""

LIMIT_S = 3.0
"""Seconds of the processor's time that the loops of an answer may take for all cases together."""


class EndlessError(BaseException):
    """A loop of the reader's does not end; no `except Exception` of the reader's catches it."""


@dataclass(frozen=True)
class Answer:
    """A text whose lines are counted as the reader sees them, and the name of the function in it."""

    source: str
    name: str
    function: Any = None
    """The function itself, if it is one of this session."""
    names: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What the session knows besides."""

    def line(self, number: int) -> str:
        """Return a line of the text."""
        lines = self.source.splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else ""


def read_file(path: Path, name: str) -> Answer:
    """Read an answer from a file; its function is `name`, or the last one if there is none of that name."""
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"Cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ArgumentError(f"Cannot read {path}: it is not a text in UTF-8.") from None
    return read_source(source, name)


def read_source(source: str, name: str) -> Answer:
    """Take an answer from a text; one that cannot be parsed is judged later, with its line."""
    try:
        functions = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    except SyntaxError:
        functions = [name]
    if not functions:
        raise ArgumentError(f"The answer holds no function; expected one such as {name}.")
    return Answer(source, name if name in functions else functions[-1])


def read_function(function: Callable[..., Any]) -> Answer:
    """Take an answer from a function of this session, which may be decorated with ``@cuda.jit``."""
    plain = inspect.unwrap(getattr(function, "py_func", function))
    if not inspect.isfunction(plain):
        kind = type(function).__name__
        raise ArgumentError(f"Expected your function, or its source text; got an object of type {kind}.")
    try:
        lines, first = inspect.getsourcelines(plain)
        source = dedent("".join(lines))
        defined = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
        if plain.__name__ not in defined:
            raise OSError
    except (OSError, TypeError, SyntaxError):
        raise ArgumentError(
            f"The source of {plain.__name__} cannot be found: define it in a cell or a file."
        ) from None
    known = inspect.getclosurevars(plain).nonlocals
    return Answer("\n" * (first - 1) + source, plain.__name__, function, {**plain.__globals__, **known})


def load_function(answer: Answer, modules: dict[str, Any]) -> Callable[..., Any]:
    """Execute an answer and return its function; loops stop after a while, and `modules` stand in for others.

    A decorator of the reader's stays. Raises what the text raises, SyntaxError included.
    """
    tree = ast.parse(answer.source, FILE)
    _Ticking().visit(tree)
    names = {**answer.names, "__name__": "answer", "__tick__": _Ticks()}
    names["__builtins__"] = {**vars(__import__("builtins")), "__import__": _importer(modules)}
    exec(compile(ast.fix_missing_locations(tree), FILE, "exec"), names)
    function: Callable[..., Any] = names[answer.name]
    return function


def _importer(modules: dict[str, Any]) -> Callable[..., Any]:
    def load(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        top = name.partition(".")[0]
        if top not in modules:
            return __import__(name, globals, locals, fromlist, level)
        module = modules[top]
        for part in name.split(".")[1:] if fromlist else ():
            module = getattr(module, part)
        return module

    return load


class _Ticking(ast.NodeTransformer):
    """Lets each turn of a loop tick; every line keeps its number."""

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node, ast.For | ast.While):
            call = ast.Call(ast.Name("__tick__", ast.Load()), [], [])
            node.body.insert(0, ast.copy_location(ast.Expr(call), node))
        return node


class _Ticks:
    """Counts turns of loops, and looks at the clock now and then."""

    def __init__(self) -> None:
        self._n, self._until_s = 0, process_time() + LIMIT_S

    def __call__(self) -> None:
        self._n += 1
        if self._n % 1000 == 0 and process_time() > self._until_s:
            raise EndlessError(f"{LIMIT_S:.0f} s")


def line_of(error: BaseException) -> int:
    """Return the last line of the reader's that an error passed; 0 if it never came to one."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno or 0
    line, step = 0, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == FILE:
            line = step.tb_lineno
        step = step.tb_next
    return line


def raised(error: BaseException, name: str) -> Finding:
    """Say what an answer raised, and in which of its lines."""
    line = line_of(error)
    lines = (line,) if line else ()
    who = f"In line {line}, {name}" if line else with_capital(name)
    if isinstance(error, EndlessError):
        return Finding("endless", f"{who} had not ended after {error}.", lines)
    if isinstance(error, SyntaxError):
        return Finding("syntax", f"Python cannot read line {line}: {error.msg}.", lines)
    text = f"{type(error).__name__}: {error}".rstrip(" .:")
    return Finding("exception", f"{who} raised {text}.", lines)
