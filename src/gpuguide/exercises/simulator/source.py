"""From a reader's source text to a kernel that can be traced: find it, look it over, rewrite and compile."""

from __future__ import annotations

import ast
import difflib
import math
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import CodeType, MappingProxyType
from typing import Any

from gpuguide.errors import ArgumentError, unknown
from gpuguide.exercises.simulator import names
from gpuguide.exercises.simulator.findings import Finding
from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES
from gpuguide.exercises.simulator.rewriting import WAITING, Sites, assigned_by, bound_by, own_nodes, rewrite

_NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Kernel:
    """A reader's kernel, rewritten and compiled; `scheduler.run` launches it.

    Attributes
    ----------
    name : str
        The function's name.
    parameters : tuple of str
        Names of its parameters.
    findings : tuple of Finding
        What is wrong whatever the launch.
    waits : bool
        Whether a thread waits for others, so that it must be run in pieces.
    pauses : bool
        Whether all threads of the launch take turns: each pauses before an atomic operation.
    uncalled : tuple
        Where a barrier is named but not called: the line, and the name.

    Examples
    --------
    >>> kernel = prepare("def meet(x): cuda.syncthreads(); x[0] = 1", usual_imports=True)
    >>> kernel.name, kernel.parameters, kernel.waits
    ('meet', ('x',), True)
    """

    name: str
    parameters: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    waits: bool = False
    pauses: bool = False
    uncalled: tuple[tuple[int, str], ...] = ()
    code: CodeType = field(kw_only=True, repr=False)
    sites: Sites = field(kw_only=True, repr=False)
    imports: Mapping[str, str] = field(kw_only=True, repr=False)
    constants: Mapping[str, Any] = field(kw_only=True, repr=False)
    source: str = field(kw_only=True, repr=False)

    @cached_property
    def taking_turns(self) -> Kernel | None:
        """The same kernel with a pause before each atomic operation; None if one stands where none can be."""
        functions = [node for node in _parsed(self.source).body if isinstance(node, ast.FunctionDef)]
        try:
            rewritten = rewrite(functions, self.imports, names.ATTRIBUTES, self.name, pauses=True)
        except ArgumentError:
            return None
        if self.name not in rewritten.waiting:
            return None
        code = _compiled(ast.Module(list(rewritten.functions), []), self.name)
        return replace(self, waits=True, pauses=True, code=code, sites=rewritten.sites)

    def starts_as(self, line: int, kinds: Iterable[object]) -> tuple[str, int] | None:
        """Say which name of a line has one of these types by what it begins as, and in which line that is."""
        wide = {float: "float64", int: "int64"}
        found = list(map(str, kinds))
        nodes = [*ast.walk(_parsed(self.source))]
        used = {node.id for node in nodes if isinstance(node, ast.Name) and node.lineno == line}
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                    if name in used and node.lineno != line and wide.get(type(value)) in found:
                        return f"{name} begins as {value!r}", node.lineno
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.IfExp(body=one, orelse=other)):
                    # Of x[i] or 0, a float32 or an int64, Numba makes a float64.
                    for each in (one, other):
                        kind = wide.get(type(each.value)) if isinstance(each, ast.Constant) else ""
                        if name in used and node.lineno != line and kind and {kind, "float64"} & {*found}:
                            return f"{name} may be {ast.unparse(each)}", node.lineno
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    # A number or an array that is made of a type: int32(0), cuda.shared.array(8, float64).
                    if name in used and node.lineno != line and _type_named(call) in found:
                        return f"{name} begins as {ast.unparse(call)}", node.lineno
        return None


def _type_named(call: ast.Call) -> str:
    """Return the type that a call converts to, or makes an array of, if it may widen others; else nothing."""
    parts = [call.func, *call.args[1:2], *(each.value for each in call.keywords if each.arg == "dtype")]
    for part in parts:
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                if name in NUMBER_TYPES and name not in ("float16", "float32"):
                    return name
    return ""


