"""Reads an answer from a file: a kernel without executing anything, a host function by executing it."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gpuguide.errors import ArgumentError, unknown
from gpuguide.exercises.answer import Answer, Piece, arrange, free_names
from gpuguide.exercises.constants import evaluate
from gpuguide.exercises.stand_ins.time_limit import TooLongError, time_limit

__all__ = ["execute", "last_function", "parse", "read_file", "read_host_file", "read_source"]

_Import = ast.Import | ast.ImportFrom
_LIMIT_S = float(os.environ.get("GPUGUIDE_TIME_LIMIT", "20"))


def read_file(path: Path, name: str = "", preferred: str = "") -> Answer:
    """Extract a kernel from a file by its syntax tree; nothing in the file is executed.

    Parameters
    ----------
    path : pathlib.Path
        A Python file.
    name : str
        Name of the kernel; by default the one called `preferred`, else the last function of the file.
    preferred : str
        See `name`.

    Returns
    -------
    Answer
        With the functions that the kernel calls, and the imports and constants they use.

    Raises
    ------
    ArgumentError
        The file cannot be read or is not Python, or the kernel needs something that only executing the
        file would make.
    UnknownNameError
        There is no function of this name.
    """
    return read_source(_text(path), name, preferred, place=path.name)


def read_source(text: str, name: str = "", preferred: str = "", place: str = "answer.py") -> Answer:
    r"""Extract a kernel from a text by its syntax tree; nothing in it is executed.

    Parameters
    ----------
    text : str
        Python source.
    name, preferred : str
        As for `read_file`.
    place : str
        Name of the file, for messages.

    Returns
    -------
    Answer
        As of `read_file`.

    Raises
    ------
    ArgumentError
        As of `read_file`.
    UnknownNameError
        There is no function of this name.

    Examples
    --------
    >>> read_source("N = 4\ndef k(x):\n    x[0] = N\nprint('never')").constants
    {'N': 4}
    """
    tree = parse(text, place)
    functions = _functions(tree)
    chosen = _choose(functions, name, preferred, place)
    return _Reachable(tree, functions, text, place).answer(chosen)


def parse(text: str, place: str) -> ast.Module:
    """Parse Python source.

    Parameters
    ----------
    text : str
        Python source.
    place : str
        Name of the file, for the message.

    Returns
    -------
    ast.Module
        Its syntax tree.

    Raises
    ------
    ArgumentError
        It is not Python; the message names and quotes the line.

    Examples
    --------
    >>> len(parse("x = 1", "answer.py").body)
    1
    """
    try:
        return ast.parse(text, filename=place)
    except SyntaxError as error:
        quoted = f": {error.text.strip()}" if error.text and error.text.strip() else ""
        raise ArgumentError(f"{place} is not Python: line {error.lineno}, {error.msg}{quoted}") from None
    except ValueError as error:  # a null byte
        raise ArgumentError(f"{place} is not Python: {error}.") from None


def last_function(text: str, place: str = "answer.py") -> str:
    r"""Return the name of the last function at the top level of a text.

    Parameters
    ----------
    text : str
        Python source.
    place : str
        Name of the file, for messages.

    Returns
    -------
    str
        The function that is judged by default.

    Raises
    ------
    ArgumentError
        It is not Python, or has no function.

    Examples
    --------
    >>> last_function("def one(): pass\ndef two(): pass")
    'two'
    """
    return _choose(_functions(parse(text, place)), "", "", place)


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _choose(functions: dict[str, Any], name: str, preferred: str, place: str) -> str:
    """Return the function to judge: the one asked for, else the one preferred, else the last one."""
    if not functions:
        raise ArgumentError(f"{place} has no function at its top level. Define one with def.")
    if name:
        if name not in functions:
            raise unknown(f"function of {place}:", name, functions)
        return name
    return preferred if preferred in functions else list(functions)[-1]


def _text(path: Path) -> str:
    if not path.exists():
        raise ArgumentError(f"The file {path} does not exist.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ArgumentError(f"{path} is not a text in UTF-8. Save it as a Python file.") from None
    except OSError as error:
        raise ArgumentError(f"{path} cannot be read: {error.strerror}.") from None


class _Reachable:
    """Follows the names that a kernel uses to the statements of its file that define them."""

    def __init__(
        self, tree: ast.Module, functions: dict[str, ast.FunctionDef], text: str, place: str
    ) -> None:
        self.functions, self.lines, self.place = functions, text.splitlines(), place
        self.imports = {bound: node for node in tree.body for bound in self._bound(node)}
        self.assigned = dict(assigned for node in tree.body for assigned in _assigned(node))
        self.classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        self.kept: dict[int, ast.stmt] = {}
        self.constants: dict[str, object] = {}

    def _bound(self, node: ast.stmt) -> Iterator[str]:
        if isinstance(node, _Import):
            for alias in node.names:
                if alias.name == "*":
                    raise ArgumentError(
                        f"{self.place}, line {node.lineno}: {ast.unparse(node)!r} does not say which names "
                        f"it imports. Import the names that you use."
                    )
                yield alias.asname or alias.name.partition(".")[0]

    def answer(self, name: str) -> Answer:
        """Return the answer whose kernel has this name."""
        self._keep_function(name)
        pieces = [self._piece(node) for node in self.kept.values()]
        return Answer(arrange(pieces), name, self.constants, self.place)

    def _keep_function(self, name: str) -> None:
        node = self.functions[name]
        if node.lineno in self.kept:
            return
        self.kept[node.lineno] = node
        for used in sorted(free_names(node)):
            if used in self.functions:
                self._keep_function(used)
            elif used in self.imports:
                self.kept[self.imports[used].lineno] = self.imports[used]
            elif used in self.assigned:
                self.constants[used] = self._constant(used, name)
            elif used in self.classes:
                raise ArgumentError(f"{self.place}: {name!r} uses the class {used!r}; a kernel cannot.")

    def _constant(self, name: str, user: str) -> object:
        value = self.assigned[name]
        try:
            # A constant may be made of others, each of which is evaluated first.
            inner = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)} & set(self.assigned)
            known = {each: self._constant(each, user) for each in sorted(inner - {name})}
            return evaluate(value, known)
        except (ValueError, RecursionError):
            raise ArgumentError(
                f"{self.place}, line {value.lineno}: {user!r} uses {name!r}, which is known only when the "
                f"file is executed, and a kernel's file is not. Write a number, or make it an argument."
            ) from None

    def _piece(self, node: ast.stmt) -> Piece:
        """Return the lines of a function, or an import by itself where others share its line."""
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        assert node.end_lineno is not None
        text = self.lines[first - 1 : node.end_lineno]
        if isinstance(node, _Import):
            text = [ast.unparse(node)]
        return Piece("\n".join(text), first)


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a statement assigns, with the expressions."""
    if isinstance(node, ast.Assign):
        yield from ((each.id, node.value) for each in node.targets if isinstance(each, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        yield node.target.id, node.value


def read_host_file(path: Path, name: str = "", preferred: str = "") -> Answer:
    """Read a file that holds a function of the host; a worker process will execute it.

    Parameters
    ----------
    path : pathlib.Path
        A Python file.
    name : str
        Name of the function, at its top level.
    preferred : str
        Name of the function where none is asked for; if there is none of that name, the last one counts.

    Returns
    -------
    Answer
        The whole text.

    Raises
    ------
    ArgumentError, UnknownNameError
        The file cannot be read, is no Python, or has no such function.
    """
    text = _text(path)
    chosen = _choose(_functions(parse(text, path.name)), name, preferred, path.name)
    return Answer(text, chosen, place=path.name, folder=str(path.resolve().parent))


def execute(
    text: str, name: str, path: Path, constants: Mapping[str, object] = MappingProxyType({})
) -> Callable[..., Any]:
    r"""Execute source text and return one of its functions.

    Parameters
    ----------
    text : str
        Python source.
    name : str
        Name of a function at its top level.
    path : pathlib.Path
        Where it stands, for tracebacks.
    constants : mapping
        Names that are there from the beginning.

    Returns
    -------
    callable
        The function.

    Raises
    ------
    ArgumentError
        The text raises an error.

    Examples
    --------
    >>> execute("def one():\n    return 1", "one", Path("answer.py"))()
    1
    """
    namespace: dict[str, Any] = {**constants, "__name__": path.stem, "__file__": str(path)}
    try:
        with time_limit(_LIMIT_S):
            exec(compile(text, str(path), "exec"), namespace)
    except (Exception, SystemExit, TooLongError) as error:
        line = _line_of(error, str(path))
        raise ArgumentError(
            f"{path.name} stops{f' at line {line}' if line else ''} when it is executed: "
            f"{type(error).__name__}: {error}"
        ) from None
    function: Callable[..., Any] = namespace[name]
    return function


def _line_of(error: BaseException, file: str) -> int:
    """Return the last line of the file that a traceback passed; 0 if it passed none."""
    line, step = 0, error.__traceback__
    while step is not None:
        line = step.tb_lineno if step.tb_frame.f_code.co_filename == file else line
        step = step.tb_next
    return line
