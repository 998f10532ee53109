"""Numbers as a kernel has them: their types, what memory keeps of a value, and what arithmetic makes of two.

Python's ``int`` stands for int64, its ``float`` for float64 and its ``bool`` for Numba's. Every other type
has a class of its own here, which says no more than that a value is of it. The rules are Numba's: integers
become int64, or uint64 where both are unsigned; float32 stays float32 only beside itself and the narrowest
integers.
"""

from __future__ import annotations

import math
import operator
import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

__all__ = ["NUMBER_TYPES", "NumberType", "described", "shown", "type_named", "type_of"]


class Int8(int):
    """A signed integer of 8 bits."""


class Int16(int):
    """A signed integer of 16 bits."""


class Int32(int):
    """A signed integer of 32 bits."""


class UInt8(int):
    """An unsigned integer of 8 bits."""


class UInt16(int):
    """An unsigned integer of 16 bits."""


class UInt32(int):
    """An unsigned integer of 32 bits."""


class UInt64(int):
    """An unsigned integer of 64 bits."""


class Half(float):
    """A float of 16 bits."""


class Single(float):
    """A float of 32 bits."""


_CLASSES: dict[str, type] = {
    "int8": Int8, "int16": Int16, "int32": Int32, "int64": int,
    "uint8": UInt8, "uint16": UInt16, "uint32": UInt32, "uint64": UInt64,
    "float16": Half, "float32": Single, "float64": float, "bool": bool,
}  # fmt: skip
_BITS = {
    Int8: 8, Int16: 16, Int32: 32, int: 64, UInt8: 8, UInt16: 16, UInt32: 32, UInt64: 64,
    Half: 16, Single: 32, float: 64, bool: 8,
}  # fmt: skip
_UNSIGNED = (UInt8, UInt16, UInt32, UInt64)
_FLOATS = (Half, Single, float)
#: What float32 swallows without growing.
_NARROW = (bool, Int8, Int16, UInt8, Half, Single)
#: Named once, because a union that stands in a call is made anew by each call.
_NUMBERS, _SEQUENCES = (int, float), (tuple, list, str)


# --- What memory keeps of a value -----------------------------------------------------------------------


def _integer(kind: type) -> Callable[[Any], Any]:
    """Keep the lowest bits, of a float those of the nearest whole number that `_whole` has."""
    bits = _BITS[kind]
    low = 0 if kind in _UNSIGNED else -(1 << bits - 1)
    high, mask = low + (1 << bits) - 1, (1 << bits) - 1

    def cast(value: Any) -> Any:
        if value.__class__ is kind and kind is not int:
            return value
        if not isinstance(value, int):
            value = _whole(value, kind)
        return kind(value) if low <= value <= high else kind(((value - low) & mask) + low)

    return cast


def _whole(value: Any, kind: type) -> int:
    """Make a float whole as the GPU does, which cuts the fraction off and stops at the ends of the type.

    The least type that it does this to has 16 bits: what is stored as 8 are the lowest of these. But a
    float16 is rounded, and goes straight to 8.
    """
    if not isinstance(value, float):
        raise TypeError(f"one number of type {type_of(kind)} is expected here, not {described(value)}")
    bits = _BITS[kind] if isinstance(value, Half) else max(_BITS[kind], 16)
    if math.isnan(value):
        return 1 << bits - 1 if bits == 64 or value.__class__ is float else 0
    low = 0 if kind in _UNSIGNED else -(1 << bits - 1)
    high = low + (1 << bits) - 1
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(round(value) if isinstance(value, Half) else int(value), low), high)


_FOUR_BYTES = array("f", [0.0])


def _single(value: Any) -> Any:
    if value.__class__ is Single:
        return value
    if not isinstance(value, _NUMBERS):
        raise TypeError(f"one number of type float32 is expected here, not {described(value)}")
    _FOUR_BYTES[0] = value
    return Single(_FOUR_BYTES[0])


def _half(value: Any) -> Any:
    if not isinstance(value, int | float):
        raise TypeError(f"one number of type float16 is expected here, not {described(value)}")
    try:
        return Half(struct.unpack("e", struct.pack("e", float(value)))[0])
    except OverflowError:
        return Half(math.copysign(math.inf, value))


def _double(value: Any) -> Any:
    if not isinstance(value, _NUMBERS):
        raise TypeError(f"one number of type float64 is expected here, not {described(value)}")
    return float(value)


def _truth(value: Any) -> Any:
    if not isinstance(value, int | float):
        raise TypeError(f"one number of type bool is expected here, not {described(value)}")
    return bool(value)


_CASTS: dict[type, Callable[[Any], Any]] = {Half: _half, Single: _single, float: _double, bool: _truth} | {
    kind: _integer(kind) for kind in (Int8, Int16, Int32, int, *_UNSIGNED)
}


