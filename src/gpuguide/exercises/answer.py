"""A reader's answer as text: a kernel, what it calls, and the constants it refers to."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuguide.errors import ArgumentError

__all__ = ["Answer", "Piece", "arrange", "check_parameters", "free_names"]


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

    Examples
    --------
    >>> Answer("def k(x):\n    x[0] = 1\n", "k").line(2)
    '    x[0] = 1'
    """

    source: str
    name: str
    constants: Mapping[str, object] = field(default_factory=dict)
    place: str = ""
    folder: str = ""

    def line(self, number: int) -> str:
        """Return one line of the source, counted from 1; empty where there is none."""
        lines = self.source.splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else ""


@dataclass(frozen=True)
class Piece:
    """Some text of an answer, and the number of its first line; 0 if it has none."""

    text: str
    line: int = 0


def arrange(pieces: list[Piece]) -> str:
    r"""Put texts where their lines were; texts without a line, or whose place is taken, go to the end.

    Parameters
    ----------
    pieces : list of Piece
        The first has its place for sure.

    Returns
    -------
    str
        Source text, with empty lines in between.

    Examples
    --------
    >>> arrange([Piece("def k(): pass", 3), Piece("import math")])
    '\n\ndef k(): pass\nimport math\n'
    """
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


def free_names(node: ast.AST) -> set[str]:
    r"""Return the names that a function's body uses and does not set itself.

    Parameters
    ----------
    node : ast.AST
        A function's definition. Its decorators and annotations are not looked at.

    Returns
    -------
    set of str
        Includes names of built-in functions.

    Examples
    --------
    >>> tree = ast.parse("def k(x):\n    i = cuda.grid(1)\n    x[i] = N")
    >>> sorted(free_names(tree.body[0]))
    ['N', 'cuda']
    """
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    own = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    used: set[str] = set()
    for statement in node.body:
        for inner in ast.walk(statement):
            if isinstance(inner, ast.Name):
                (used if isinstance(inner.ctx, ast.Load) else own).add(inner.id)
    return used - own


def check_parameters(exercise: str, expected: tuple[str, ...], answer: Answer) -> tuple[str, ...]:
    """Return the names of a kernel's parameters, if they match the expected ones.

    Parameters
    ----------
    exercise : str
        Name of the exercise, for the message.
    expected : tuple of str
        Names in the statement; empty if it leaves them open.
    answer : Answer
        The kernel.

    Returns
    -------
    tuple of str
        The reader's own names, which may differ from the statement's.

    Raises
    ------
    ArgumentError
        Their number or order is wrong.

    Examples
    --------
    >>> check_parameters("guard", ("x", "out"), Answer("def k(a, out): pass", "k"))
    ('a', 'out')
    """
    node = _definition(answer)
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


def _definition(answer: Answer) -> ast.FunctionDef:
    for node in ast.parse(answer.source).body:
        if isinstance(node, ast.FunctionDef) and node.name == answer.name:
            return node
    raise ArgumentError(f"Expected a function {answer.name!r} defined with def; there is none.")