def prepare(
    source: str,
    name: str = "",
    constants: Mapping[str, object] = _NOTHING,
    evaluate: Callable[[ast.expr, Mapping[str, object]], object] | None = None,
    *,
    usual_imports: bool = False,
) -> Kernel:
    """Find the kernel in a source text, rewrite it for tracing and compile it; nothing of it is run.

    Parameters
    ----------
    source : str
        Python source; only its functions, imports and constants are looked at.
    name : str
        Name of the kernel; by default the last function at the top level.
    constants : mapping
        Values that the functions refer to: numbers, tuples, `memory.View` for an array, and
        `names.ModuleNamed` for a module.
    evaluate : callable, optional
        Makes a constant of an expression at the top level of the source, or raises ValueError; by default
        such constants are left out.
    usual_imports : bool
        Whether a source without any import has those that kernels usually have.

    Returns
    -------
    Kernel
        Ready to be launched.

    Raises
    ------
    ArgumentError
        The source is no Python, holds no such function, or does what no kernel can do.

    Examples
    --------
    >>> prepare("def double(x): x[0] = 2 * x[0]").waits
    False
    >>> prepare("def broken(x)")
    Traceback (most recent call last):
    gpuguide.errors.ArgumentError: Line 1 is not valid Python: expected ':'.
    """
    tree = _parsed(textwrap.dedent(source))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    kernel = _chosen(functions, name)
    parameters = tuple(argument.arg for argument in (*kernel.args.posonlyargs, *kernel.args.args))
    imports = _imports(tree) or (names.USUAL_IMPORTS if usual_imports else {})
    own_constants = _constants(tree, constants, evaluate) if evaluate else {}
    findings = [*_look_over(kernel, functions.values()), *_unknown(functions.values(), imports)]
    uncalled = tuple(_uncalled(functions.values()))
    rewritten = rewrite(functions.values(), imports, names.ATTRIBUTES, kernel.name)
    code = _compiled(ast.Module(list(rewritten.functions), []), kernel.name)
    return Kernel(
        kernel.name,
        parameters,
        tuple(sorted(findings, key=lambda finding: finding.order)),
        kernel.name in rewritten.waiting,
        uncalled=uncalled,
        code=code,
        sites=rewritten.sites,
        imports=imports,
        constants={**own_constants, **constants},
        source=textwrap.dedent(source),
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
    bound = (each for node in tree.body for each in bound_by(node))
    found = {name: full for name, full in bound if not full.startswith("__future__.")}
    if "numba.float16" in found.values():
        raise ArgumentError(
            "The source imports float16 from numba, where it is not. Import types, and write types.float16."
        )
    if "numba.cuda.laneid" in found.values():  # one object for all threads would not do
        raise ArgumentError("The source imports laneid on its own. Import cuda, and write cuda.laneid.")
    return found


def _constants(
    tree: ast.Module, known: Mapping[str, object], evaluate: Callable[..., object]
) -> dict[str, object]:
    """Return the constants that are assigned at the top level; what is no constant is left out."""
    found = dict(known)
    for target, value in (each for node in tree.body for each in assigned_by(node)):
        if isinstance(target, ast.Name):
            with suppress(ValueError):
                found[target.id] = evaluate(value, found)
    return found


# --- What the source alone shows, whatever the launch ---------------------------------------------------


def _look_over(kernel: ast.FunctionDef, functions: Iterable[ast.FunctionDef]) -> list[Finding]:
    """Find what Numba would refuse, and what a simulator does not notice."""
    returns = [node for node in own_nodes(kernel) if isinstance(node, ast.Return)]
    found = [_returned(node) for node in returns if ast.unparse(node) not in ("return", "return None")]
    for function in functions:
        found += [_calls_itself(call) for call in _calls_of(function.name, function)][:1]
        known = _Known(function)
        for call, space in _made_arrays(function):
            found += [_type(call)] if _of_python(call) else []
            unknown_parts = [part for part in _shape_of(call) if not known.is_constant(part)]
            found += [_shape(call, space, part, known) for part in unknown_parts[:1]]
    return found


def _returned(node: ast.Return) -> Finding:
    return Finding(
        "compile",
        f"Line {node.lineno} returns a value, but a kernel cannot: it writes its results into an array.",
        line=node.lineno,
    )


def _calls_of(name: str, function: ast.FunctionDef) -> Iterator[ast.Call]:
    for node in own_nodes(function):
        match node:
            case ast.Call(func=ast.Name(id=called)) if called == name:
                yield node


def _calls_itself(call: ast.Call) -> Finding:
    name = ast.unparse(call.func)
    message = f"Line {call.lineno} calls {name} in {name} itself, which Numba cannot compile: write a loop."
    return Finding("compile", message, line=call.lineno)


def _shape(call: ast.Call, space: str, part: ast.expr, known: _Known) -> Finding:
    written, nodes = ast.unparse(part), [*ast.walk(part)]
    advice = "That is known only when the kernel runs: write the most that is needed."
    if not any(isinstance(node, ast.Call | ast.Attribute | ast.Subscript) for node in nodes) and all(
        known.is_constant(node) for node in nodes if isinstance(node, ast.Name)
    ):
        advice = f"It does no arithmetic there: set a name to {written} outside of the kernel."
    return Finding(
        "compile",
        f"Line {call.lineno} makes a {space} array whose shape holds {written}, where Numba takes a number "
        f"or the name of one. {advice}",
        line=call.lineno,
    )


def _of_python(call: ast.Call) -> str:
    """Return the type of Python's that an array is to hold, if it is one."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
    for given in (call.args[1:2] or named)[:1]:
        if isinstance(given, ast.Name) and given.id in ("float", "int", "bool"):
            return given.id
    return ""


def _type(call: ast.Call) -> Finding:
    numbas = {"float": "float32", "int": "int32", "bool": "boolean"}[_of_python(call)]
    message = (
        f"Line {call.lineno} makes an array of Python's {_of_python(call)}; Numba takes a type of its own "
        f"there, such as {numbas}."
    )
    return Finding("compile", message, line=call.lineno)


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


class _Known:
    """Answers, for one function, which expressions Numba knows when it compiles."""

    def __init__(self, function: ast.FunctionDef) -> None:
        own = [*own_nodes(function)]
        arguments = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
        stores = [node.id for node in own if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        #: What each variable is set to; None where that is more than one thing, or is not written out.
        self._set_to: dict[str, ast.expr | None] = {**dict.fromkeys(arguments), **dict.fromkeys(stores)}
        for target, value in (each for node in own for each in assigned_by(node)):
            parts = [target]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Name):
                parts = target.elts  # known if the tuple of that name is
            for part in parts:
                if isinstance(part, ast.Name) and stores.count(part.id) == 1:
                    self._set_to[part.id] = value

    def is_constant(self, part: ast.expr, within: frozenset[str] = frozenset()) -> bool:
        """Say whether a part of a shape is a number, the name of one, or an element of a tuple of them."""
        match part:
            case ast.Name(id=name) if name in self._set_to:
                value = self._set_to[name]
                return value is not None and name not in within and self.is_constant(value, within | {name})
            case ast.Name() | ast.Attribute(value=ast.Name(), attr="ndim"):
                return True
            case ast.Tuple(elts=parts):
                pass
            case ast.Subscript(value=ast.Name() as holder, slice=index):
                parts = [holder, index]
            case ast.Slice():
                parts = [each for each in (part.lower, part.upper, part.step) if each is not None]
            case ast.IfExp(test=ast.Compare(left=left, comparators=others)):  # Numba drops the other branch
                parts = [left, *others, part.body, part.orelse]
            case _:
                # Python itself works out 2 * 16 before Numba sees it.
                arithmetic = ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop
                return all(isinstance(node, arithmetic) for node in ast.walk(part))
        return all(self.is_constant(each, within) for each in parts)


#: Names of ``cuda`` that Numba has for kernels and this simulator lacks; others are mistyped.
_LACKING = frozenset(
    {
        *("bfloat16", "cache_hints", "cg", "fp16", "grid_group", "jit", "libdevice"),
        *("literal_unroll", "locks", "vector_types", "complex64", "complex128", "c8", "c16"),
        *("ldca", "ldcg", "ldcs", "ldcv", "ldlu", "stcg", "stcs", "stwb", "stwt"),
    }
)
_VECTOR = re.compile(
    r"(u?int(8|16|32|64)|float(32|64))x[1-4]|(u?(char|short|int|long|longlong)|float|double)[1-4]"
)
_OF_CUDA = frozenset(
    {*WAITING, *(name for name in vars(names.Cuda) if not name.startswith("_")), *NUMBER_TYPES}
    | {"gridDim", "blockDim", "threadIdx", "blockIdx", "laneid", "shared", "local", "const", "atomic"}
)


def _uncalled(functions: Iterable[ast.FunctionDef]) -> Iterator[tuple[int, str]]:
    """Yield barriers that stand alone without parentheses, which Numba takes and does nothing for."""
    for node in (node for function in functions for node in ast.walk(function)):
        match node:
            case ast.Expr(value=ast.Attribute(attr=name) | ast.Name(id=name)) if name in WAITING:
                yield node.lineno, ast.unparse(node)


def _unknown(functions: Iterable[ast.FunctionDef], imports: Mapping[str, str]) -> Iterator[Finding]:
    """Yield mistyped names of modules, and calls of what is no function."""
    for node in (node for function in functions for each in function.body for node in ast.walk(each)):
        finding = None
        match node:
            case ast.Attribute():
                finding = _mistyped(node, imports)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module))) if imports.get(module) == "numpy":
                pass  # np.size is one
            case ast.Call(func=ast.Attribute(attr=name) as called) if name in _NO_FUNCTIONS:
                what, shown = _NO_FUNCTIONS[name], ast.unparse(called)
                message = f"Line {node.lineno} calls {shown}, which is {what.format(shown)}."
                finding = Finding("compile", message, line=node.lineno)
        if finding is not None:
            yield finding


_NUMBER, _TUPLE = "a number: write it without ()", "a tuple: write {}[0] for its first number"
_PLACE = "no function: write {}.x for the number along x"
#: What stands without parentheses, of whatever it is the attribute.
_NO_FUNCTIONS = {
    **dict.fromkeys(("laneid", "warpsize", "x", "y", "z", "size", "ndim", "itemsize", "nbytes"), _NUMBER),
    **dict.fromkeys(("shape", "strides"), _TUPLE),
    **dict.fromkeys(("threadIdx", "blockIdx", "blockDim", "gridDim"), _PLACE),
    **dict.fromkeys(("shared", "local"), "no function: write {}.array"),
}


def _mistyped(node: ast.Attribute, imports: Mapping[str, str]) -> Finding | None:
    module = imports.get(node.value.id, "") if isinstance(node.value, ast.Name) else ""
    known: dict[str, Iterable[str]] = {"numba.cuda": _OF_CUDA | _LACKING, "math": vars(math)}
    if isinstance(node.value, ast.Name) and not module and node.attr not in names.ATTRIBUTES | {"resize"}:
        near, owner = difflib.get_close_matches(node.attr, _OF_ARRAYS, 1, 0.7), "array"
        if not near:  # NumPy's arrays have more
            return None
    elif module not in known or node.attr in known[module] or _VECTOR.fullmatch(node.attr):
        return None
    else:
        possible = sorted(_OF_CUDA if module == "numba.cuda" else vars(math))
        near, owner = difflib.get_close_matches(node.attr, possible, 1), "kernel"
    meant = f" Did you mean {ast.unparse(node.value)}.{near[0]}?" if near else ""
    message = f"Line {node.lineno} uses {ast.unparse(node)}, which no {owner} has.{meant}"
    return Finding("compile", message, line=node.lineno)


_OF_ARRAYS = ("size", "shape", "ndim", "dtype", "strides", "itemsize", "nbytes")
