"""Numbers as a kernel computes with them: floats of less than 64 bits round, and integers wrap where stored.

An integer in a register is Python's own, as Numba computes with 64 bits; a float64 is Python's float. What
mixes a float32 with a float64, or with an integer of 32 bits or more, becomes a float64, as in Numba: that is
handed to `watch`.
"""

from __future__ import annotations

import math
import operator
import struct
import sys
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from gpuguide.errors import ArgumentError

__all__ = ["DTYPES", "DType", "Float32", "dtype_of", "type_name", "watch"]

_box = array("f", [0.0])


def _nothing(frame: FrameType, what: str) -> None:
    """Take no notice."""


class _Watch:
    """Who is to hear of a float64 that comes of a float32: the launch in progress."""

    note: Callable[[FrameType, str], None] = staticmethod(_nothing)

    def stop(self) -> None:
        self.note = _nothing


watch = _Watch()


class _NarrowFloat(float):
    """A float that rounds: the result of two narrow numbers is narrow again."""

    __slots__ = ()
    __hash__ = float.__hash__

    def __neg__(self) -> Any:
        return self.__class__(-float(self))

    def __pos__(self) -> Any:
        return self

    def __repr__(self) -> str:
        """Show the fewest digits that give this number, as NumPy does."""
        texts = (f"{float(self):.{digits}g}" for digits in range(1, 10))
        return repr(float(next((text for text in texts if self.__class__(float(text)) == self), float(self))))

    __str__ = __repr__

    def __abs__(self) -> Any:
        return self.__class__(abs(float(self)))


class Float32(_NarrowFloat):
    """A float32."""

    __slots__ = ()

    def __new__(cls, x: Any = 0.0) -> Float32:
        """Round to 24 bits."""
        try:
            _box[0] = x
        except OverflowError:
            return float.__new__(cls, math.copysign(math.inf, x))
        return float.__new__(cls, _box[0])


class Float16(_NarrowFloat):
    """A float16."""

    __slots__ = ()

    def __new__(cls, x: Any = 0.0) -> Float16:
        """Round to 11 bits."""
        try:
            return float.__new__(cls, struct.unpack("e", struct.pack("e", float(x)))[0])
        except OverflowError:
            return float.__new__(cls, math.copysign(math.inf, x))


def _whole_class(name: str, bits: int, *, signed: bool) -> type[int]:
    low, span = (-(1 << bits - 1) if signed else 0), 1 << bits

    def new(cls: type[int], x: Any = 0) -> int:
        if isinstance(x, float):  # a GPU takes the nearest number that there is
            x = 0 if x != x else max(low, min(x, low + span - 1)) if bits >= 32 or x < low else x  # noqa: PLR0124
        x = int(x)
        if not low <= x < low + span:
            x = (x - low) % span + low
        return int.__new__(cls, x)

    return type(name, (int,), {"__new__": new, "__slots__": (), "bits": bits})


def _floating(name: str) -> Callable[[Any, Any], Any]:
    """Return an operation that never raises, as on a GPU."""
    apply = getattr(operator, name)

    def compute(a: Any, b: Any) -> Any:
        try:
            result = apply(a, b)
        except ZeroDivisionError:
            if name == "pow":
                return math.inf
            if name == "mod" or a == 0 or a != a:  # noqa: PLR0124 (NaN)
                return math.nan
            return math.copysign(math.inf, a) * math.copysign(1.0, b)
        except (OverflowError, ValueError):
            return math.inf
        return math.nan if isinstance(result, complex) else result

    return compute


