"""Reads a reader's answer: a function of a session, or one in a file; and what a kernel cannot contain.

A kernel is read and not executed: its text, the functions that it calls, and the imports and constants that
they use. Only a file that holds a function of the host is executed.
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import linecache
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tokenize import TokenError
from types import BuiltinFunctionType, FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError, unknown
from gpuguide.exercises.constants import evaluate, is_constant
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.rewriting import assigned_by, bound_by, own_nodes
from gpuguide.exercises.stand_ins.cupy_imports import importable
from gpuguide.exercises.stand_ins.time_limit import TooLongError, time_limit

__all__ = [
    "Answer",
    "check_parameters",
    "definition",
    "execute",
    "last_function",
    "parse",
    "plain_function",
    "quotable",
    "read",
    "read_file",
    "read_host_file",
    "read_source",
    "undefined",
    "unsupported",
]

_Import = ast.Import | ast.ImportFrom
_LIMIT_S = float(os.environ.get("GPUGUIDE_TIME_LIMIT", "20"))


@dataclass(frozen=True)
class Answer:
    r"""A reader's kernel as text, with what it needs from outside.

    Attributes
    ----------
    source : str
        The kernel, the functions it calls and the imports they use. Each line of the kernel has the number
        that it has in the reader's file or cell.
    name : str
        The kernel's name.
    constants : mapping
        Values that the functions refer to, by name.
    place : str
        Name of the file where it stands, for messages; empty for a cell.
    folder : str
        Folder of that file, from which it may import; empty if it is not to be executed.
    is_kernel : bool
        Whether a kernel was made of the function, with ``@cuda.jit`` or by a call.

    >>> Answer("def k(x):\n    x[0] = 1\n", "k").line(2)
    '    x[0] = 1'
    """

    source: str
    name: str
    constants: Mapping[str, object] = field(default_factory=dict)
    place: str = ""
    folder: str = ""
    is_kernel: bool = True

    @cached_property
    def tree(self) -> ast.Module:
        """The source's syntax tree, to look at: who changes one makes one of his own."""
        return ast.parse(self.source)

    def line(self, number: int) -> str:
        """Return one line of the source, counted from 1; empty where there is none."""
        lines = self.source.splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else ""


def check_parameters(exercise: str, expected: tuple[str, ...], answer: Answer) -> tuple[str, ...]:
    """Return the names of a kernel's parameters, if they match the expected ones.

    >>> check_parameters("guard", ("x", "out"), Answer("def k(a, out): pass", "k"))
    ('a', 'out')
    """
    node = definition(answer)
    names = tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))
    shown = f"{answer.name}({ast.unparse(node.args)})"
    wanted = f"{exercise} asks for a function with the parameters ({', '.join(expected)})"
    if node.args.vararg or node.args.kwarg or node.args.kwonlyargs:
        raise ArgumentError(f"{wanted}, each with a name of its own; got {shown}.")
    if expected and len(names) != len(expected):
        raise ArgumentError(f"{wanted}, {len(expected)} of them; got {len(names)}: {shown}.")
    misplaced = [
        name for name, here in zip(names, expected, strict=False) if name != here and name in expected
    ]
    if misplaced:
        raise ArgumentError(f"{wanted}, in this order; got {shown}.")
    return names


def definition(answer: Answer) -> ast.FunctionDef:
    r"""Return the syntax tree of an answer's function.

    >>> definition(Answer("\ndef k(x): pass", "k")).lineno
    2
    """
    for node in answer.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == answer.name:
            return node
    raise ArgumentError(f"Expected a function {answer.name!r} defined with def; there is none.")


# --- From a session -------------------------------------------------------------------------------------


