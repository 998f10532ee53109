"""An array library that has a part of the array API standard, and nothing besides."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from gpuguide.exercises.stand_ins.lines import line_now, named

__all__ = ["OtherArray", "OtherLibrary"]

_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_UNARY = (
    *("abs", "ceil", "cos", "exp", "floor", "isfinite", "isnan", "log", "logical_not"),
    *("negative", "sign", "sin", "sqrt", "square", "tanh"),
)
_BINARY = (
    *("add", "divide", "equal", "greater", "greater_equal", "less", "less_equal", "logical_and"),
    *("logical_or", "maximum", "minimum", "multiply", "not_equal", "pow", "subtract"),
)
_REDUCTIONS = ("all", "any", "max", "mean", "min", "prod", "sum")
_SPREADS = ("std", "var")
_OTHERS = (
    *("argsort", "diff", "moveaxis", "tensordot", "tril", "triu"),
    *("argmax", "argmin", "broadcast_to", "clip", "concat", "cumulative_sum", "flip", "isinf", "log1p"),
    *("matmul", "matrix_transpose", "permute_dims", "repeat", "reshape", "roll", "round", "sort", "squeeze"),
    *("stack", "take", "tile", "vecdot"),
)
_MADE = ("arange", "empty", "eye", "full", "linspace", "ones", "zeros")
_NUMBERS = ("e", "inf", "nan", "newaxis", "pi")
_DTYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")


class OtherArray:
    """An array with what the standard promises: operators, basic indices, a few attributes, no methods.

    Parameters
    ----------
    library : OtherLibrary
        The one that it belongs to.
    data : array_like
        Its contents.

    Examples
    --------
    >>> xp = OtherLibrary()
    >>> x = xp.asarray([1.0, 2.0])
    >>> float(xp.sum(2 * x))
    6.0
    >>> x.mean()
    Traceback (most recent call last):
    AttributeError: An array of the standard has no method 'mean'; there is the function xp.mean(x).
    """

    #: NumPy's functions and arrays refuse it.
    __array_ufunc__ = None

    def __init__(self, library: OtherLibrary, data: Any) -> None:
        self._library, self._data = library, np.asarray(data)

    def __array_namespace__(self, *, api_version: str | None = None) -> OtherLibrary:
        """Return the library."""
        return self._library

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("This library's arrays cannot become arrays of NumPy; use functions of its own.")

    def __array_function__(self, function: Any, *_: Any) -> NoReturn:
        raise TypeError(f"NumPy's {function.__name__} does not know this library; use a function of its own.")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        has = f"; there is the function xp.{name}(x)" if name in dir(self._library) else ""
        raise AttributeError(f"An array of the standard has no method {name!r}{has}.")

    @property
    def dtype(self) -> Any:
        """Type of the elements."""
        return self._data.dtype

    @property
    def device(self) -> str:
        """Where it lies."""
        return "other"

    @property
    def T(self) -> OtherArray:  # noqa: N802  # the standard's name
        """A matrix with its axes exchanged."""
        if self.ndim != 2:
            raise ValueError(f"The standard's T is for matrices; this array has {self.ndim} axes.")
        return OtherArray(self._library, self._data.T)

    @property
    def mT(self) -> OtherArray:  # noqa: N802  # the standard's name
        """Matrices with their last two axes exchanged."""
        return OtherArray(self._library, np.swapaxes(self._data, -1, -2))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._data.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return self._data.shape

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._data.size

    def __getitem__(self, key: Any) -> OtherArray:
        return OtherArray(self._library, self._data[self._library.unwrap_key(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._data[self._library.unwrap_key(key)] = self._library.unwrap(value)

    def __bool__(self) -> bool:
        return bool(self._data)

    def __float__(self) -> float:
        return float(self._data)

    def __int__(self) -> int:
        return int(self._data)

    def __neg__(self) -> OtherArray:
        return OtherArray(self._library, -self._data)

    def __invert__(self) -> OtherArray:
        return OtherArray(self._library, ~self._data)

    def __abs__(self) -> OtherArray:
        return OtherArray(self._library, abs(self._data))

    __hash__ = None  # type: ignore[assignment]


def _operator(name: str, *, swapped: bool = False) -> Callable[[OtherArray, Any], Any]:
    function = getattr(operator, f"{name}_" if name in ("and", "or") else name)

    def call(self: OtherArray, other: Any) -> Any:
        library = self._library
        operands = [library.unwrap(self), library.unwrap(other)]
        with np.errstate(all="ignore"):
            return OtherArray(library, function(*(operands[::-1] if swapped else operands)))

    return call


def _in_place(name: str) -> Callable[[OtherArray, Any], OtherArray]:
    function = _operator(name)

    def call(self: OtherArray, other: Any) -> OtherArray:
        # The array itself changes, and with it the caller's.
        self._data[...] = function(self, other)._data
        return self

    return call


for _name in _OPERATORS:
    setattr(OtherArray, f"__{_name}__", _operator(_name))
    setattr(OtherArray, f"__i{_name}__", _in_place(_name))
    setattr(OtherArray, f"__r{_name}__", _operator(_name, swapped=True))
for _name in _COMPARISONS:
    setattr(OtherArray, f"__{_name}__", _operator(_name))


class OtherLibrary:
    """Functions of the array API standard, with the standard's arguments, on `OtherArray`.

    Parameters
    ----------
    source : str
        File name of the reader's code (`lines.source_of`).

    Attributes
    ----------
    narrowed_at : int or None
        The line of that file that first made single precision of double.

    Examples
    --------
    >>> xp = OtherLibrary()
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 6.0]])
    >>> float(xp.var(x))
    3.5
    >>> xp.median(x)
    Traceback (most recent call last):
    AttributeError: This library has no 'median': it has names of the array API standard alone, and not all.
    """

    __name__ = "other"

    def __init__(self, source: str = "") -> None:
        self._source = source
        self.narrowed_at: int | None = None

    def __dir__(self) -> list[str]:
        tables = (*_UNARY, *_BINARY, *_REDUCTIONS, *_SPREADS, *_OTHERS, *_DTYPES)
        return sorted({*tables, *(name for name in vars(type(self)) if not name.startswith(("_", "unwrap")))})

    def __getattr__(self, name: str) -> Any:
        if name in _DTYPES:
            return np.dtype(name)
        function: Any = None
        if name in _UNARY:
            function = lambda x, /: self._made(getattr(np, name), x)  # noqa: E731
        if name in _BINARY:
            function = lambda x1, x2, /: self._made(getattr(np, name), x1, x2)  # noqa: E731
        if name in _REDUCTIONS:
            function = lambda x, /, *, axis=None, keepdims=False: self._made(  # noqa: E731
                getattr(np, name), x, axis=axis, keepdims=keepdims
            )
        if name in _SPREADS:
            function = lambda x, /, *, axis=None, correction=0.0, keepdims=False: self._made(  # noqa: E731
                getattr(np, name), x, axis=axis, ddof=correction, keepdims=keepdims
            )
        if name in _OTHERS:
            function = lambda x, /, *others, **options: self._made_of(  # noqa: E731
                getattr(np, name), x, *others, **options
            )
        if function is not None:
            return named(f"xp.{name}", function)
        raise AttributeError(
            f"This library has no {name!r}: it has names of the array API standard alone, and not all."
        )

    def asarray(self, obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> OtherArray:
        """Make an array of numbers, lists of numbers, or another array of this library."""
        if isinstance(obj, np.ndarray):
            raise TypeError("This library makes its arrays of numbers and lists, not of NumPy's arrays.")
        return OtherArray(self, np.array(self.unwrap(obj), dtype=dtype))

    def astype(self, x: OtherArray, dtype: Any, /, *, copy: bool = True, device: Any = None) -> OtherArray:
        """Return the numbers in another type."""
        if x.dtype == np.float64 and np.dtype(dtype).itemsize < 8:
            self.narrowed_at = self.narrowed_at or line_now(self._source)
        return OtherArray(self, self.unwrap(x).astype(dtype))

    def zeros_like(self, x: OtherArray, /, *, dtype: Any = None, device: Any = None) -> OtherArray:
        """Return zeros in the shape of `x`."""
        return self._made(np.zeros_like, x, dtype=dtype)

    def ones_like(self, x: OtherArray, /, *, dtype: Any = None, device: Any = None) -> OtherArray:
        """Return ones in the shape of `x`."""
        return self._made(np.ones_like, x, dtype=dtype)

    def empty_like(self, x: OtherArray, /, *, dtype: Any = None, device: Any = None) -> OtherArray:
        """Return an array in the shape of `x`, with anything in it."""
        return self._made(np.empty_like, x, dtype=dtype)

    def unstack(self, x: OtherArray, /, *, axis: int = 0) -> tuple[OtherArray, ...]:
        """Return the parts of `x` along an axis."""
        return tuple(OtherArray(self, each) for each in np.moveaxis(x._data, axis, 0))

    def full_like(self, x: OtherArray, value: Any, /, *, dtype: Any = None, device: Any = None) -> OtherArray:
        """Return one value in the shape of `x`."""
        return self._made(np.full_like, x, value, dtype=dtype)

    def where(self, condition: OtherArray, x1: Any, x2: Any, /) -> OtherArray:
        """Pick from two arrays, or from an array and a number."""
        return self._made(np.where, condition, x1, x2)

    def expand_dims(self, x: OtherArray, /, *, axis: int = 0) -> OtherArray:
        """Add an axis of length one."""
        return self._made(np.expand_dims, x, axis=axis)

    def unwrap(self, value: Any) -> Any:
        """Return the contents of one of its arrays, and a number as it is; refuse arrays of others."""
        if isinstance(value, OtherArray):
            return value._data
        if isinstance(value, np.ndarray | np.generic):
            raise TypeError("An array of this library met one of NumPy's; make it with functions of xp.")
        return value

    def unwrap_key(self, key: Any) -> Any:
        """Return an index as NumPy takes it."""
        return tuple(map(self.unwrap, key)) if isinstance(key, tuple) else self.unwrap(key)

    def _made_of(self, function: Callable[..., Any], x: Any, *others: Any, **options: Any) -> OtherArray:
        """Apply a function to an array, or to a list of arrays."""
        if isinstance(x, list | tuple) and all(isinstance(each, OtherArray) for each in x):
            return OtherArray(self, function([each._data for each in x], *others, **options))
        return self._made(function, x, *others, **options)

    def _made(self, function: Callable[..., Any], x: Any, *others: Any, **options: Any) -> OtherArray:
        if not isinstance(x, OtherArray):
            raise TypeError(f"Expected an array of this library; got {type(x).__name__}.")
        # The standard divides by zero without a word.
        with np.errstate(all="ignore"):
            return OtherArray(self, function(x._data, *map(self.unwrap, others), **options))


def _maker(name: str) -> Callable[..., OtherArray]:
    def make(self: OtherLibrary, *numbers: Any, device: Any = None, **options: Any) -> OtherArray:
        return OtherArray(self, getattr(np, name)(*numbers, **options))

    return make


for _name, _function in vars(OtherLibrary).items():
    if not _name.startswith("_"):
        named(f"xp.{_name}", _function)


for _name in _MADE:
    setattr(OtherLibrary, _name, _maker(_name))
for _name in _NUMBERS:
    setattr(OtherLibrary, _name, getattr(np, _name))
