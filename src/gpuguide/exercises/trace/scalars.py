"""Numbers as a kernel sees them: types, what a store keeps of a value, and what unset memory holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "NUMBER_TYPES",
    "NumberType",
    "SizedInt",
    "as_dtype",
    "as_scalar",
    "caster",
    "described",
    "divide",
    "divisor",
    "is_poisoned",
    "poison",
]

_SCALARS = (int, float, complex, np.generic)


def caster(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    """Return the function that makes of a number what memory of a type keeps of it.

    Integers come back as Python's, wrapped around; floats and complex numbers as NumPy's scalars.
    """
    return {"i": _integer_caster, "u": _integer_caster, "b": _bool_caster}.get(dtype.kind, _real_caster)(
        dtype
    )


def _integer_caster(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)

    def cast(value: Any) -> int:
        if type(value) is not int:
            value = _truncated(value, dtype)
        number: int = value
        return number if low <= number <= high else ((number - low) & (high - low)) + low

    return cast


def _truncated(value: Any, dtype: np.dtype[Any]) -> int:
    """Cut the fraction off, as a store of a float to an integer does; NaN and infinities have no integer."""
    _check(value, dtype, complex_too=False)
    return int(value) if isinstance(value, int) or np.isfinite(value) else int(np.iinfo(dtype).min)


def _bool_caster(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    def cast(value: Any) -> bool:
        _check(value, dtype, complex_too=True)
        return bool(value)

    return cast


def _real_caster(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    scalar, complex_too = dtype.type, dtype.kind == "c"

    def cast(value: Any) -> Any:
        if type(value) is scalar:
            return value
        _check(value, dtype, complex_too=complex_too)
        return scalar(value)

    return cast


def _check(value: Any, dtype: np.dtype[Any], *, complex_too: bool) -> None:
    """Refuse what is no number: NumPy would take a whole array apart without a word."""
    if not isinstance(value, _SCALARS):
        raise TypeError(f"one number of type {dtype} is expected here, not {described(value)}")
    if not complex_too and isinstance(value, complex | np.complexfloating):
        raise TypeError(f"a complex number does not fit into {dtype}; take its .real or .imag")


def described(value: object) -> str:
    """Name a value that is no number in a reader's words."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"a whole array of shape {shape}"
    return "None" if value is None else f"a {type(value).__name__}"


def poison(dtype: np.dtype[Any]) -> Any:
    """Return what memory holds that nothing was written to: NaN, or the integer farthest from use."""
    if dtype.kind in "fc":
        return dtype.type(np.nan)
    if dtype.kind == "b":
        return True
    info = np.iinfo(dtype)
    return int(info.min) if dtype.kind == "i" else int(info.max)


def is_poisoned(array: np.ndarray) -> bool:
    """Say whether an array holds nothing yet: only NaN, or only the smallest integer of a signed type."""
    if not array.size or array.dtype.kind not in "fci":
        return False
    if array.dtype.kind == "i":
        return bool((array == np.iinfo(array.dtype).min).all())
    return bool(np.isnan(array).all())


def as_scalar(value: Any) -> Any:
    """Return a scalar argument or constant as the kernel computes with it.

    Integers become Python's, which do not overflow; a Python float becomes a float64, which unlike the
    Python float makes a float64 of the float32 that it meets, as in Numba.
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float) and not isinstance(value, np.generic):
        return np.float64(value)
    if isinstance(value, complex) and not isinstance(value, np.generic):
        return np.complex128(value)
    return value


class SizedInt(int):
    """An integer of known width, for the operations that depend on it; arithmetic makes a plain one of it."""

    bits: int

    @classmethod
    def of(cls, value: int, bits: int) -> SizedInt:
        """Return the value with its width."""
        made = cls(value)
        made.bits = bits
        return made


def divide(a: Any, b: Any) -> Any:
    """Return ``a / b``, a float64 where both are integers; Python's own float would count as float32."""
    return np.float64(a / b) if isinstance(a, int) and isinstance(b, int) else a / divisor(b)


def divisor(b: Any) -> Any:
    """Return what an in-place division divides by: an integer as float64."""
    return np.float64(b) if isinstance(b, int) else b


class NumberType:
    """A type such as ``float32``: converts a number when called, names the type of an array's elements.

    Parameters
    ----------
    name : str
        As NumPy knows it.
    """

    __slots__ = ("_cast", "dtype", "name")

    def __init__(self, name: str) -> None:
        self.name, self.dtype = name, np.dtype(name)
        self._cast = caster(self.dtype)

    def __call__(self, value: Any = 0) -> Any:
        """Convert a number."""
        kept = self._cast(value)
        return SizedInt.of(kept, self.dtype.itemsize * 8) if self.dtype.kind in "iu" else kept

    def __repr__(self) -> str:
        return self.name


_ALIASES = {
    "boolean": "bool", "bool_": "bool", "b1": "bool", "byte": "uint8", "char": "int8", "uchar": "uint8",
    "short": "int16", "ushort": "uint16", "intc": "int32", "uintc": "uint32", "int_": "int64",
    "uint": "uint64", "long_": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64",
    "intp": "int64", "uintp": "uint64", "size_t": "uint64", "ssize_t": "int64", "double": "float64",
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8",
    "u2": "uint16", "u4": "uint32", "u8": "uint64", "f4": "float32", "f8": "float64",
    "c8": "complex64", "c16": "complex128",
}  # fmt: skip
_NAMES = [
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
    *("complex64", "complex128", "bool"),
]
#: Numba's number types, by every name that it gives them; "bool" itself stays Python's.
NUMBER_TYPES: dict[str, NumberType] = {name: NumberType(name) for name in _NAMES}
NUMBER_TYPES |= {alias: NUMBER_TYPES[name] for alias, name in _ALIASES.items()}
_BY_DTYPE = {kind.dtype: kind for kind in NUMBER_TYPES.values()}
_BUILTINS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def as_dtype(kind: Any) -> np.dtype[Any]:
    """Return the NumPy type of what a kernel names as one: ``float32``, ``np.float32``, ``x.dtype``."""
    if isinstance(kind, NumberType):
        return kind.dtype
    try:
        dtype: np.dtype[Any] = np.dtype(_BUILTINS.get(kind, kind))
    except TypeError:
        raise TypeError(f"a type such as float32 is expected here, not {described(kind)}") from None
    if dtype not in _BY_DTYPE:
        raise TypeError(f"a kernel has no arrays of {dtype}")
    return dtype