@dataclass(frozen=True, eq=False)
class NumberType:
    """A type such as ``float32``: converts a number when called, names the type of an array's elements."""

    name: str
    kind: type
    itemsize: int
    cast: Callable[[Any], Any]

    def __call__(self, value: Any = 0) -> Any:
        """Convert a number."""
        return self.cast(value)

    def __repr__(self) -> str:
        return self.name

    @property
    def type(self) -> NumberType:
        """What an array's ``dtype`` calls the class of its numbers."""
        return self

    @property
    def poison(self) -> Any:
        """What memory holds that nothing was written to: NaN, or an integer far from use.

        It is odd: an even number of the least integer would add up to 0.
        """
        if self.kind in _FLOATS:
            return self.kind(math.nan)
        if self.kind is bool:
            return True
        return self.kind(
            (1 << _BITS[self.kind]) - 1 if self.kind in _UNSIGNED else 1 - (1 << _BITS[self.kind] - 1)
        )


_ALIASES = {
    "boolean": "bool", "bool_": "bool", "b1": "bool", "byte": "uint8", "char": "int8", "uchar": "uint8",
    "short": "int16", "ushort": "uint16", "intc": "int32", "uintc": "uint32", "int_": "int64",
    "uint": "uint64", "long_": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64",
    "intp": "int64", "uintp": "uint64", "size_t": "uint64", "ssize_t": "int64", "double": "float64",
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8",
    "u2": "uint16", "u4": "uint32", "u8": "uint64", "f4": "float32", "f8": "float64",
}  # fmt: skip
_BY_NAME = {name: NumberType(name, kind, _BITS[kind] // 8, _CASTS[kind]) for name, kind in _CLASSES.items()}
_BY_CLASS = {kind.kind: kind for kind in _BY_NAME.values()}
NUMBER_TYPES: dict[str, NumberType] = _BY_NAME | {alias: _BY_NAME[name] for alias, name in _ALIASES.items()}
"""Numba's number types, by every name that it gives them."""


def type_of(kind: type) -> NumberType:
    """Return the number type whose values are of a class."""
    return _BY_CLASS[kind]


def type_named(given: Any) -> NumberType:
    """Return the type that a kernel names: ``float32``, ``x.dtype``, ``"f4"``, or Python's ``float``."""
    if isinstance(given, NumberType):
        return given
    if isinstance(given, type) and given in (bool, int, float):
        return _BY_CLASS[given]
    if isinstance(given, str) and given in NUMBER_TYPES:
        return NUMBER_TYPES[given]
    raise TypeError(f"a type such as float32 is expected here, not {described(given)}")


def described(value: object) -> str:
    """Name a value that is no number in a reader's words."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"a whole array of shape {shape}"
    if isinstance(value, NumberType):
        return f"the type {value.name}"
    if callable(value):
        return "a function that is not called"
    return "None" if value is None else f"a {type(value).__name__}"


def with_numbas_names(message: str) -> str:
    """Put Numba's names of types into a message of Python's."""
    for kind, number_type in _BY_CLASS.items():
        message = message.replace(f"'{kind.__name__}'", f"'{number_type.name}'")
    return message


def shown(value: Any) -> str:
    """Write a number with as many digits as its type needs."""
    if not isinstance(value, Half | Single) or not math.isfinite(value):
        return str(value)
    cast = _CASTS[type(value)]
    digits = next((n for n in range(1, 17) if cast(float(f"{value:.{n}g}")) == value), 17)
    return str(float(f"{value:.{digits}g}"))


# --- What arithmetic makes of two numbers ---------------------------------------------------------------


def _of_both(a: type, b: type) -> type | None:
    """Return the class of ``a + b``; None where one of them is no number."""
    if a not in _BITS or b not in _BITS:
        return None
    if a not in _FLOATS and b not in _FLOATS:
        return UInt64 if a in _UNSIGNED and b in _UNSIGNED else int
    if a is Half and b is Half:
        return Half
    return Single if a in _NARROW and b in _NARROW else float


def _of_quotient(a: type, b: type) -> type | None:
    kind = _of_both(a, b)
    return float if kind in (int, UInt64) else kind


def _of_power(a: type, b: type) -> type | None:
    return a if a in _FLOATS and b in _BITS and b not in _FLOATS else _of_both(a, b)


def _of_shift(a: type, b: type) -> type | None:
    kind = _of_both(a, b)
    return kind if kind is None else UInt64 if a in _UNSIGNED else int


def _of_bits(a: type, b: type) -> type | None:
    return bool if a is b is bool else _of_both(a, b)


def _of_choice(a: type, b: type) -> type | None:
    return _of_both(a, b) if a in _FLOATS or b in _FLOATS else None


_Operation = Callable[[Any, Any], Any]
#: How each operation that `_ruled` returned can be made once more, to be watched.
_RECIPES: dict[_Operation, Callable[..., _Operation]] = {}
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


def _ruled(
    operation: _Operation,
    rule: Callable[[type, type], type | None] = _of_both,
    *,
    of_others: _Operation | None = None,
    watch: Callable[[Any, Any], None] | None = None,
) -> _Operation:
    """Let an operation of Python's return what Numba's type holds of its result.

    Where one of the two is no number, another operation can take its place. A watch is told of what two
    values a float64 is made.
    """
    known: dict[tuple[type, type], Callable[[Any], Any]] = {}
    stays_whole = rule(int, int) is int

    def apply(a: Any, b: Any) -> Any:
        # Nearly all that kernels compute is of this kind, for indices.
        if stays_whole and a.__class__ is int and b.__class__ is int:
            result = operation(a, b)
            if result.__class__ is int and _LOWEST <= result <= _HIGHEST:
                return result
            return _CASTS[int](result)
        kinds = a.__class__, b.__class__
        keep = known.get(kinds)
        if keep is None:
            kind = rule(*kinds)
            if kind is None and of_others is not None:
                return of_others(a, b)
            keep = known[kinds] = (lambda value: value) if kind is None else _CASTS[kind]
        result = keep(operation(a, b))
        if watch is not None and result.__class__ is float:
            watch(a, b)
        return result

    if watch is None:
        _RECIPES[apply] = partial(_ruled, operation, rule, of_others=of_others)
    return apply


def _xor(a: Any, b: Any) -> Any:
    try:
        return operator.xor(a, b)
    except TypeError as error:
        raise TypeError(f"{error}; ^ compares bits, and a power is written **") from None


def _quotient(a: Any, b: Any) -> Any:
    """Divide; only for integers zero is an error, as a float is divided by it without a word."""
    try:
        return a / b
    except ZeroDivisionError:
        if not isinstance(a, float) and not isinstance(b, float):
            raise
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _floor_quotient(a: Any, b: Any) -> Any:
    if b == 0 and (isinstance(a, float) or isinstance(b, float)):
        return _quotient(a, b)
    return a // b


def _remainder(a: Any, b: Any) -> Any:
    return math.nan if b == 0 and (isinstance(a, float) or isinstance(b, float)) else a % b


def _power(a: Any, b: Any) -> Any:
    """Raise to a power; of an integer that grows beyond all bounds only the lowest bits are worked out."""
    if isinstance(a, int) and isinstance(b, int) and b >= 0:
        return pow(int(a), int(b), 1 << 64) if b > 1 else a**b
    try:
        result = a**b
    except OverflowError:
        return math.inf if a > 0 or b % 2 == 0 else -math.inf
    except ZeroDivisionError:
        return math.inf
    return math.nan if isinstance(result, complex) else result


def _product_of_others(a: Any, b: Any) -> Any:
    if isinstance(a, _SEQUENCES) or isinstance(b, _SEQUENCES):
        raise TypeError("a kernel multiplies numbers, and repeats nothing")
    return a * b


def _left_shift(a: Any, b: Any) -> Any:
    return 0 if isinstance(b, int) and b > 63 else a << b


plus, minus = _ruled(operator.add), _ruled(operator.sub)
times = _ruled(operator.mul, of_others=_product_of_others)
quotient = _ruled(_quotient, _of_quotient)
floor_quotient, remainder = _ruled(_floor_quotient), _ruled(_remainder)
power = _ruled(_power, _of_power)
left_shift, right_shift = _ruled(_left_shift, _of_shift), _ruled(operator.rshift, _of_shift)
both_bits, either_bits = _ruled(operator.and_, _of_bits), _ruled(operator.or_, _of_bits)
differing_bits = _ruled(_xor, _of_bits)
#: The first of two values, in the type of both if one is a float; integers stay what they are.
either = _ruled(lambda chosen, _: chosen, _of_choice)


def watched(operation: Callable[..., Any], watch: Callable[..., None]) -> Callable[..., Any]:
    """Return an operation that tells a watch of what it makes a float64."""
    if operation in _RECIPES:
        return _RECIPES[operation](watch=watch)

    def apply(a: Any) -> Any:
        result = operation(a)
        if result.__class__ is float:
            watch(a)
        return result

    return apply


def negative(a: Any) -> Any:
    """Return ``-a``; of an unsigned integer it is unsigned, too."""
    return minus(_zero(a), a) if isinstance(a, int) else type(a)(-a) if isinstance(a, float) else -a


def inverted(a: Any) -> Any:
    """Return ``~a``."""
    return not a if isinstance(a, bool) else _CASTS[_of_both(type(a), type(a)) or int](~a)


def _zero(a: int) -> int:
    return UInt64(0) if isinstance(a, _UNSIGNED) else 0


def common(values: tuple[Any, ...], chosen: Any) -> Any:
    """Return the chosen one of some values in the type that all of them fit into, as ``min`` does."""
    kind: type | None = type(values[0])
    for value in values[1:]:
        if type(value) is not kind:
            kind = _of_both(kind, type(value)) if kind else None
    return chosen if kind is None else _CASTS[kind](chosen)


def width(value: Any) -> int | None:
    """Return the bits of an integer whose type says how many it has; None of Python's own."""
    return _BITS[type(value)] if type(value) in _BITS and type(value) not in (int, bool) else None
