"""A digest of what Python source does: equal on every supported Python, blind to prose.

Left out are comments, docstrings, annotations, ``pass``, and the arguments of ``raise X(...)`` and
``warn(...)``. The syntax tree is walked by a table of our own, because `ast.dump` and `ast.unparse`
differ between versions. Only the standard library is imported, so that the file also runs alone:
``python canonical.py FILE...`` prints one digest a line.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

__all__ = ["FIELDS", "UnknownSyntaxError", "digest", "digest_file", "form"]

_VERSION = "gpuguide canonical form 1"

_DEFINITION = "decorator_list name type_params args body"
_BLOCKS = ("body", "orelse", "finalbody")

#: Kind of node -> the fields that count. A field that a Python lacks, or that is empty, is left out.
FIELDS: dict[str, tuple[str, ...]] = {
    kind: tuple(fields.split())
    for kind, fields in {
        "Module": "body",
        # Statements
        "FunctionDef": _DEFINITION,
        "AsyncFunctionDef": _DEFINITION,
        "ClassDef": "decorator_list name type_params bases keywords body",
        "Return": "value",
        "Delete": "targets",
        "Assign": "targets value",
        "AugAssign": "target op value",
        "TypeAlias": "name type_params value",
        "For": "target iter body orelse",
        "AsyncFor": "target iter body orelse",
        "While": "test body orelse",
        "If": "test body orelse",
        "With": "items body",
        "AsyncWith": "items body",
        "Match": "subject cases",
        "Raise": "exc cause",
        "Try": "body handlers orelse finalbody",
        "TryStar": "body handlers orelse finalbody",
        "Assert": "test msg",
        "Import": "names",
        "ImportFrom": "module names level",
        "Global": "names",
        "Nonlocal": "names",
        "Expr": "value",
        "Break": "",
        "Continue": "",
        # Expressions
        "BoolOp": "op values",
        "NamedExpr": "target value",
        "BinOp": "left op right",
        "UnaryOp": "op operand",
        "Lambda": "args body",
        "IfExp": "test body orelse",
        "Dict": "keys values",
        "Set": "elts",
        "ListComp": "elt generators",
        "SetComp": "elt generators",
        "DictComp": "key value generators",
        "GeneratorExp": "elt generators",
        "Await": "value",
        "Yield": "value",
        "YieldFrom": "value",
        "Compare": "left ops comparators",
        "Call": "func args keywords",
        "FormattedValue": "value conversion format_spec",
        "Attribute": "value attr",
        "Subscript": "value slice",
        "Starred": "value",
        "Name": "id",
        "List": "elts",
        "Tuple": "elts",
        "Slice": "lower upper step",
        # Parts of them
        "comprehension": "target iter ifs is_async",
        "ExceptHandler": "type name body",
        "arguments": "posonlyargs args vararg kwonlyargs kw_defaults kwarg defaults",
        "arg": "arg",
        "keyword": "arg value",
        "alias": "name asname",
        "withitem": "context_expr optional_vars",
        "match_case": "pattern guard body",
        "MatchValue": "value",
        "MatchSingleton": "value",
        "MatchSequence": "patterns",
        "MatchMapping": "keys patterns rest",
        "MatchClass": "cls patterns kwd_attrs kwd_patterns",
        "MatchStar": "name",
        "MatchAs": "pattern name",
        "MatchOr": "patterns",
        "TypeVar": "name bound default_value",
        "ParamSpec": "name default_value",
        "TypeVarTuple": "name default_value",
    }.items()
}
_OPERATORS = """
    And Or Not Invert UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn
    Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv
