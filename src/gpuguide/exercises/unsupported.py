"""What a kernel cannot contain, found in its syntax tree: clearer than a compiler's message."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpuguide.exercises.answer import Answer
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.rewriting import own_nodes

__all__ = ["unsupported"]

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

    Parameters
    ----------
    answer : Answer
        A kernel, and the functions that it calls.

    Returns
    -------
    list of Finding
        At most one, of the kind ``"compile"``.

    Examples
    --------
    >>> print(*unsupported(Answer("def k(x):\n    y = [1, 2]\n    x[0] = y[0]", "k")))
    Line 2 holds a list: a kernel cannot make one; use cuda.local.array or a tuple.
    """
    for node in ast.parse(answer.source).body:
        if isinstance(node, ast.FunctionDef):
            for line, what in sorted(set(_found(node, answer.name))):
                return [Finding("compile", f"Line {line} holds {what}.", line=line)]
    return []


def _found(function: ast.FunctionDef, kernel: str) -> Iterator[tuple[int, str]]:
    for statement in function.body:
        for node in ast.walk(statement):
            if type(node) in _WHAT and isinstance(node, ast.stmt | ast.expr):
                yield node.lineno, _WHAT[type(node)]
    for node in own_nodes(function):
        if isinstance(node, ast.Return) and function.name == kernel and _is_something(node.value):
            yield node.lineno, "a return with a value: a kernel returns nothing, it writes to its arguments"


def _is_something(value: ast.expr | None) -> bool:
    return value is not None and not (isinstance(value, ast.Constant) and value.value is None)
