"""A digest of what Python source does: equal on every supported Python, blind to prose.

Left out are comments, docstrings, annotations outside class bodies, ``pass`` inside blocks, and the text
of messages in ``raise X(...)`` and ``warn(...)``. What the source may read back counts after all: its
docstrings where it mentions ``__doc__`` or the like, its annotations where it mentions
``__annotations__`` or the like. When in doubt, something counts.

The syntax tree is walked by a table of our own, because `ast.dump` and `ast.unparse` differ between
versions. Only the standard library is imported, so that the file also runs alone:
``python canonical.py FILE...`` prints one digest per line.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

__all__ = ["FIELDS", "UnknownSyntaxError", "digest", "digest_file", "form", "reads_docstrings"]

# Part of every digest, so that digests of two forms never agree by chance.
_VERSION = "gpuguide canonical form 2"

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
        "Pass": "",
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

# Searched for in the written form, so in names, attributes and strings alike: getattr(f, "__doc__"). Word by
# word: a pattern of all of them takes ten times as long.
_DOCSTRING_READERS = ("__doc__", "getdoc", "getsource", "co_consts", "pydoc", "doctest")
_ANNOTATION_READERS = (
    *("__annotat", "annotationlib", "get_annotations", "get_type_hints", "getfullargspec"),
    "singledispatch",
)
_HELP, _SIGNATURE = re.compile(r"\bid=help\b"), re.compile(r"=signature\b")
# As the language reference has it; `tokenize.detect_encoding` differs between versions.
_DECLARED_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
# The argument of these is a value that somebody receives, not a message.
_VALUE_CARRIERS = ("StopIteration", "StopAsyncIteration")
_WARN_IMPORTS = (("warn", "warnings.warn"), ("warnings", "warnings"))
_WARN_CALLS = {"warn": "warn", "warnings": "warnings.warn"}


class UnknownSyntaxError(ValueError):
    """The source holds syntax that the canonical form has no rule for."""


def digest(source: str, docstrings: bool = False) -> str:
    """Digest what a piece of Python source does.

    Parameters
    ----------
    source : str
        A module or a cell.
    docstrings : bool, optional
        Count the docstrings even if the source itself does not read any: for code whose docstrings
        another module reads (see `reads_docstrings`), and for cells, which show a string that is
        their last line.

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
    return hashlib.sha256(f"{_VERSION}\n{form(source, docstrings)}".encode("ascii")).hexdigest()


def digest_file(path: Path, docstrings: bool = False) -> str:
    """Digest a Python file, read as UTF-8.

    Parameters
    ----------
    path : Path
        The file.
    docstrings : bool, optional
        As for `digest`.

    Returns
    -------
    str
        As `digest` returns it.
    """
    return digest(Path(path).read_text(encoding="utf-8"), docstrings)


def form(source: str, docstrings: bool = False) -> str:
    """Write the canonical form: ASCII text, one pair of parentheses per node.

    Parameters
    ----------
    source : str
        A module or a cell.
    docstrings : bool, optional
        As for `digest`.

    Returns
    -------
    str
        The form; two sources of equal form do the same.

    Examples
    --------
    >>> form("x += 0x10")
    '(Module body=[(AugAssign target=(Name id=x) op=(Add) value=int:0x10)])'
    """
    tree, writer, code = _read(source)
    docstrings = docstrings or _reads_docstrings(code)
    annotations = any(word in code for word in _ANNOTATION_READERS) or bool(_SIGNATURE.search(code))
    return _encoding(source) + writer.module(tree, docstrings=docstrings, annotations=annotations)