def plain_function(exercise: str, function: object, *, kernel: bool = True) -> FunctionType:
    """Return the Python function behind what a reader passed in.

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
    """Take a function of this session apart."""
    plain = plain_function(exercise, function, kernel=kernel)
    collected = _Collected(exercise)
    collected.add(plain.__name__, plain)
    # On the first line, if it is free: the functions stand where they stood in their file.
    imports = _Piece("; ".join(collected.imports.values()), 1)
    pieces = [*collected.functions.values(), *([imports] if imports.text else [])]
    return Answer(
        _arrange(pieces),
        plain.__name__,
        collected.constants,
        _shown(collected.file),
        is_kernel=function is not plain,
    )


def quotable(exercise: str, function: FunctionType) -> Answer:
    """Return a function's own source, to quote lines of it.

    >>> answer = quotable("guard", quotable)
    >>> answer.name, answer.place
    ('quotable', 'reading.py')
    """
    try:
        text, line, file = _source(exercise, function)
    except ArgumentError:
        return Answer("", function.__name__)
    return Answer(_arrange([_Piece(text, line)]), function.__name__, place=_shown(file))


def _shown(file: str) -> str:
    """Return the name of a file that a reader knows; notebooks and prompts make up names of their own."""
    made_up = file.startswith("<") or "ipykernel" in file or not Path(file).is_file()
    return "" if made_up else Path(file).name


class _Collected:
    """What has been found so far, while following calls from function to function."""

    def __init__(self, exercise: str) -> None:
        self.exercise = exercise
        self.objects: dict[str, object] = {}
        self.functions: dict[str, _Piece] = {}
        self.imports: dict[str, str] = {}
        self.constants: dict[str, object] = {}
        self.file = ""

    def add(self, name: str, function: FunctionType, *, wrapped: bool = False) -> None:
        """Add a function under the name by which its caller knows it, and all that it needs."""
        text, line, place = _source(self.exercise, function)
        if function.__name__ == "<lambda>":
            text, line = _as_definition(name, text, line)
        elif wrapped and text.startswith("def "):  # twice = cuda.jit(device=True)(twice)
            text, line = f"@cuda.jit(device=True)\n{text}", line - 1
        # Only the kernel's own file has the line numbers that messages show.
        self.file = self.file or place
        renamed = _renamed(text, function.__name__, name)
        self.functions[name] = _Piece(renamed, line if place == self.file else 0)
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
                self.add(name, inner, wrapped=inner is not value)
        elif is_constant(value):
            self.constants[name] = value
        else:
            raise ArgumentError(
                f"{user!r} refers to {name!r}, which is {_described(value)}. From outside a kernel takes "
                f"only numbers, tuples and small arrays: make it an argument."
            )


def _source(exercise: str, function: FunctionType) -> tuple[str, int, str]:
    """Return the text of a function, the number of its first line, and the name of its file."""
    with suppress(OSError, TypeError, SyntaxError, TokenError, IndexError):
        lines, line = inspect.getsourcelines(function)
        text = textwrap.dedent("".join(lines))
        # Since Python 3.13 the text after -c is that of "<string>", where what exec makes says it is.
        if _defines(ast.parse(text).body[0], inspect.unwrap(function).__code__.co_name):
            return text, line, function.__code__.co_filename
    raise ArgumentError(
        f"The source of {function.__name__!r} cannot be found, perhaps because it was typed at Python's "
        f"prompt. Save it to a file and run: gpuguide exercises check {exercise} FILE"
    )


def _defines(node: ast.stmt, name: str) -> bool:
    """Say whether a statement defines a function of this name, or sets something if it is a lambda."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name == name
    return name == "<lambda>" and isinstance(node, ast.Assign | ast.AnnAssign)


def _as_definition(name: str, text: str, line: int) -> tuple[str, int]:
    """Return the text of a lambda that is set to a name as one of a function, and where it begins."""
    made = [_of_lambda(name, value) for _, value in _assigned(ast.parse(text).body[0])]
    for function in made:
        if function is not None and len(made) == 1:
            return _in_lines(function), line - len(function.decorator_list)
    raise ArgumentError(f"{name!r} is made of a lambda in line {line}. Write a function with def.")


