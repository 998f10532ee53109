"""What the source alone shows to be wrong, whatever the launch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.sites import Place
from gpuguide.exercises.trace.waiting import own_nodes

__all__ = ["array_names", "look_over", "meant_from_the_end"]

_MAKERS = {"shared", "local"}


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
        parameters = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
        for call, space in _made_arrays(function):
            if call.args and _known_at_launch_only(call.args[0], parameters):
                found.append(_shape(call, space))
    return tuple(sorted(found, key=lambda finding: finding.order))


def _returned(node: ast.Return) -> Finding:
    return Finding(
        "compile",
        f"Line {node.lineno} returns a value, but a kernel cannot: it writes its results into an array.",
        line=node.lineno,
    )


def _shape(call: ast.Call, space: str) -> Finding:
    advice = ", or 0 for as much as the launch asks for" if space == "shared" else ""
    return Finding(
        "compile",
        f"Line {call.lineno} makes a {space} array whose shape {ast.unparse(call.args[0])} is known only at "
        f"launch; Numba wants a constant there{advice}.",
        line=call.lineno,
    )


def _made_arrays(function: ast.FunctionDef) -> Iterator[tuple[ast.Call, str]]:
    """Yield the calls of ``cuda.shared.array`` and ``cuda.local.array``."""
    for node in own_nodes(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=space), attr="array")) if (
                space in _MAKERS
            ):
                yield node, space


def _known_at_launch_only(shape: ast.expr, parameters: set[str]) -> bool:
    for node in ast.walk(shape):
        if isinstance(node, ast.Name) and node.id in parameters:
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("x", "y", "z", "size"):
            return True
        if isinstance(node, ast.Call):
            return True
    return False


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
