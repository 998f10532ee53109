"""Constants that a kernel takes from outside: which values qualify, read from source, and as JSON."""

from __future__ import annotations

import ast
import base64
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES, NumberType

__all__ = ["LARGEST_ARRAY", "decode", "encode", "evaluate", "is_constant"]

LARGEST_ARRAY = 4096
"""The most elements of an array that a kernel may take as a constant; longer arrays must be arguments."""

_PLAIN = (bool, int, float, complex, str, type(None))
_LARGEST_POWER = 64

#: Functions of numbers and tuples whose results stay small.
_FUNCTIONS: dict[str, Callable[..., object]] = {
    **{each.__name__: each for each in (abs, int, len, max, min, round, sum)},
    **{
        f"math.{name}": getattr(math, name)
        for name in (
            *("sqrt", "isqrt", "exp", "log", "log2", "log10", "floor", "ceil", "gcd", "hypot"),
            *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "fabs", "radians", "degrees"),
        )
    },
}
_NAMED = {name: getattr(math, name) for name in ("e", "inf", "nan", "pi", "tau")}

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.Pow: operator.pow,
}
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
#: Functions of NumPy that make a table of numbers.
_TABLES = frozenset({"arange", "full", "linspace", "ones", "zeros"})
#: What may stand before the name of one of Numba's types.
_HOMES = ("", "numba.", "types.", "numba.types.", "numba.core.types.", "cuda.", "numba.cuda.")
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}


def is_constant(value: object) -> bool:
    """Say whether a kernel can hold a value as a constant: a number, a text, None, a tuple, a small array.

    >>> is_constant((16, 2.5)), is_constant([16, 2.5])
    (True, False)
    """
    if isinstance(value, tuple):
        return all(is_constant(item) for item in value)
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "biufc" and value.size <= LARGEST_ARRAY
    return isinstance(value, _PLAIN)


def evaluate(node: ast.expr, known: Mapping[str, object]) -> object:
    """Evaluate an expression of literals and known constants; ValueError if there is anything else to run.

    >>> evaluate(ast.parse("2 * (TILE + 1)", mode="eval").body, {"TILE": 16})
    34
    """
    match node:
        case ast.Constant(value=value) if isinstance(value, _PLAIN):
            return value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Tuple(elts=items):
            return tuple(evaluate(item, known) for item in items)
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_number(operand, known))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _arithmetic(_BINARY[type(op)], _number(left, known), _number(right, known))
        case ast.Call() | ast.Attribute() | ast.Subscript() | ast.Compare() | ast.BoolOp() | ast.IfExp():
            readers: Any = {
                ast.Call: _called, ast.Attribute: _known_to_a_module, ast.Subscript: _element,
            }  # fmt: skip
            return readers.get(type(node), _logical)(node, known)
    raise ValueError(f"not a constant: {ast.unparse(node)}")


def _element(node: ast.Subscript, known: Mapping[str, object]) -> object:
    """Evaluate ``SIDES[0]``."""
    holder, index = evaluate(node.value, known), evaluate(node.slice, known)
    if isinstance(holder, tuple | np.ndarray) and isinstance(index, int | tuple):
        try:
            return holder[index]  # type: ignore[index]
        except (IndexError, TypeError) as error:
            raise ValueError(str(error)) from None
    raise ValueError(f"not a constant: {ast.unparse(node)}")


