"""Makes a Numba kernel from an answer's text: only its functions, and the imports they use, are executed."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from gpuguide.exercises.reading import Answer
from gpuguide.machine.backends import jit

__all__ = ["Built", "build", "file_name"]

# Options of a decorator that change what is compiled, and that a kernel's author may set.
_OPTIONS = frozenset({"fastmath", "max_registers", "launch_bounds", "opt", "inline"})


@dataclass(frozen=True)
class Built:
    """A kernel that can be compiled or launched.

    Attributes
    ----------
    function : callable
        The Python function.
    options : dict
        What its decorator asks for, as far as the lanes know it.
    kernel : object
        Numba's dispatcher.
    """

    function: Callable[..., Any]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def kernel(self) -> Any:
        """Numba's dispatcher, made anew at each access."""
        return jit(self.function, **self.options)


def file_name(answer: Answer) -> str:
    """Return the name that the compiler's messages use for an answer's file.

    >>> file_name(Answer("", "k", place="mine.py"))
    '<mine.py>'
    """
    return f"<{answer.place or 'cell'}>"


def build(answer: Answer) -> Built:
    """Define an answer's functions; device functions are decorated as the reader decorated them."""
    tree = ast.parse(answer.source)
    options = dict(_decorated(tree))
    namespace: dict[str, Any] = {"__name__": "gpuguide_answer", **answer.constants}
    # Numba quotes lines through linecache.
    lines = answer.source.splitlines(keepends=True)
    linecache.cache[file_name(answer)] = (len(answer.source), None, lines, file_name(answer))
    # Imports may come after the functions that use them.
    body: list[ast.stmt] = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    body += [_bare(node) for node in tree.body if isinstance(node, ast.FunctionDef)]
    exec(compile(ast.Module(body, []), file_name(answer), "exec"), namespace)
    for name, found in options.items():
        if name != answer.name:
            namespace[name] = jit(namespace[name], device=True, **found)
    return Built(namespace[answer.name], options.get(answer.name, {}))


def _decorated(tree: ast.Module) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the functions that have a decorator, with the options that it names literally."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            keywords = [
                keyword
                for decorator in node.decorator_list
                if isinstance(decorator, ast.Call)
                for keyword in decorator.keywords
            ]
            yield (
                node.name,
                {
                    str(keyword.arg): keyword.value.value
                    for keyword in keywords
                    if keyword.arg in _OPTIONS and isinstance(keyword.value, ast.Constant)
                },
            )


def _bare(node: ast.FunctionDef) -> ast.FunctionDef:
    """Return a function without decorators, annotations and computed defaults, which would run now."""
    node.decorator_list, node.returns = [], None
    node.args.defaults = [_literal(default) for default in node.args.defaults]
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return node


def _literal(node: ast.expr) -> ast.expr:
    return node if isinstance(node, ast.Constant) else ast.copy_location(ast.Constant(None), node)