def reads_docstrings(source: str) -> bool:
    """Tell whether a piece of source may read docstrings, its own or another module's.

    It may if its code, strings included, mentions ``__doc__``, ``getdoc``, ``getsource``,
    ``co_consts``, ``pydoc``, ``doctest`` or the function ``help``. If several sources run together and one of
    them may read docstrings, all must be digested with ``docstrings=True``.

    Parameters
    ----------
    source : str
        A module or a cell.

    Returns
    -------
    bool
        True when in doubt; comments, docstrings and messages do not count as mentions.

    Raises
    ------
    SyntaxError, UnknownSyntaxError
        As `digest` does.

    Examples
    --------
    >>> reads_docstrings("kernel = cp.RawKernel(add.__doc__, 'add')")
    True
    >>> reads_docstrings("x = 1  # no __doc__ here")
    False
    """
    return _reads_docstrings(_read(source)[2])


def _reads_docstrings(code: str) -> bool:
    if any(word in code for word in _DOCSTRING_READERS):
        return True
    return "id=help" in code and bool(_HELP.search(code))


def _read(source: str) -> tuple[ast.Module, _Writer, str]:
    """Parse, and write all but the docstrings: one that mentions `__doc__` reads nothing."""
    tree = _parse(source)
    writer = _Writer(_warn_names(tree, source))
    return tree, writer, writer.module(tree, annotations=True)


