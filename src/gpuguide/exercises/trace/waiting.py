"""Which calls of a kernel make a thread wait for others, directly or through a device function."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from gpuguide.errors import ArgumentError

__all__ = ["WAITING", "Waits", "own_nodes"]

#: Functions of ``cuda`` at which a thread waits for others.
WAITING = frozenset(
    {
        *("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "syncwarp"),
        *("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"),
        *("all_sync", "any_sync", "eq_sync", "ballot_sync", "match_any_sync", "match_all_sync"),
    }
)
_Function = ast.FunctionDef | ast.Lambda
_INLINE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Waits:
    """Answers, for the functions of one source, where a thread waits.

    Parameters
    ----------
    functions : iterable of ast.FunctionDef
        The kernel and its device functions.
    imported : iterable of str
        Names under which functions of `WAITING` were imported on their own.

    Attributes
    ----------
    functions : frozenset of str
        Names of the functions in which a thread may wait.

    Raises
    ------
    ArgumentError
        A thread would wait where it cannot be made to: in a lambda, or through another name.
    """

    def __init__(self, functions: Iterable[ast.FunctionDef], imported: Iterable[str] = ()) -> None:
        self._imported = frozenset(imported)
        self.functions: frozenset[str] = frozenset()
        defined = [node for top in functions for node in ast.walk(top) if isinstance(node, ast.FunctionDef)]
        while (found := frozenset(each.name for each in defined if self._waits_in(each))) != self.functions:
            self.functions = found  # a caller of a function that waits waits, too
        for function in defined:
            self._refuse_other_names(function)
            self._refuse_inline(function)

    def at(self, node: ast.AST) -> bool:
        """Say whether a node is a call at which the thread waits."""
        return isinstance(node, ast.Call) and self._names(node.func)

    def inside(self, node: ast.AST) -> bool:
        """Say whether a node calls a device function in which the thread waits."""
        return (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.functions
        )

    def _waits_in(self, function: _Function) -> bool:
        return any(self.at(node) or self.inside(node) for node in own_nodes(function))

    def _names(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr in WAITING
        return isinstance(node, ast.Name) and node.id in self._imported

    def _refuse_other_names(self, function: ast.FunctionDef) -> None:
        called = {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
        # A bare `cuda.syncthreads` without parentheses does nothing in Numba either: the race shows.
        bare = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Expr)}
        for node in ast.walk(function):
            if isinstance(node, ast.expr) and self._names(node) and id(node) not in called | bare:
                raise ArgumentError(
                    f"Line {node.lineno} uses {ast.unparse(node)} without calling it. Call it in place."
                )

    def _refuse_inline(self, function: ast.FunctionDef) -> None:
        for node in ast.walk(function):
            if isinstance(node, _INLINE) and any(
                self.at(each) or self.inside(each) for each in ast.walk(node)
            ):
                raise ArgumentError(
                    f"Line {node.lineno} waits for other threads inside a lambda or a list. "
                    "Write a loop, or a function with def."
                )


def own_nodes(function: _Function) -> Iterator[ast.AST]:
    """Walk a function without the functions that are defined in it."""
    pending: list[ast.AST] = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
