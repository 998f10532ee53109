"""The types that a decorator fixes, ``@cuda.jit("void(float32[:], int32)")``, against those of a launch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

import numpy as np

from gpuguide.exercises.reading import Answer
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES

__all__ = ["mismatch"]


def mismatch(answer: Answer, arguments: Mapping[str, Any]) -> list[Finding]:
    r"""Compare the signature of a kernel's decorator, if it has one, with the arguments of a launch.

    Numba does not: given one signature, it hands over the arrays as if they were of these types.

    >>> kernel = Answer('@cuda.jit("void(float64[:])")\ndef k(x):\n    x[0] = 1', "k")
    >>> print(*mismatch(kernel, {"x": np.zeros(4, np.float32)}))
    Line 1 says float64[:] of x, and this launch hands over float32[::1]; Numba would not notice.
    """
    for node in answer.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == answer.name:
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            for line, given in _given(node):
                found = [_first_other(types, names, [*arguments.values()]) for types in _signatures(given)]
                if found and all(found):  # of several signatures Numba takes the one that fits
                    return [Finding("signature", f"Line {line} {found[0]}.", line=line)]
    return []


def _given(function: ast.FunctionDef) -> Iterator[tuple[int, ast.expr]]:
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).rpartition(".")[2] == "jit":
            named = [each.value for each in decorator.keywords if each.arg in ("func_or_sig", "signature")]
            yield from ((decorator.lineno, each) for each in [*decorator.args[:1], *named])


def _signatures(node: ast.expr) -> Iterator[list[str]]:
    """Yield the types that each signature names; one that cannot be read says nothing."""
    match node:
        case ast.Constant(value=str(text)):
            try:
                yield from _signatures(ast.parse(text.strip(), mode="eval").body)
            except SyntaxError:
                return
        case ast.List(elts=several):
            for each in several:
                yield from _signatures(each)
        case ast.Call(args=types) | ast.Tuple(elts=types):
            if all(map(_readable, types)):
                yield [ast.unparse(each) for each in types]
        case _ if _readable(node):
            yield [ast.unparse(node)]


def _readable(node: ast.expr) -> bool:
    """Say whether an expression is a type: ``float32``, or an array of it, as ``types.float32[:, ::1]``."""
    inner, slices = node, []
    if isinstance(node, ast.Subscript):
        inner = node.value
        slices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    is_type = ast.unparse(inner).rpartition(".")[2] in NUMBER_TYPES
    return is_type and all(isinstance(each, ast.Slice) for each in slices)


def _first_other(types: list[str], names: list[str], values: list[Any]) -> str:
    """Say which argument is not of its type; empty if all are."""
    if len(types) != len(names):
        return f"names {len(types)} types for {len(names)} parameters"
    for kind, name, value in zip_longest(types, names, values):
        if not _fits(kind, value):
            given = _shown(value)
            return f"says {kind} of {name}, and this launch hands over {given}; Numba would not notice"
    return ""


def _fits(kind: str, value: Any) -> bool:
    element, bracket, axes = kind.rpartition(".")[2].rstrip("]").partition("[")
    dtype = NUMBER_TYPES[element].name
    if not isinstance(value, np.ndarray):
        return not bracket and ("float" in dtype or not isinstance(value, float))
    steps = [each.strip() for each in axes.split(",")]
    rows_first = value.flags.c_contiguous or steps[-1] != "::1"
    columns_first = value.flags.f_contiguous or len(steps) == 1 or steps[0] != "::1"
    return (
        bool(bracket)
        and value.dtype.name == dtype
        and value.ndim == len(steps)
        and rows_first
        and columns_first
    )


def _shown(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return f"the number {value}"
    steps = [":"] * value.ndim
    if value.flags.c_contiguous or value.flags.f_contiguous:
        steps[-1 if value.flags.c_contiguous else 0] = "::1"
    return f"{value.dtype.name}[{', '.join(steps)}]"
