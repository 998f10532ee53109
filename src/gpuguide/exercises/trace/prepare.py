"""From a reader's source text to a kernel that can be traced: find it, rewrite it, compile it."""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType, MappingProxyType
from typing import Any

from gpuguide.errors import ArgumentError, unknown
from gpuguide.exercises.constants import evaluate
from gpuguide.exercises.trace.checks import array_names, look_over, meant_from_the_end
from gpuguide.exercises.trace.findings import Finding
from gpuguide.exercises.trace.namespace import USUAL_IMPORTS
from gpuguide.exercises.trace.rewrite import rewrite
from gpuguide.exercises.trace.sites import Sites
from gpuguide.exercises.trace.waiting import WAITING

__all__ = ["TracedKernel", "prepare"]

_NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class TracedKernel:
    """A reader's kernel, rewritten and compiled; `run` launches it.

    Attributes
    ----------
    name : str
        The kernel's own name.
    parameters : tuple of str
        Its parameters' names, in order.
    source : str
        The reader's text, dedented; all line numbers count in it, from 1.
    findings : tuple of Finding
        What the source alone shows to be wrong; every trace of the kernel holds it, too.
    waits : bool
        Whether its threads may wait for one another.

    Examples
    --------
    >>> kernel = prepare('''
    ... def double(x):
    ...     i = cuda.grid(1)
    ...     if i < x.size:
    ...         x[i] *= 2
    ... ''')
    >>> kernel.name, kernel.parameters, kernel.waits
    ('double', ('x',), False)
    """

    name: str
    parameters: tuple[str, ...]
    source: str
    findings: tuple[Finding, ...] = ()
    waits: bool = False
    code: CodeType = field(kw_only=True, repr=False)
    sites: Sites = field(kw_only=True, repr=False)
    imports: Mapping[str, str] = field(kw_only=True, repr=False)
    constants: Mapping[str, Any] = field(kw_only=True, repr=False)


def prepare(source: str, name: str = "", constants: Mapping[str, object] = _NOTHING) -> TracedKernel:
    """Find the kernel in a source text, rewrite it for tracing and compile it; nothing of it is run.

    Parameters
    ----------
    source : str
        One or more functions: the kernel and the device functions it calls. Imports and assignments of
        constants beside them count; whatever else stands at the top level (launches, prints) does not.
        Decorators are dropped. A source without any import has the usual ones: ``cuda``, ``np``, ``math``
        and Numba's types.
    name : str
        The kernel's name; by default the last function at the top level.
    constants : mapping of str to object
        What else the functions refer to: numbers, tuples, small arrays, types, modules.

    Returns
    -------
    TracedKernel
        With `name`, `parameters` and `source`.

    Raises
    ------
    ArgumentError
        The source has a syntax error, holds no function or none of that name, or does what no kernel can.

    Examples
    --------
    >>> prepare("def broken(x)")
    Traceback (most recent call last):
    gpuguide.errors.ArgumentError: Line 1 is not valid Python: expected ':'.
    """
    text = textwrap.dedent(source)
    tree = _parsed(text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    kernel = _chosen(functions, name)
    parameters = tuple(argument.arg for argument in (*kernel.args.posonlyargs, *kernel.args.args))
    imports = _imports(tree)
    own_constants = _constants(tree, constants)
    findings = look_over(kernel, functions.values())
    names, from_the_end = array_names(functions.values()), meant_from_the_end(functions.values())
    waiting = [bound for bound, path in imports.items() if path in {f"numba.cuda.{each}" for each in WAITING}]
    rewritten = rewrite(functions.values(), waiting)
    code = _compiled(ast.Module(list(rewritten.functions), []), kernel.name)
    return TracedKernel(
        kernel.name,
        parameters,
        text,
        findings,
        kernel.name in rewritten.waiting,
        code=code,
        sites=Sites(code, names, from_the_end),
        imports=imports or USUAL_IMPORTS,
        constants={**own_constants, **constants, **rewritten.numbers},
    )


def _parsed(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise _not_python(error) from None


def _compiled(tree: ast.Module, name: str) -> CodeType:
    try:
        with warnings.catch_warnings(action="ignore"):
            return compile(tree, f"<{name}>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise _not_python(error) from None


def _not_python(error: Exception) -> ArgumentError:
    line = getattr(error, "lineno", None)
    what = getattr(error, "msg", str(error))
    return ArgumentError(f"{f'Line {line}' if line else 'The source'} is not valid Python: {what}.")


def _chosen(functions: Mapping[str, ast.FunctionDef], name: str) -> ast.FunctionDef:
    if not functions:
        raise ArgumentError("The source holds no function. Define the kernel with def, at the top level.")
    if name and name not in functions:
        raise ArgumentError(str(unknown("function", name, functions)))
    kernel = functions[name or list(functions)[-1]]
    if kernel.args.vararg or kernel.args.kwarg or kernel.args.kwonlyargs:
        raise ArgumentError(f"Line {kernel.lineno}: a kernel takes a fixed number of plain parameters.")
    return kernel


def _imports(tree: ast.Module) -> dict[str, str]:
    """Return what the imports at the top level bind, by full names."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                found |= {alias.asname: alias.name} if alias.asname else {first: first}
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    if "numba.cuda.laneid" in found.values():  # one object for all threads would not do
        raise ArgumentError("The source imports laneid on its own. Import cuda, and write cuda.laneid.")
    return found


def _constants(tree: ast.Module, known: Mapping[str, object]) -> dict[str, object]:
    """Return the constants that are assigned at the top level; what is no constant is left out."""
    found = dict(known)
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        try:
            found[name] = evaluate(value, found)
        except ValueError:
            continue
    return found