def _operators(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    compute = _floating(name)

    def forward(self: _NarrowFloat, other: Any) -> Any:
        kind = other.__class__
        if kind is Float32 or kind in NARROW:
            return (Float32 if kind is Float32 else self.__class__)(compute(float(self), _plain(other)))
        if not isinstance(other, int | float):
            return NotImplemented
        result = compute(float(self), other)
        if name == "pow" and isinstance(other, int):
            return self.__class__(result)
        watch.note(sys._getframe(1), f"{type_name(self)} with {type_name(other)}")
        return result

    def backward(self: _NarrowFloat, other: Any) -> Any:
        if other.__class__ in NARROW:
            return self.__class__(compute(_plain(other), float(self)))
        if not isinstance(other, int | float):
            return NotImplemented
        watch.note(sys._getframe(1), f"{type_name(self)} with {type_name(other)}")
        return compute(other, float(self))

    return forward, backward


def _plain(number: Any) -> Any:
    return float(number) if isinstance(number, float) else int(number)


@dataclass(frozen=True, eq=False)
class DType:
    """A type of numbers: calling it makes one. `poison` stands in memory to which nothing was written."""

    name: str
    itemsize: int
    make: Callable[..., Any]
    poison: Any

    def __call__(self, x: Any = 0) -> Any:
        """Convert a number."""
        if isinstance(x, complex):
            raise TypeError(f"{self.name} takes no complex number")
        return self.make(x)

    def __getitem__(self, _: Any) -> DType:
        """Stand in a signature, as in ``float32[:]``."""
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DType) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def dtype(self) -> Any:
        """NumPy's own type of this name, for functions of NumPy that are handed this one."""
        return sys.modules["numpy"].dtype(self.name)

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


def _float64(x: Any = 0.0) -> float:
    return float(x)


def _boolean(x: Any = False) -> bool:
    return bool(x)


_WHOLE = {
    f"{'int' if signed else 'uint'}{bits}": _whole_class(
        f"{'Int' if signed else 'UInt'}{bits}", bits, signed=signed
    )
    for signed in (True, False)
    for bits in (8, 16, 32, 64)
}
_NAMES: dict[type[Any], str] = {cls: name for name, cls in _WHOLE.items()}
_NAMES |= {Float32: "float32", Float16: "float16", float: "float64", int: "int64", bool: "bool"}
NARROW = {Float32, Float16, bool, *(_WHOLE[name] for name in ("int8", "int16", "uint8", "uint16"))}

for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _forward, _backward = _operators(_name)
    setattr(_NarrowFloat, f"__{_name}__", _forward)
    setattr(_NarrowFloat, f"__r{_name}__", _backward)


def _int64(x: Any = 0) -> int:
    return int(_WHOLE["int64"](x))


DTYPES: dict[str, DType] = {
    "float16": DType("float16", 2, Float16, Float16(math.nan)),
    "float32": DType("float32", 4, Float32, Float32(math.nan)),
    "float64": DType("float64", 8, _float64, math.nan),
    "bool": DType("bool", 1, _boolean, True),
    "int64": DType("int64", 8, _int64, 1 - (1 << 63)),
}
for _name, _class in _WHOLE.items():
    if _name != "int64":
        _bits = _class.bits  # type: ignore[attr-defined]
        _poison = _class((1 << _bits - 1) + 1 if _name.startswith("i") else (1 << _bits) - 1)
        DTYPES[_name] = DType(_name, _bits // 8, _class, _poison)
_OTHER_NAMES = {
    "boolean": "bool", "bool_": "bool", "b1": "bool", "f2": "float16", "f4": "float32", "f8": "float64",
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32",
    "u8": "uint64", "intp": "int64", "uintp": "uint64", "byte": "uint8", "intc": "int32", "int_": "int64",
    "float_": "float64", "single": "float32", "double": "float64", "half": "float16", "float": "float64",
    "int": "int64",
}  # fmt: skip
DTYPES |= {other: DTYPES[name] for other, name in _OTHER_NAMES.items()}


def dtype_of(given: Any) -> DType:
    """Return the type that is meant: by a name, or a type of NumPy, Numba, Python or this module."""
    if isinstance(given, DType):
        return given
    if isinstance(given, type):
        name = {float: "float64", int: "int64", bool: "bool"}.get(given, given.__name__)
    else:
        name = str(given)
    if name in DTYPES:
        return DTYPES[name]
    raise ArgumentError(
        f"Numbers of the type {name} are not known to the tracer. It knows float16, float32, float64, bool, "
        "and integers of 8 to 64 bits."
    )


def type_name(number: Any) -> str:
    """Return the name of a number's type, as Numba calls it."""
    return _NAMES.get(number.__class__, type(number).__name__)