def _outside(function: FunctionType, tree: ast.Module) -> Iterator[tuple[str, object]]:
    """Yield the names that a function takes from outside, with their values."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    closure = {name: cell.cell_contents for name, cell in cells}
    for name in sorted(_free_names(tree.body[0])):
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
        # Of cuda.atomic.add, no import that could be executed: `unsupported` will refuse it.
        home, _, last = f"numba.cuda.{getattr(value, '__qualname__', value.__name__)}".rpartition(".")
    return f"from {home} import {last} as {name}" if home else ""


def _is_of_cuda(value: Any) -> bool:
    """Say whether a value is one of numba.cuda's own functions, and not a kernel that it compiled."""
    home = str(getattr(value, "__module__", ""))
    return home.startswith("numba.cuda") and _unwrapped(value) is value


# --- From a file ----------------------------------------------------------------------------------------


def read_file(path: Path, name: str = "", preferred: str = "") -> Answer:
    """Extract a kernel from a file by its syntax tree; nothing in the file is executed."""
    return read_source(_text(path), name, preferred, place=path.name)


def read_source(text: str, name: str = "", preferred: str = "", place: str = "answer.py") -> Answer:
    r"""Extract a kernel from a text by its syntax tree; nothing in it is executed.

    >>> read_source("N = 4\ndef k(x):\n    x[0] = N\nprint('never')").constants
    {'N': 4}
    """
    tree = parse(text, place)
    tree.body = list(_decided(tree.body, {}))
    functions = _functions(tree)
    chosen = _choose(functions, name, preferred, place)
    return _Reachable(tree, functions, text, place).answer(chosen)


def parse(text: str, place: str) -> ast.Module:
    """Parse Python source.

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
        return path.read_text(encoding="utf-8-sig")  # some editors begin a file with a byte order mark
    except UnicodeDecodeError:
        raise ArgumentError(f"{path} is not a text in UTF-8. Save it as a Python file.") from None
    except OSError as error:
        raise ArgumentError(f"{path} cannot be read: {error.strerror}.") from None


class _InFull(ast.NodeTransformer):
    """Puts what an imported name, or an alias, stands for in its place: ``numpy.float32`` for ``f32``."""

    def __init__(self, imports: Mapping[str, ast.stmt]) -> None:
        self._imports = imports

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Name it in full."""
        if node.id not in self._imports:
            return node
        full = ast.parse(dict(bound_by(self._imports[node.id]))[node.id], mode="eval").body
        return ast.copy_location(full, node)