def _parse(source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is warned about differs between versions
            return ast.parse(_text(source))
    except (RecursionError, MemoryError):
        raise _too_deep() from None


def _text(source: str) -> str:
    # As Python reads it, so that a digest does not depend on how a checkout ends its lines.
    return source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _too_deep() -> UnknownSyntaxError:
    return UnknownSyntaxError("the source is nested too deeply; split its longest expression")


def _encoding(source: str) -> str:
    """Name an encoding other than UTF-8 that a comment declares: Python reads other strings then."""
    first, second = [*_text(source).split("\n", 2), ""][:2]
    found = _DECLARED_ENCODING.match(first)
    if not found and (not first.strip() or first.lstrip().startswith("#")):
        found = _DECLARED_ENCODING.match(second)
    name = found[1].lower() if found else "utf-8"
    return "" if re.match(r"utf[-_]?8", name) else f"(Encoding {name})"


class _Written(str):
    """A part of the form that is already written."""

    __slots__ = ()


class _Writer:
    """Writes nodes, knowing what counts in this source and whether it is in the body of a class."""

    def __init__(self, warn_names: frozenset[str]) -> None:
        self._docstrings = False
        self._annotations = False
        self._warn_names = warn_names
        self._in_class = False
        # An expression holds no docstring, and annotations neither: it is written once for all passes.
        self._expressions: dict[ast.expr, str] = {}

    def module(self, tree: ast.Module, *, docstrings: bool = False, annotations: bool = False) -> str:
        """Write the whole source."""
        self._docstrings, self._annotations = docstrings, annotations
        try:
            return self.node(tree)
        except (RecursionError, MemoryError):
            raise _too_deep() from None

    def node(self, node: ast.AST) -> str:
        if not isinstance(node, ast.expr):
            return self._node(node)
        written = self._expressions.get(node)
        if written is None:
            written = self._expressions[node] = self._node(node)
        return written

    def _node(self, node: ast.AST) -> str:
        kind = type(node).__name__
        if kind in _SPECIAL:
            return _SPECIAL[kind](self, node)
        if kind not in FIELDS:
            line = getattr(node, "lineno", "?")
            raise UnknownSyntaxError(
                f"line {line}: the canonical form has no rule for the node {kind!r}; "
                "write it in syntax that every supported Python has"
            )
        return self._with_fields(kind, [(field, getattr(node, field, None)) for field in FIELDS[kind]])

    def _with_fields(self, kind: str, fields: Iterable[tuple[str, object]]) -> str:
        written = [kind]
        for name, found in fields:
            # In a module, a last ``pass`` keeps a cell from showing the line before it.
            value = _without_pass(found) if name in _BLOCKS and kind != "Module" else found
            if value is not None and value != []:
                written.append(f"{name}={self._value(value)}")
        return f"({' '.join(written)})"

    def _value(self, value: object) -> str:
        if isinstance(value, ast.AST):
            return self.node(value)
        if isinstance(value, list):
            return f"[{' '.join([self._value(item) for item in value])}]"
        if isinstance(value, _Written):
            return value
        if isinstance(value, str):
            # A name, whose letters JSON writes in ASCII.
            return value if value.isascii() and value.isidentifier() else json.dumps(value)[1:-1]
        if value is None:  # in a list: ``{**x}`` has no key, a keyword-only argument no default
            return "-"
        return _constant(value)

    def definition(self, node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        """Write a module, class or function; its docstring only where docstrings count."""
        kind = type(node).__name__
        fields: dict[str, object] = {name: getattr(node, name, None) for name in FIELDS[kind]}
        text = _docstring(node.body)
        if text is not None:
            # A node of its own: an f-string without fields, or a text after ``pass``, is no docstring.
            kept = [_Written(f"(Docstring {_constant(text)})")] if self._docstrings else []
            fields["body"] = [*kept, *node.body[1:]]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            fields["returns"] = self._counting(node.returns)
        # A function in a class is outside of its body again: annotations of variables there are no fields.
        outside, self._in_class = self._in_class, isinstance(node, ast.ClassDef)
        written = self._with_fields(kind, fields.items())
        self._in_class = outside
        return written

    def argument(self, node: ast.arg) -> str:
        return self._with_fields("arg", [("arg", node.arg), ("annotation", self._counting(node.annotation))])

    def annotated_assignment(self, node: ast.AnnAssign) -> str:
        """Write ``x: int = 1`` as ``x = 1`` where annotations do not count.

        Without a value the name still counts: it makes a variable of a function local.
        """
        annotation = node.annotation if self._in_class else self._counting(node.annotation)
        if annotation is None and node.value is not None:
            return self._with_fields("Assign", [("targets", [node.target]), ("value", node.value)])
        fields = [
            ("target", node.target),
            ("annotation", annotation),
            ("value", node.value),
            ("simple", node.simple),  # ``(x): int`` declares nothing
        ]
        return self._with_fields("AnnAssign", fields)

    def _counting(self, annotation: ast.expr | None) -> ast.expr | None:
        """Return an annotation outside a class body if it is read, or does something itself."""
        if annotation is None or self._annotations:
            return annotation
        acting = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
        return annotation if any(isinstance(node, acting) for node in ast.walk(annotation)) else None

    def raised(self, node: ast.Raise) -> str:
        error: object = node.exc
        if isinstance(node.exc, ast.Call) and _is_error_class(node.exc.func):
            error = self._with_messages(node.exc)
        return self._with_fields("Raise", [("exc", error), ("cause", node.cause)])

    def call(self, node: ast.Call) -> str:
        if self._is_warn(node.func):
            return self._with_messages(node)
        fields = [("func", node.func), ("args", node.args), ("keywords", node.keywords)]
        return self._with_fields("Call", fields)

    def _is_warn(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return f"{function.value.id}.{function.attr}" in self._warn_names
        return isinstance(function, ast.Name) and function.id in self._warn_names

    def _with_messages(self, call: ast.Call) -> _Written:
        """Write a call whose arguments may be messages: of a text, only what is computed in it counts."""
        keywords = [
            _Written(self._with_fields("keyword", [("arg", word.arg), ("value", self._message(word.value))]))
            for word in call.keywords
        ]
        args = [self._message(argument) for argument in call.args]
        fields = [("func", call.func), ("args", args), ("keywords", keywords)]
        return _Written(self._with_fields("Call", fields))

    def _message(self, argument: ast.expr) -> object:
        computed = _computed_in_text(argument)
        if computed is None:
            return argument
        return _Written(f"({' '.join(['Text', *map(self.node, computed)])})")

    def f_string(self, node: ast.JoinedStr) -> str:
        """Join neighbouring texts, drop empty ones: where a parser splits them differs between versions."""
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
        return f"(JoinedStr {' '.join(_constant(p) if isinstance(p, str) else self.node(p) for p in parts)})"

    def formatted_value(self, node: ast.FormattedValue) -> str:
        """Write ``{value!r:spec}``; an empty specification is none."""
        spec = node.format_spec
        empty = isinstance(spec, ast.JoinedStr) and not spec.values
        fields = [
            ("value", node.value),
            ("conversion", node.conversion),
            ("format_spec", None if empty else spec),
        ]
        return self._with_fields("FormattedValue", fields)

    def constant(self, node: ast.Constant) -> str:
        return _constant(node.value)


def _without_pass(block: object) -> object:
    if not isinstance(block, list):
        return block  # the body of a lambda or of a conditional expression
    return [statement for statement in block if not isinstance(statement, ast.Pass)]


def _docstring(body: list[ast.stmt]) -> str | None:
    value = body[0].value if body and isinstance(body[0], ast.Expr) else None
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _is_error_class(function: ast.expr) -> bool:
    """Tell a class from a function, which may do anything with its text, by the capital letter."""
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name.lstrip("_")[:1].isupper() and name not in _VALUE_CARRIERS


def _computed_in_text(expression: ast.expr) -> list[ast.expr] | None:
    """List the replacement fields of a string, f-string, or sum of them; None if it is something else."""
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        return []
    if isinstance(expression, ast.JoinedStr):
        return [part for part in expression.values if not isinstance(part, ast.Constant)]
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Add):
        left, right = _computed_in_text(expression.left), _computed_in_text(expression.right)
        return None if left is None or right is None else left + right
    return None


def _warn_names(tree: ast.Module, source: str) -> frozenset[str]:
    """Give the names, of ``warn`` and ``warnings.warn``, by which the source can only mean the latter.

    It must import them and bind them in no other way: another ``warn`` may do anything with its text.
    """
    # Python reads names in this form; most sources have no such one.
    if "warn" not in unicodedata.normalize("NFKC", source):
        return frozenset()
    imported: set[str] = set()
    other: set[str] = set()
    for node in ast.walk(tree):
        for name, origin in _bindings(node):
            (imported if (name, origin) in _WARN_IMPORTS else other).add(name)
    if other & {"warn", "*"}:
        return frozenset()
    return frozenset(call for name, call in _WARN_CALLS.items() if name in imported - other)


def _bindings(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Name what a node binds or deletes, with the full name of what it imports."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0], alias.name
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"
    elif isinstance(node, ast.Name | ast.Attribute):
        if not isinstance(node.ctx, ast.Load):
            yield (node.id if isinstance(node, ast.Name) else node.attr), ""
    elif not isinstance(node, ast.alias | ast.keyword):
        # Functions, classes, arguments, handlers and patterns hold the name that they bind as text.
        for field in ("name", "arg", "rest"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name, ""


def _constant(value: object) -> str:
    """Write a constant with its type: 1, 1.0 and True are three different ones."""
    if value is None or value is Ellipsis or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return f"str:{json.dumps(value)}"
    if isinstance(value, int):
        # In base 16: Python refuses to write more than 4300 decimal digits.
        return f"int:{value:#x}"
    if isinstance(value, float):
        # To the last bit, and -0.0 is not 0.0.
        return f"float:{value.hex()}"
    if isinstance(value, complex):
        return f"complex:{value.real.hex()},{value.imag.hex()}"
    if isinstance(value, bytes):
        return f"bytes:{value.hex()}"
    raise UnknownSyntaxError(f"the canonical form has no rule for constants of type {type(value).__name__!r}")


_SPECIAL: dict[str, Callable[..., str]] = {
    "Module": _Writer.definition,
    "ClassDef": _Writer.definition,
    "FunctionDef": _Writer.definition,
    "AsyncFunctionDef": _Writer.definition,
    "arg": _Writer.argument,
    "AnnAssign": _Writer.annotated_assignment,
    "Raise": _Writer.raised,
    "Call": _Writer.call,
    "JoinedStr": _Writer.f_string,
    "FormattedValue": _Writer.formatted_value,
    "Constant": _Writer.constant,
}


def _main(names: list[str]) -> None:
    for name in names:
        print(f"{digest_file(Path(name))}  {Path(name).name}")


if __name__ == "__main__":
    _main(sys.argv[1:])