def _logical(node: ast.expr, known: Mapping[str, object]) -> object:
    """Evaluate ``N > 4``, ``A and B``, ``1 if WIDE else 2``."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
            try:
                return _COMPARED[type(op)](evaluate(left, known), evaluate(right, known))
            except TypeError as error:
                raise ValueError(str(error)) from None
        case ast.BoolOp(op=op, values=parts):
            truths = [bool(evaluate(part, known)) for part in parts]
            return all(truths) if isinstance(op, ast.And) else any(truths)
        case ast.IfExp(test=test, body=body, orelse=other):
            return evaluate(body if evaluate(test, known) else other, known)
    raise ValueError(f"not a constant: {ast.unparse(node)}")


def _known_to_a_module(node: ast.Attribute, _: Mapping[str, object]) -> object:
    """Evaluate ``math.inf``, ``np.finfo(np.float32).max`` and the like."""
    match node.value:
        case ast.Name(id="np" | "numpy" | "math") if node.attr in _NAMED:
            return _NAMED[node.attr]
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="finfo" | "iinfo" as which),
            args=[kind],
            keywords=[],
        ):
            value = getattr(getattr(np, which)(_dtype(kind)), node.attr, None)
            if isinstance(value, int | float | np.generic):
                return value
    raise ValueError(f"not a constant: {ast.unparse(node)}")


def _number(node: ast.expr, known: Mapping[str, object]) -> Any:
    value = evaluate(node, known)
    if not isinstance(value, int | float | complex | np.generic | np.ndarray):
        raise ValueError(f"not a number: {ast.unparse(node)}")
    return value


def _arithmetic(operation: Any, left: Any, right: Any) -> Any:
    too_big = operation in (operator.pow, operator.lshift) and np.abs(right).max() > _LARGEST_POWER
    if too_big:
        raise ValueError(f"an exponent of {right} is too large for a constant")
    try:
        return operation(left, right)
    except (ArithmeticError, TypeError) as error:
        raise ValueError(str(error)) from None


def _numpy(attr: str, call: ast.Call, known: Mapping[str, object]) -> object:
    """Evaluate ``np.float32(0.5)``, and ``np.array([1, 2], np.int32)`` with or without ``dtype=``."""
    dtypes = [*call.args[1:], *(keyword.value for keyword in call.keywords if keyword.arg == "dtype")]
    if attr == "array" and call.args and len(call.args) + len(call.keywords) - 1 == len(dtypes) <= 1:
        return np.array(_nested(call.args[0], known), *(_dtype(node) for node in dtypes))
    if attr in _TABLES:
        return _table(attr, call, known)
    kind = getattr(np, attr, None)
    if isinstance(kind, type) and issubclass(kind, np.number | np.bool_) and len(call.args) == 1:
        return kind(_number(call.args[0], known))
    raise ValueError(f"not a constant: {ast.unparse(call)}")


def _table(attr: str, call: ast.Call, known: Mapping[str, object]) -> Any:
    """Evaluate ``np.zeros(4, np.int32)`` and the like; what is too long is not made at all."""
    typed = call.args[-1:] if len(call.args) > 1 and _is_type(call.args[-1]) else []
    dtypes = [*typed, *(keyword.value for keyword in call.keywords if keyword.arg == "dtype")]
    if len(dtypes) > 1 or len(call.keywords) > len(dtypes) - len(typed):
        raise ValueError(f"not a constant: {ast.unparse(call)}")
    numbers: Any = [evaluate(each, known) for each in call.args[: len(call.args) - len(typed)]]
    sizes = {"arange": numbers, "linspace": numbers[2:]}.get(attr, numbers[:1])
    try:
        if any(np.prod(np.abs(size)) > LARGEST_ARRAY for size in sizes):
            raise ValueError(f"too long for a constant: {ast.unparse(call)}")
        return getattr(np, attr)(*numbers, **({"dtype": _dtype(dtypes[0])} if dtypes else {}))
    except (TypeError, ValueError) as error:
        raise ValueError(str(error)) from None


def _is_type(node: ast.expr) -> bool:
    try:
        _dtype(node)
    except (TypeError, ValueError):
        return False
    return True


def _each(made: ast.GeneratorExp | ast.ListComp, known: Mapping[str, object]) -> list[object]:
    """Evaluate ``i * i for i in range(8)``."""
    match made.generators:
        case [
            ast.comprehension(
                target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=ends), ifs=[]
            )
        ]:
            turns = range(*(operator.index(_number(end, known)) for end in ends))
            if len(turns) <= LARGEST_ARRAY:
                return [evaluate(made.elt, {**known, name: turn}) for turn in turns]
    raise ValueError(f"not a constant: {ast.unparse(made)}")


def _called(node: ast.Call, known: Mapping[str, object]) -> object:
    """Evaluate a call of a type of NumPy's or Numba's, of ``np.array``, or of a function of numbers."""
    match node:
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))], keywords=[]):
            return float(text)  # float("inf")
        case ast.Call(func=ast.Name(id="tuple"), args=[ast.GeneratorExp() | ast.ListComp() as made]):
            return tuple(_each(made, known))
    if (called := ast.unparse(node.func)) in _FUNCTIONS and not node.keywords:
        try:
            return _FUNCTIONS[called](*(evaluate(each, known) for each in node.args))
        except (TypeError, ArithmeticError) as error:
            raise ValueError(str(error)) from None
    match node.func:
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name):
            return _numpy(name, node, known)
        case ast.Attribute(value=inner, attr="astype") if len(node.args) == 1 and not node.keywords:
            table = evaluate(inner, known)
            if isinstance(table, np.ndarray):
                return table.astype(_dtype(node.args[0]))
        case ast.Name(id=name) | ast.Attribute(attr=name) if called.removesuffix(name) in _HOMES:
            if name in NUMBER_TYPES and len(node.args) == 1 and not node.keywords:
                return _of_numba(NUMBER_TYPES[name], _number(node.args[0], known))
    raise ValueError(f"not a constant: {ast.unparse(node)}")


def _of_numba(kind: NumberType, value: Any) -> np.generic:
    """Evaluate ``uint8(255)``, a number of one of Numba's types."""
    number: np.generic = np.dtype(kind.name).type(kind.cast(value))
    return number


def _nested(node: ast.expr, known: Mapping[str, object]) -> Any:
    if isinstance(node, ast.ListComp):
        return _each(node, known)
    if isinstance(node, ast.List | ast.Tuple):
        return [_nested(item, known) for item in node.elts]
    return _number(node, known)


def _dtype(node: ast.expr) -> np.dtype[Any]:
    match node:
        case ast.Constant(value=str(name)):
            return np.dtype(name)
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name):
            return np.dtype(name)
    raise ValueError(f"not a type: {ast.unparse(node)}")


def encode(value: object) -> object:
    """Turn a constant into data that JSON can hold.

    >>> encode((1, 2.5))
    {'tuple': [1, 2.5]}
    """
    if not is_constant(value):
        raise ArgumentError(f"Expected a number, a tuple or a small array; got {type(value).__name__}.")
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, np.ndarray | np.generic):
        raw = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        shape = list(value.shape) if isinstance(value, np.ndarray) else None
        return {"dtype": value.dtype.str, "shape": shape, "raw": raw}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    return value


def decode(data: Any) -> object:
    """Turn what `encode` returned back into the constant.

    >>> decode(encode((1, np.float32(0.5))))
    (1, np.float32(0.5))
    """
    if not isinstance(data, dict):
        return data
    if "tuple" in data:
        return tuple(decode(item) for item in data["tuple"])
    if "complex" in data:
        return complex(*data["complex"])
    flat = np.frombuffer(base64.b64decode(data["raw"]), data["dtype"]).copy()
    return flat[0] if data["shape"] is None else flat.reshape(data["shape"])