class _Reachable:
    """Follows the names that a kernel uses to the statements of its file that define them."""

    def __init__(
        self, tree: ast.Module, functions: dict[str, ast.FunctionDef], text: str, place: str
    ) -> None:
        self.functions, self.lines, self.place = functions, text.splitlines(), place
        self.imports = {name: node for node in tree.body for name in self._bound(node)}
        self.assigned = dict(assigned for node in tree.body for assigned in _assigned(node))
        self.imports |= dict(self._aliases())
        self.other_names = dict(self._other_names())
        self.renamed: dict[str, _Piece] = {}
        self.made_of_lambdas = dict(self._lambdas())
        self.functions |= self.made_of_lambdas
        #: Set or changed by something that only executing the file would settle, on these lines.
        self.elsewhere = {name: line for node in tree.body for name, line in self._unsettled(node)}
        self.classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        #: By identity: several imports may share a line.
        self.kept: dict[int, ast.stmt] = {}
        self.constants: dict[str, object] = {}

    def _bound(self, node: ast.stmt) -> dict[str, str]:
        bound = dict(bound_by(node))
        if "*" in bound:
            raise ArgumentError(
                f"{self.place}, line {node.lineno}: {ast.unparse(node)!r} does not say which names "
                f"it imports. Import the names that you use."
            )
        return bound

    def _unsettled(self, node: ast.stmt) -> Iterator[tuple[str, int]]:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | _Import):
            settled = {name for name, _ in _assigned(node)}
            for inner in (each for each in ast.walk(node) if isinstance(each, ast.Name)):
                if isinstance(inner.ctx, ast.Store) and inner.id not in settled:
                    yield inner.id, inner.lineno

    def _aliases(self) -> Iterator[tuple[str, ast.stmt]]:
        """Yield names for a module or a part of one, such as ``real = np.float32``, as imports."""
        known = dict(self.imports)
        for name, value in self.assigned.items():
            if not isinstance(value, ast.Name | ast.Attribute):
                continue
            base, *parts = ast.unparse(value).split(".")
            if base in known and not _is_value(value):
                home, _, last = ".".join([dict(bound_by(known[base]))[base], *parts]).rpartition(".")
                if (home or last).partition(".")[0] in ("math", "numba", "numpy"):
                    (line,) = ast.parse(f"{f'from {home} ' * bool(home)}import {last} as {name}").body
                    known[name] = ast.copy_location(line, value)
                    yield name, known[name]

    def _lambdas(self) -> Iterator[tuple[str, ast.FunctionDef]]:
        """Yield device functions made of a lambda: ``f = cuda.jit(device=True)(lambda x: 2 * x)``."""
        for name, value in self.assigned.items():
            if (function := _of_lambda(name, value)) is not None:
                yield name, ast.increment_lineno(function, value.lineno - function.lineno)

    def _other_names(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield names for a function, such as ``g = cuda.jit(device=True)(f)``, with it and its decorator."""
        for name, value in self.assigned.items():
            function, decorator = _undecorated(value)
            if isinstance(function, ast.Name) and function.id in self.functions:
                yield name, (function.id, decorator)

    def answer(self, name: str) -> Answer:
        """Return the answer whose kernel has this name."""
        self._keep_function(name)
        pieces = [*(self._piece(node) for node in self.kept.values()), *self.renamed.values()]
        is_kernel = bool(self.functions[name].decorator_list) or name in self._wrapped()
        return Answer(_arrange(pieces), name, self.constants, self.place, is_kernel=is_kernel)

    def _wrapped(self) -> set[str]:
        """Return the functions that a call takes: ``kernel = cuda.jit(function)``."""
        calls = [value for value in self.assigned.values() if isinstance(value, ast.Call)]
        return {each.id for call in calls for each in call.args if isinstance(each, ast.Name)}

    def _keep_function(self, name: str) -> None:
        node = self.functions[name]
        if id(node) in self.kept:
            return
        self.kept[id(node)] = node
        self._keep_used(node, name)

    def _keep_other_name(self, name: str) -> None:
        if name in self.renamed:
            return
        function, decorator = self.other_names[name]
        node = self.functions[function]
        piece = self._piece(node)
        text = decorator + _renamed(piece.text, function, name)
        self.renamed[name] = _Piece(text, piece.line - bool(decorator))
        self._keep_used(node, name)

    def _keep_used(self, node: ast.FunctionDef, name: str) -> None:
        for used in sorted(_free_names(node)):
            if used in self.other_names:
                self._keep_other_name(used)
            elif used in self.functions:
                self._keep_function(used)
            elif used in self.imports:
                self.kept[id(self.imports[used])] = self.imports[used]
            elif used in self.elsewhere:
                raise self._unknown(used, name, self.elsewhere[used])
            elif used in self.assigned:
                self.constants[used] = self._constant(used, name)
            elif used in self.classes:
                raise ArgumentError(f"{self.place}: {name!r} uses the class {used!r}; a kernel cannot.")

    def _constant(self, name: str, user: str) -> object:
        value = _InFull(self.imports).visit(copy.deepcopy(self.assigned[name]))
        try:
            # A constant may be made of others, each of which is evaluated first.
            inner = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)} - {name}
            known = {each: self._constant(each, user) for each in sorted(inner & set(self.assigned))}
            return evaluate(value, known)
        except (ValueError, RecursionError):
            raise self._unknown(name, user, value.lineno) from None

    def _unknown(self, name: str, user: str, line: int) -> ArgumentError:
        advice = "Write a number, such as 16 or np.float32(5 / 9), or make it an argument."
        made = [*ast.walk(self.assigned[name])] if name in self.assigned else []
        handed = {each.id for each in made if isinstance(each, ast.Name)}
        if handed & {*self.functions} or any(isinstance(each, ast.Lambda) for each in made):
            advice = f"If it is a function, define {name} with def, under @cuda.jit(device=True)."
        return ArgumentError(
            f"{self.place}, line {line}: {user!r} uses {name!r}, which is known only when the file is "
            f"executed, and a kernel's file is not. {advice}"
        )

    def _piece(self, node: ast.stmt) -> _Piece:
        """Return the lines of a function, or an import by itself where others share its line."""
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        assert node.end_lineno is not None
        text = self.lines[first - 1 : node.end_lineno]
        if isinstance(node, _Import):
            text = [ast.unparse(node)]
        elif isinstance(node, ast.FunctionDef) and self.made_of_lambdas.get(node.name) is node:
            text = [_in_lines(node)]
        # Under an if that is decided it is indented.
        return _Piece(textwrap.dedent("\n".join(text)), first)


def _of_lambda(name: str, value: ast.expr) -> ast.FunctionDef | None:
    """Return a function for a lambda, alone or handed to ``cuda.jit`` in any way; None for anything else."""
    made, decorator = _undecorated(value)
    if not isinstance(made, ast.Lambda):
        return None
    text = f"{decorator}def {name}({ast.unparse(made.args)}): return {ast.unparse(made.body)}"
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    return function


def _undecorated(value: ast.expr) -> tuple[ast.expr, str]:
    """Return what is handed to ``cuda.jit``, in any way, and a line that decorates it; else the value."""
    match value:
        case ast.Call(func=maker, args=[made], keywords=options):
            last = ast.unparse(maker.func if isinstance(maker, ast.Call) else maker).rpartition(".")[2]
            if last == "jit":
                return made, f"@{ast.unparse(ast.Call(maker, [], options) if options else maker)}\n"
    return value, ""


def _renamed(text: str, name: str, other: str) -> str:
    """Return the text of a function under another name."""
    return re.sub(rf"\bdef\s+{re.escape(name)}\b", f"def {other}", text, count=1)


def _in_lines(function: ast.FunctionDef) -> str:
    """Return the text of a function that was made of a lambda: a line for it, and one for its decorator."""
    decorators = "".join(f"@{ast.unparse(each)}\n" for each in function.decorator_list)
    return f"{decorators}def {function.name}({ast.unparse(function.args)}): {ast.unparse(function.body[0])}"


def _decided(body: list[ast.stmt], known: dict[str, object]) -> Iterator[ast.stmt]:
    """Yield statements; of an ``if`` between constants, such as ``if WIDE:``, those of the branch taken."""
    for node in body:
        try:
            if isinstance(node, ast.If):
                yield from _decided(node.body if evaluate(node.test, known) else node.orelse, known)
                continue
        except ValueError:
            pass
        for name, value in _assigned(node):
            with suppress(ValueError):
                known[name] = evaluate(value, known)
        yield node


def _is_value(node: ast.expr) -> bool:
    """Say whether an expression has a value that a kernel takes as a constant, as ``math.pi`` has."""
    try:
        evaluate(node, {})
    except ValueError:
        return False
    return True


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a statement assigns, with the expressions."""
    for target, value in assigned_by(node):
        if isinstance(target, ast.Name):
            yield target.id, value


def read_host_file(path: Path, name: str = "", preferred: str = "") -> Answer:
    """Read a file that holds a function of the host; a worker process will execute it."""
    text = _text(path)
    chosen = _choose(_functions(parse(text, path.name)), name, preferred, path.name)
    return Answer(text, chosen, place=path.name, folder=str(path.resolve().parent))


def execute(
    text: str, name: str, path: Path, constants: Mapping[str, object] = MappingProxyType({})
) -> Callable[..., Any]:
    r"""Execute source text and return one of its functions.

    >>> execute("def one():\n    return 1", "one", Path("answer.py"))()
    1
    """
    module = ModuleType(f"answer_{path.stem}")
    namespace = vars(module)
    namespace.update(constants, __file__=str(path))
    # What is wrong with it may be seen in its text.
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    # A dataclass looks for its module here.
    sys.modules[module.__name__] = module
    try:
        with time_limit(_LIMIT_S), importable():
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


# --- Parts of a text ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Piece:
    """Some text of an answer, and the number of its first line; 0 if it has none."""

    text: str
    line: int = 0


def _arrange(pieces: list[_Piece]) -> str:
    r"""Put texts where their lines were; texts without a line, or whose place is taken, go to the end."""
    lines: dict[int, str] = {}
    homeless = []
    for piece in pieces:
        text = piece.text.splitlines()
        numbers = range(piece.line, piece.line + len(text))
        if piece.line < 1 or any(number in lines for number in numbers):
            homeless += text
        else:
            lines.update(zip(numbers, text, strict=True))
    last = max(lines, default=0)
    lines.update(enumerate(homeless, last + 1))
    return "\n".join(lines.get(number, "") for number in range(1, last + len(homeless) + 1)) + "\n"


def _free_names(node: ast.AST) -> set[str]:
    r"""Return the names that a function's body uses and does not set itself."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    own = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    used: set[str] = set()
    for statement in node.body:
        for inner in ast.walk(statement):
            if isinstance(inner, ast.Name):
                (used if isinstance(inner.ctx, ast.Load) else own).add(inner.id)
    return used - own


# --- What a kernel cannot contain, said more clearly than a compiler does -------------------------------


_WHAT: dict[type[ast.AST], str] = {
    ast.Try: "a try statement: a kernel cannot catch exceptions",
    ast.With: "a with statement: there is nothing to open or close on the GPU",
    ast.Yield: "yield: a kernel returns nothing, it writes to its arguments",
    ast.YieldFrom: "yield: a kernel returns nothing, it writes to its arguments",
    ast.List: "a list: a kernel cannot make one; use cuda.local.array or a tuple",
    ast.ListComp: "a list comprehension: a kernel cannot make a list; use cuda.local.array and a loop",
    ast.Dict: "a dictionary: a kernel cannot make one; use arrays",
    ast.DictComp: "a dictionary: a kernel cannot make one; use arrays",
    ast.Set: "a set: a kernel cannot make one; use arrays",
    ast.SetComp: "a set: a kernel cannot make one; use arrays",
    ast.GeneratorExp: "a generator expression: a kernel needs a loop instead",
    ast.JoinedStr: "an f-string: a kernel cannot make strings; print takes the values themselves",
    ast.ClassDef: "a class: a kernel cannot make objects",
    ast.Import: "an import: imports stand outside of a kernel",
    ast.ImportFrom: "an import: imports stand outside of a kernel",
    ast.Global: "global: a kernel cannot change outside variables; it writes to its arguments",
    ast.Nonlocal: "nonlocal: a kernel cannot change outside variables; it writes to its arguments",
    ast.Await: "await: a kernel cannot wait for the host",
}


def unsupported(answer: Answer) -> list[Finding]:
    r"""Find the first thing in an answer that a kernel cannot contain.

    >>> print(*unsupported(Answer("def k(x):\n    y = [1, 2]\n    x[0] = y[0]", "k")))
    Line 2 holds a list: a kernel cannot make one; use cuda.local.array or a tuple.
    """
    functions = [node for node in answer.tree.body if isinstance(node, ast.FunctionDef)]
    for node in functions:
        for line, what in sorted(set(_found(node, answer.name))):
            return [Finding("compile", f"Line {line} holds {what}.", line=line)]
    for node in functions:
        if message := _decorated_wrongly(node, answer.name):
            return [Finding("compile", f"Line {node.lineno}: {message}.", line=node.lineno)]
    return [*_known_inside_only(answer)][:1]


#: Of ``cuda``, what Numba knows as a part of that module and by no name from outside of the kernel.
_INSIDE_ONLY = frozenset(
    {
        *("threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize", "shared", "local", "const"),
        *("atomic", "threadfence", "threadfence_block", "threadfence_system", "syncwarp", "match_any_sync"),
        *("match_all_sync", "activemask", "lanemask_lt", "nanosleep", "popc", "ffs", "clz", "brev"),
        *("fma", "cbrt", "selp"),
    }
)


def _known_inside_only(answer: Answer) -> Iterator[Finding]:
    """Yield uses of a name that stands outside of the kernel for what Numba looks up only inside."""
    tree = answer.tree
    full = dict(each for node in tree.body for each in bound_by(node))
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        free = _free_names(function)
        for node in (each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id in free):
            home, _, part = full.get(node.id, "").partition("numba.cuda.")
            if not home and part.partition(".")[0] in _INSIDE_ONLY:
                message = (
                    f"Line {node.lineno} uses {node.id}, which stands for cuda.{part} from outside of the "
                    f"kernel. Numba looks that up only inside: write cuda.{part} there."
                )
                yield Finding("compile", message, line=node.lineno)


def _decorated_wrongly(function: ast.FunctionDef, kernel: str) -> str:
    """Say what is wrong with a function's decorator; a kernel need not have one."""
    for decorator in function.decorator_list if function.name == kernel else ():
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(made).rpartition(".")[2] in ("njit", "vectorize", "guvectorize"):
            return f"@{ast.unparse(made)} makes no kernel for the GPU; decorate it with @cuda.jit"
        options = decorator.keywords if isinstance(decorator, ast.Call) else []
        if any(each.arg == "device" and ast.unparse(each.value) == "True" for each in options):
            return "only a kernel can call a device function; decorate it with @cuda.jit, without device=True"
    if function.name != kernel and not function.decorator_list:
        return f"{function.name} is a plain Python function; decorate it with @cuda.jit(device=True)"
    return ""


def undefined(answer: Answer) -> list[Finding]:
    r"""Find the first name that nothing defines: a compiler looks at lines, too, that no thread came to.

    >>> print(*undefined(Answer("def k(x):\n    if x.size < 0:\n        x[0] = y", "k")))
    Line 3 uses y, which is not defined.
    """
    tree = answer.tree
    bound = {name for node in tree.body for name, _ in bound_by(node)}
    assigned = {name for node in tree.body for name, _ in _assigned(node)}
    known = {*bound, *assigned, *answer.constants, *dir(builtins)}
    nodes = [*ast.walk(tree)]
    known |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    known |= {str(node.name) for node in nodes if isinstance(node, ast.MatchAs | ast.MatchStar)}
    names = [
        node
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name)
    ]
    known |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    for node in sorted(names, key=lambda node: node.lineno):
        if node.id not in known:
            message = f"Line {node.lineno} uses {node.id}, which is not defined."
            return [Finding("compile", message, line=node.lineno)]
    return []


def _found(function: ast.FunctionDef, kernel: str) -> Iterator[tuple[int, str]]:
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    whole = {id(node.value) for node in nodes if isinstance(node, ast.Assign | ast.Expr)}
    for node in nodes:
        if type(node) in _WHAT and isinstance(node, ast.stmt | ast.expr):
            yield node.lineno, _WHAT[type(node)]
        elif isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Store):
            yield node.lineno, f"{ast.unparse(node)} on the left of =: name each part of the tuple"
        # Numba loses the type of what is computed, assigned, and used further in one expression.
        elif isinstance(node, ast.NamedExpr) and not (id(node) in whole or isinstance(node.value, ast.Name)):
            name = ast.unparse(node.target)
            yield node.lineno, f"({name} := ...) inside an expression: set {name} on a line of its own"
    for node in own_nodes(function):
        if isinstance(node, ast.Return) and function.name == kernel and _is_something(node.value):
            yield node.lineno, "a return with a value: a kernel returns nothing, it writes to its arguments"


def _is_something(value: ast.expr | None) -> bool:
    return value is not None and not (isinstance(value, ast.Constant) and value.value is None)
