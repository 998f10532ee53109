"""Rewrites a kernel's syntax tree so that it can be traced; every line keeps its number.

Barriers and warp operations become ``yield``, calls of device functions that hold one ``yield from``. Loops
count their turns, branches tell which way they went, and Python's floats become float64, as in Numba.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.exercises.trace.waiting import Waits, own_nodes

__all__ = ["DIVIDE", "DIVISOR", "TRACER", "TRUTH", "Rewritten", "rewrite"]

#: Names in rewritten code: of the machine that runs it, and of three functions of `scalars`.
TRACER, DIVIDE, DIVISOR, TRUTH = "__tracer__", "__divide__", "__divisor__", "__truth__"
_REFUSED: dict[type[ast.AST], str] = {
    ast.Yield: "yields",
    ast.YieldFrom: "yields",
    ast.Await: "awaits",
    ast.AsyncFunctionDef: "defines an asynchronous function",
    ast.AsyncFor: "loops asynchronously",
    ast.AsyncWith: "uses 'async with'",
    ast.ClassDef: "defines a class",
    ast.Try: "catches exceptions",
    ast.TryStar: "catches exceptions",
    ast.With: "uses 'with'",
    ast.Global: "changes a global variable",
    ast.Nonlocal: "changes a variable of another function",
    ast.Import: "imports a module",
    ast.ImportFrom: "imports a module",
}


@dataclass(frozen=True)
class Rewritten:
    """Functions ready to be compiled.

    Attributes
    ----------
    functions : list of ast.FunctionDef
        In their order.
    waiting : frozenset of str
        Names of those in which a thread may wait; a call of one makes a generator.
    numbers : dict of str to NumPy scalar
        The float and complex literals, by the names that stand for them now.
    """

    functions: list[ast.FunctionDef]
    waiting: frozenset[str]
    numbers: dict[str, Any]


def rewrite(functions: Iterable[ast.FunctionDef], waiting_names: Iterable[str] = ()) -> Rewritten:
    """Rewrite the functions of a kernel's source.

    Parameters
    ----------
    functions : iterable of ast.FunctionDef
        The kernel and its device functions; they are changed in place.
    waiting_names : iterable of str
        Names under which functions such as ``syncthreads`` were imported on their own.

    Returns
    -------
    Rewritten
        The functions, and what their namespace must hold besides.

    Raises
    ------
    ArgumentError
        A function does what no kernel can, such as catching exceptions.
    """
    tops = list(functions)
    for node in (node for top in tops for node in ast.walk(top)):
        if type(node) in _REFUSED:
            line = getattr(node, "lineno", 0)
            raise ArgumentError(f"Line {line} {_REFUSED[type(node)]}, which no kernel can do.")
    waits = Waits(tops, waiting_names)
    rewriter = _Rewriter(waits)
    done = [ast.fix_missing_locations(rewriter.visit(function)) for function in tops]
    return Rewritten(done, waits.functions, rewriter.numbers)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, waits: Waits) -> None:
        self.waits = waits
        self.numbers: dict[str, Any] = {}
        self.n_loops = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Drop decorators and annotations; a return out of a loop puts the loops' mark back."""
        node.decorator_list, node.returns = [], None
        loops = any(isinstance(inner, ast.For | ast.While) for inner in own_nodes(node))
        self.generic_visit(node)
        if loops:
            keep = _assign("__entry", _attribute("path"))
            put_back: list[ast.stmt] = [ast.Expr(_call("leave", _name("__entry")))]
            body = ast.Try(body=node.body, handlers=[], orelse=[], finalbody=put_back)
            node.body = [_at(node.body[0], keep), _at(node.body[0], body)]
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Drop the annotation: it may name what this simulator does not have."""
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Make an annotated assignment a plain one."""
        if node.value is None:
            return _at(node, ast.Pass())
        target, value = self.visit(node.target), self.visit(node.value)
        return _at(node, ast.Assign(targets=[target], value=value))

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        """Count the turns, and tell how many there were: threads that differ in it part."""
        self.generic_visit(node)
        return self._counted(node)

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        """Count the turns, and tell which way each test went."""
        node.test = self._branch(node.test)
        node.body = [each for statement in node.body for each in _listed(self.visit(statement))]
        node.orelse = [each for statement in node.orelse for each in _listed(self.visit(statement))]
        return self._counted(node)

    def _counted(self, node: ast.For | ast.While) -> list[ast.stmt]:
        self.n_loops += 1
        outer, turn = f"__outer_{self.n_loops}", f"__turn_{self.n_loops}"
        before = [_assign(outer, _attribute("path")), _assign(turn, _call("enter"))]
        line = ast.Constant(node.lineno)
        node.body.insert(0, _at(node, _assign(turn, _call("turn", _name(turn), line))))
        after = ast.Expr(
            _call("left", _name(outer), _name(turn), line)
            if isinstance(node, ast.For)
            else _call("leave", _name(outer))
        )
        return [*(_at(node, each) for each in before), node, _at(node, after)]

    def visit_If(self, node: ast.If) -> ast.If:
        """Tell which way the test went."""
        node.test = self._branch(node.test)
        node.body = [each for statement in node.body for each in _listed(self.visit(statement))]
        node.orelse = [each for statement in node.orelse for each in _listed(self.visit(statement))]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.IfExp:
        """Leave the test's own type alone: only its truth matters."""
        node.test, node.body, node.orelse = (
            self._test(node.test),
            self.visit(node.body),
            self.visit(node.orelse),
        )
        return node

    def _branch(self, test: ast.expr) -> ast.expr:
        return _at(test, _call("branch", self._test(test), ast.Constant(test.lineno)))

    def _test(self, node: ast.expr) -> ast.expr:
        """Rewrite an expression of which only the truth matters."""
        match node:
            case ast.BoolOp():
                node.values = [self._test(value) for value in node.values]
            case ast.UnaryOp(op=ast.Not()):
                node.operand = self._test(node.operand)
            case ast.Compare():
                self.generic_visit(node)
            case _:
                visited: ast.expr = self.visit(node)
                return visited
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Make Python's bool of NumPy's, which adds up otherwise than Numba's."""
        self.generic_visit(node)
        return _at(node, ast.Call(_name(TRUTH), [node], []))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Hand over to the scheduler where the thread waits."""
        waits, inside = self.waits.at(node), self.waits.inside(node)
        self.generic_visit(node)
        if waits:
            return _at(node, ast.Yield(node))
        return _at(node, ast.YieldFrom(node)) if inside else node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Make float64 of a float literal: with Python's own, float32 would stay float32."""
        if not isinstance(node.value, float | complex):
            return node
        value = np.complex128(node.value) if isinstance(node.value, complex) else np.float64(node.value)
        name = f"__number_{node.value!r}__"
        self.numbers[name] = value
        return _at(node, _name(name))

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.MatchValue:
        """Leave patterns alone: they take literals only."""
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Make float64 of a quotient of integers."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            return _at(node, ast.Call(_name(DIVIDE), [node.left, node.right], []))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AugAssign:
        """Make float64 of an integer that something is divided by in place."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            node.value = _at(node.value, ast.Call(_name(DIVISOR), [node.value], []))
        return node


_Placed = ast.stmt | ast.expr
_Node = TypeVar("_Node", bound=_Placed)


def _at(place: _Placed, node: _Node) -> _Node:
    """Let a new node start where the old one does, and its parts with it; it spans no further line."""
    ast.copy_location(node, place)
    node.end_lineno, node.end_col_offset = place.lineno, place.col_offset
    return node


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _attribute(name: str) -> ast.Attribute:
    return ast.Attribute(_name(TRACER), name, ast.Load())


def _call(method: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_attribute(method), list(arguments), [])


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _listed(new: ast.stmt | list[ast.stmt]) -> list[ast.stmt]:
    return new if isinstance(new, list) else [new]
