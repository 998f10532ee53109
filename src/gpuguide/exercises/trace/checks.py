"""Mistakes that the source alone shows, whatever the launch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.sites import Place
from gpuguide.exercises.trace.waiting import own_nodes

__all__ = ["array_names", "look_over", "meant_from_the_end"]


def look_over(kernel: ast.FunctionDef, functions: Iterable[ast.FunctionDef]) -> tuple[Finding, ...]:
    """Find what Numba would refuse, and what a simulator does not notice.

    Parameters
    ----------
    kernel : ast.FunctionDef
        The kernel, not rewritten yet.
    functions : iterable of ast.FunctionDef
        It and its device functions.

    Returns
    -------
    tuple of Finding
        Of kind ``"compile"``.
    """
    found = [_returned(node) for node in own_nodes(kernel) if isinstance(node, ast.Return) and node.value]
    for function in functions:
        computed = _computed_names(function)
        for call, space in _made_arrays(function):
            found += [
                _shape(call, space, part) for part in _shape_of(call) if not _is_constant(part, computed)
            ][:1]
    return tuple(sorted(found, key=lambda finding: finding.order))


def _returned(node: ast.Return) -> Finding:
    return Finding(
        "compile",
        f"Line {node.lineno} returns a value, but a kernel cannot: it writes its results into an array.",
        line=node.lineno,
    )


def _shape(call: ast.Call, space: str, part: ast.expr) -> Finding:
    advice = ", or 0 for all the memory that the launch asks for" if space == "shared" else ""
    return Finding(
        "compile",
        f"Line {call.lineno} makes a {space} array whose shape holds {ast.unparse(part)}; Numba takes a "
        f"number there or the name of a constant{advice}.",
        line=call.lineno,
    )


def _made_arrays(function: ast.FunctionDef) -> Iterator[tuple[ast.Call, str]]:
    """Yield the calls of ``cuda.shared.array`` and ``cuda.local.array``."""
    for node in own_nodes(function):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="shared" | "local" as space), attr="array")
            ):
                yield node, space


def _shape_of(call: ast.Call) -> list[ast.expr]:
    """Return the extents that a call names."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "shape"]
    shape = (call.args or named)[:1]
    return [part for each in shape for part in (each.elts if isinstance(each, ast.Tuple) else [each])]


def _computed_names(function: ast.FunctionDef) -> set[str]:
    """Return parameters, and variables that are not set once and for all to a number."""
    computed = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    stored = [node for node in own_nodes(function) if isinstance(node, ast.Name | ast.Assign)]
    numbers = {
        target.id
        for node in stored
        if isinstance(node, ast.Assign) and _is_constant(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name) and not isinstance(node.value, ast.Name)
    }
    names = [node.id for node in stored if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return computed | {name for name in names if name not in numbers or names.count(name) > 1}


def _is_constant(part: ast.expr, computed: set[str]) -> bool:
    """Say whether Numba knows an extent when it compiles: a number, or the name of one."""
    if isinstance(part, ast.Name):
        return part.id not in computed
    # Python itself works out 2 * 16 before Numba sees it.
    arithmetic = ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop
    return all(isinstance(node, arithmetic) for node in ast.walk(part))


def array_names(functions: Iterable[ast.FunctionDef]) -> dict[Place, str]:
    """Return the variables that arrays are assigned to where they are made."""
    return {
        Place.of(call): target
        for function in functions
        for node in own_nodes(function)
        for target, call in _assigned(node)
    }


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            yield name, call
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call() as call):
            yield name, call


def meant_from_the_end(functions: Iterable[ast.FunctionDef]) -> frozenset[tuple[Place, int]]:
    """Return the places and axes of subscripts such as ``x[-1]``: nobody writes that by mistake."""
    return frozenset(
        (Place.of(node), axis)
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        for axis, part in enumerate(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])
        if isinstance(part, ast.UnaryOp)
        and isinstance(part.op, ast.USub)
        and isinstance(part.operand, ast.Constant)
    )