"""
FIELDS |= dict.fromkeys(_OPERATORS.split(), ())


class UnknownSyntaxError(ValueError):
    """The source holds syntax that the canonical form has no rule for."""


def digest(source: str) -> str:
    """Digest what a piece of Python source does.

    Parameters
    ----------
    source : str
        A module or a cell.

    Returns
    -------
    str
        SHA-256 of `form`, in hexadecimal.

    Raises
    ------
    SyntaxError
        The source does not parse on this Python.
    UnknownSyntaxError
        It holds a kind of node that is not in `FIELDS`, or is nested too deeply.

    Examples
    --------
    >>> digest("x = 1  # one") == digest("x: int = 1")
    True
    >>> digest("x = 1") == digest("x = 1.0")
    False
    """
    return hashlib.sha256(f"{_VERSION}\n{form(source)}".encode("ascii")).hexdigest()


def digest_file(path: Path) -> str:
    """Digest a Python file, read as UTF-8.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        As `digest` returns it.
    """
    return digest(Path(path).read_text(encoding="utf-8"))


def form(source: str) -> str:
    """Write the canonical form: ASCII text, one pair of parentheses a node.

    Parameters
    ----------
    source : str
        A module or a cell.

    Returns
    -------
    str
        The form; two sources of equal form do the same.

    Examples
    --------
    >>> form("x += 0x10")
    '(Module body=[(AugAssign target=(Name id=x) op=(Add) value=int:0x10)])'
    """
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is warned about differs between versions
            return _node(ast.parse(text))
    except (RecursionError, MemoryError):
        raise UnknownSyntaxError("the source is nested too deeply; split its longest expression") from None


def _node(node: ast.AST) -> str:
    kind = type(node).__name__
    if kind in _SPECIAL:
        return _SPECIAL[kind](node)
    if kind not in FIELDS:
        line = getattr(node, "lineno", "?")
        raise UnknownSyntaxError(
            f"line {line}: the canonical form has no rule for the node {kind!r}; "
            "write it in syntax that every supported Python has"
        )
    return _with_fields(kind, ((field, getattr(node, field, None)) for field in FIELDS[kind]))


def _with_fields(kind: str, fields: Iterable[tuple[str, object]]) -> str:
    effective = ((name, _effective(value) if name in _BLOCKS else value) for name, value in fields)
    written = (f"{name}={_value(value)}" for name, value in effective if value not in (None, []))
    return f"({' '.join([kind, *written])})"


def _effective(block: object) -> object:
    """Leave out what does nothing: ``pass``, and annotations of names without a value."""
    if not isinstance(block, list):
        return block  # the body of a lambda or of a conditional expression
    return [statement for statement in block if not _does_nothing(statement)]


def _does_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.AnnAssign) and statement.value is None
    )


def _value(value: object) -> str:
    if value is None:  # in a list: ``{**x}`` has no key, a keyword-only argument no default
        return "-"
    if isinstance(value, list):
        return f"[{' '.join(map(_value, value))}]"
    if isinstance(value, ast.AST):
        return _node(value)
    if isinstance(value, str):
        return json.dumps(value)[1:-1]
    return _constant(value)


def _definition(node: ast.AST) -> str:
    """Write a module, class or function without its docstring."""
    kind = type(node).__name__
    fields: dict[str, Any] = {name: getattr(node, name, None) for name in FIELDS[kind]}
    if _is_text(fields["body"][:1]):
        fields["body"] = fields["body"][1:]
    return _with_fields(kind, fields.items())


def _is_text(statements: list[ast.stmt]) -> bool:
    values = [statement.value for statement in statements if isinstance(statement, ast.Expr)]
    return any(isinstance(value, ast.Constant) and isinstance(value.value, str) for value in values)


def _annotated_assignment(node: ast.AnnAssign) -> str:
    return _with_fields("Assign", [("targets", [node.target]), ("value", node.value)])


def _raise(node: ast.Raise) -> str:
    error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return _with_fields("Raise", [("exc", error), ("cause", node.cause)])


def _call(node: ast.Call) -> str:
    if _is_warn(node.func):
        return _with_fields("Call", [("func", node.func)])
    return _with_fields("Call", [("func", node.func), ("args", node.args), ("keywords", node.keywords)])


def _is_warn(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return (function.value.id, function.attr) == ("warnings", "warn")
    return isinstance(function, ast.Name) and function.id == "warn"


def _f_string(node: ast.JoinedStr) -> str:
    """Join neighbouring texts and drop empty ones: where a parser splits them differs between versions."""
    parts: list[str | ast.expr] = []
    for value in node.values:
        text = value.value if isinstance(value, ast.Constant) else None
        if not isinstance(text, str):
            parts.append(value)
        elif parts and isinstance(parts[-1], str):
            parts[-1] += text
        elif text:
            parts.append(text)
    if not parts or (len(parts) == 1 and isinstance(parts[0], str)):
        return _constant("".join(part for part in parts if isinstance(part, str)))
    return f"(JoinedStr {' '.join(_constant(p) if isinstance(p, str) else _node(p) for p in parts)})"


def _formatted_value(node: ast.FormattedValue) -> str:
    """Write ``{value!r:spec}``; an empty specification is none."""
    spec = node.format_spec
    empty = isinstance(spec, ast.JoinedStr) and not spec.values
    fields = [
        ("value", node.value),
        ("conversion", node.conversion),
        ("format_spec", None if empty else spec),
    ]
    return _with_fields("FormattedValue", fields)


def _constant(value: object) -> str:
    """Write a constant with its type: 1, 1.0 and True are three different ones."""
    if value is None or value is Ellipsis or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return f"str:{json.dumps(value)}"
    if isinstance(value, int):
        return f"int:{value:#x}"
    if isinstance(value, float):
        return f"float:{value.hex()}"
    if isinstance(value, complex):
        return f"complex:{value.real.hex()},{value.imag.hex()}"
    if isinstance(value, bytes):
        return f"bytes:{value.hex()}"
    raise UnknownSyntaxError(f"the canonical form has no rule for constants of type {type(value).__name__!r}")


_SPECIAL: dict[str, Callable[..., str]] = {
    "Module": _definition,
    "ClassDef": _definition,
    "FunctionDef": _definition,
    "AsyncFunctionDef": _definition,
    "AnnAssign": _annotated_assignment,
    "Raise": _raise,
    "Call": _call,
    "JoinedStr": _f_string,
    "FormattedValue": _formatted_value,
    "Constant": lambda node: _constant(node.value),
}


def _main(names: list[str]) -> None:
    for name in names:
        print(f"{digest_file(Path(name))}  {Path(name).name}")


if __name__ == "__main__":
    _main(sys.argv[1:])
