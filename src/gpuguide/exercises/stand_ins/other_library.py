"""An array library that has what the array API standard asks for, and nothing besides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from gpuguide.exercises.stand_ins.host_memory import never_set, unset
from gpuguide.exercises.stand_ins.lines import line_now, named
from gpuguide.exercises.stand_ins.standard_names import CONSTANTS, DTYPES, FUNCTIONS, KINDS, VERSION, WAYS

__all__ = ["OtherArray", "OtherLibrary", "OtherType"]

_DEVICE = "other"
# fmt: off
_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}
_COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}
# fmt: on
_UNARY = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert"}
# Parameters whose arrays become one result together, so that their types must fit.
_OPERANDS = ("x", "x1", "x2", "min", "max", "prepend", "append")
_KINDS = {"b": "booleans", "i": "whole numbers", "u": "whole numbers"}


class OtherType:
    """A dtype of the library: it can be compared with another one, and passed to functions.

    >>> xp = OtherLibrary()
    >>> xp.ones(2).dtype == xp.float64, xp.float32
    (True, other.float32)
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(f"A dtype of the standard has no {name!r}.")
        raise AttributeError(f"A dtype of the standard has no {name!r}; it can only be compared.{_way(name)}")

    def __call__(self, *_: Any) -> NoReturn:
        """Refuse; NumPy's makes a number."""
        made = f"xp.asarray(value, dtype=xp.{self._name})"
        raise TypeError(f"A dtype of the standard cannot be called; {made} makes an array")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OtherType | None):
            raise TypeError(f"A dtype of this library met {_described(other)}; compare with xp.{self._name}.")
        return self is other

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return f"other.{self._name}"


_DTYPES = {name: OtherType(name) for name in DTYPES}


class OtherArray:
    """An array with what the standard promises: operators, indices, a few attributes, hardly a method.

    >>> xp = OtherLibrary()
    >>> x = xp.asarray([1.0, 2.0])
    >>> float(xp.sum(2 * x))
    6.0
    >>> x.mean()
    Traceback (most recent call last):
    AttributeError: An array of the standard has no method 'mean'; there is the function xp.mean(x).
    """

    def __init__(self, library: OtherLibrary, data: Any) -> None:
        self._library, self._data = library, np.asarray(data)

    def __array_namespace__(self, *, api_version: str | None = None) -> OtherLibrary:
        """Return the library."""
        if api_version is not None and api_version > VERSION:
            raise ValueError(f"This library has version {VERSION} of the standard, not {api_version}.")
        return self._library

    # What NumPy calls.

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("This library's arrays cannot become arrays of NumPy; use functions of its own.")

    def __array_function__(self, function: Any, *_: Any) -> NoReturn:
        raise TypeError(_not_of(function.__name__, self._library))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> NoReturn:
        if any(isinstance(each, np.ndarray | np.generic) for each in inputs):
            raise TypeError(_MET_NUMPY)
        raise TypeError(_not_of(ufunc.__name__, self._library))

    def __dlpack__(self, **_: Any) -> NoReturn:
        raise BufferError(
            "The memory of this library's arrays cannot be read by another library; use functions of xp."
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"An array of the standard has no {name!r}.")
        if name in FUNCTIONS:
            parameters = FUNCTIONS[name].parameters.values()
            needed = [each.name for each in parameters if each.default is each.empty]
            has = f"; there is the function xp.{name}({', '.join(needed)})."
        else:
            has = f".{_way(name)}"
        raise AttributeError(f"An array of the standard has no method {name!r}{has}")

    def to_device(self, device: Any, /, *, stream: Any = None) -> OtherArray:
        """Return it: there is one device."""
        self._library._check_device(device)
        return self

    @property
    def dtype(self) -> OtherType:
        """Type of the elements."""
        return _DTYPES[self._data.dtype.name]

    @property
    def device(self) -> str:
        """Where it lies."""
        return _DEVICE

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
        return OtherArray(self._library, self._data[_index(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._library._check_operands("Storing", [self, value])
        self._library._note_rounding(self._data.dtype, value)
        self._data[_index(key)] = _unwrap(value)

    def __len__(self) -> NoReturn:
        raise TypeError("An array of the standard has no len(); its axes have the lengths x.shape")

    def __iter__(self) -> NoReturn:
        raise TypeError(
            "The standard does not loop over an array; xp.unstack(x) takes it apart, along any axis"
        )

    def __repr__(self) -> str:
        return f"other.{self._data!r}"

    def _only(self, asker: str, instead: str = "pick one element by its index") -> Any:
        if self.ndim:
            raise TypeError(
                f"{asker} takes an array without axes; this one has the shape {self.shape}: {instead}"
            )
        return self._data

    def __bool__(self) -> bool:
        return bool(self._only("A condition", "ask xp.all(x) or xp.any(x)"))

    def __float__(self) -> float:
        return float(self._only("float()"))

    def __int__(self) -> int:
        return int(self._only("int()"))

    def __complex__(self) -> complex:
        return complex(self._only("complex()"))

    def __index__(self) -> int:
        return int(self._only("An index").__index__())

    __hash__ = None  # type: ignore[assignment]


# Python's own messages name the class.
OtherArray.__name__ = OtherArray.__qualname__ = "Array"


def _operator(name: str, *, swapped: bool = False) -> Callable[[OtherArray, Any], Any]:
    def call(self: OtherArray, other: Any) -> Any:
        operands = (other, self) if swapped else (self, other)
        return self._library._call(name, *operands)

    return call


def _in_place(name: str) -> Callable[[OtherArray, Any], OtherArray]:
    def call(self: OtherArray, other: Any) -> OtherArray:
        # The array itself changes, and with it the caller's.
        self[...] = self._library._call(name, self, other)
        return self

    return call


for _name, _function in _OPERATORS.items():
    setattr(OtherArray, f"__{_name}__", _operator(_function))
    setattr(OtherArray, f"__i{_name}__", _in_place(_function))
    setattr(OtherArray, f"__r{_name}__", _operator(_function, swapped=True))
for _name, _function in _COMPARISONS.items():
    setattr(OtherArray, f"__{_name}__", _operator(_function))
for _name, _function in _UNARY.items():
    setattr(OtherArray, f"__{_name}__", lambda self, name=_function: self._library._call(name, self))


class OtherLibrary:
    """Functions of the array API standard, with the standard's parameters, on `OtherArray`.

    Attributes
    ----------
    rounded : dict
        Numbers that lost digits when they became single precision, each with the first line that did it.
    widened_at : int or None
        The line that first made double precision of single.
    unset_read_at : int or None
        The line that first computed with memory of ``empty`` that was not set.

    >>> xp = OtherLibrary()
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 6.0]])
    >>> float(xp.var(x))
    3.5
    >>> xp.concatenate([x, x])
    Traceback (most recent call last):
    AttributeError: The array API standard has no 'concatenate'. Its way is xp.concat.
    """

    __name__ = "other"
    __array_api_version__ = VERSION

    def __init__(self, source: str = "") -> None:
        self._source = source
        self.rounded: dict[Any, int | None] = {}
        self.widened_at: int | None = None
        self.unset_read_at: int | None = None

    def __dir__(self) -> list[str]:
        return sorted({*FUNCTIONS, *DTYPES, *CONSTANTS})

    def __getattr__(self, name: str) -> Any:
        if name in DTYPES:
            return _DTYPES[name]
        if name in CONSTANTS:
            return getattr(np, name)
        if name in FUNCTIONS:
            return named(f"xp.{name}", lambda *args, **kwargs: self._call(name, *args, **kwargs))
        if name in ("fft", "linalg"):
            raise AttributeError(
                f"xp.{name} is an extension of the standard, which a library may lack; this one does."
            )
        raise AttributeError(f"The array API standard has no {name!r}.{_way(name)}")

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Apply the function of NumPy that does what the standard says."""
        signature = FUNCTIONS[name]
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            problem = str(error).replace("missing a required argument:", "needs the argument")
            problem = problem.replace("too many", "got too many")
            raise TypeError(f"xp.{name}() {problem}. In the standard it is xp.{name}{signature}") from None
        given = bound.arguments
        self._check_device(given.pop("device", None))
        self._check(name, given)
        arrays = list(_arrays(list(given.values())))
        if name in KINDS and any(never_set(each._data) for each in arrays):
            self.unset_read_at = self.unset_read_at or line_now(self._source)
        # The standard divides by zero without a word.
        with np.errstate(all="ignore"):
            for key, value in given.items():
                given[key] = _unwrap(value)
            result = (_OWN.get(name) or getattr(_numpy(), name))(*bound.args, **bound.kwargs)
        made = getattr(result, "dtype", None) if isinstance(result, np.ndarray | np.generic) else None
        if made == np.float32:
            self._note_rounding(made, *args, *kwargs.values())
        elif made == np.float64 and any(each._data.dtype == np.float32 for each in arrays):
            self.widened_at = self.widened_at or line_now(self._source)
        return self._wrap(result)

    def _check(self, name: str, given: Mapping[str, Any]) -> None:
        """Refuse arguments that the standard does not have."""
        for key in {"x", "condition", "indices", "arrays"} & {*given}:
            values = given[key]
            for value in values if key == "arrays" and isinstance(values, list | tuple) else (values,):
                if not isinstance(value, OtherArray):
                    _refuse_numpy(value)
                    got = type(value).__name__
                    raise TypeError(
                        f"Expected an array of this library; got {got}. xp.asarray makes one of numbers"
                    )
        if name == "asarray" and isinstance(given["obj"], list | tuple) and list(_arrays(given["obj"])):
            raise TypeError("xp.asarray makes an array of numbers; xp.stack makes one of several arrays")
        if name == "asarray" and isinstance(given["obj"], np.ndarray):
            raise TypeError("This library makes its arrays of numbers and lists, not of NumPy's arrays")
        dtype = given.get("dtype")
        if "dtype" in given and not isinstance(dtype, OtherType | None):
            raise TypeError(f"dtype must be one of this library, such as xp.float32; got {_described(dtype)}")
        operands = [given[key] for key in _OPERANDS if given.get(key) is not None]
        operands += given.get("arrays", ())
        words, letters = KINDS.get(name, ("", ""))
        for array in (each for each in operands if isinstance(each, OtherArray)):
            if letters and array._data.dtype.kind not in letters:
                counts = " xp.count_nonzero counts the true ones;" if name == "sum" else ""
                raise TypeError(
                    f"xp.{name} takes {words}; got {array._data.dtype}.{counts} xp.astype(x, dtype) makes "
                    "others"
                )
        if name == "where" and not list(_arrays(operands)):
            raise TypeError("xp.where needs an array among the two that it picks from; xp.full makes one")
        self._check_operands(f"xp.{name}", operands)

    def _check_operands(self, what: str, operands: list[Any]) -> None:
        """Refuse what the standard does not bring together."""
        kinds = {_kind(each._data.dtype) for each in operands if isinstance(each, OtherArray)}
        if len(kinds) > 1:
            raise TypeError(
                f"{what} does not mix {' and '.join(sorted(kinds))} in the standard; make them of one kind, "
                "with xp.astype(x, dtype)"
            )
        for each in operands:
            if isinstance(each, OtherArray):
                continue
            _refuse_numpy(each)
            if not isinstance(each, bool | int | float | complex):
                raise TypeError(f"{what} takes arrays of this library and numbers; got {type(each).__name__}")
            fits = {"booleans"} if isinstance(each, bool) else {"floating-point numbers"}
            fits |= {"whole numbers"} if isinstance(each, int) and not isinstance(each, bool) else set()
            if not kinds <= fits:
                raise TypeError(
                    f"{what} does not mix {''.join(kinds)} and the number {each!r} in the standard; "
                    "xp.astype(x, dtype) makes an array of another kind"
                )

    def _check_device(self, device: Any) -> None:
        if device is not None and device != _DEVICE:
            raise ValueError(f"This library has one device, x.device, which is {_DEVICE!r}; got {device!r}")

    def _note_rounding(self, dtype: Any, *values: Any) -> None:
        """Note numbers that become single precision and lose digits by it."""
        if dtype != np.float32:
            return
        for value in values:
            if isinstance(value, list | tuple):
                self._note_rounding(dtype, *value)
            contents = value._data if isinstance(value, OtherArray) else value
            if isinstance(contents, np.ndarray | float) and np.asarray(contents).dtype == np.float64:
                numbers = np.asarray(contents)
                with np.errstate(all="ignore"):
                    lost = numbers[(numbers.astype(np.float32) != numbers) & ~np.isnan(numbers)]
                for number in lost.tolist():
                    self.rounded.setdefault(number, line_now(self._source))

    def _wrap(self, value: Any) -> Any:
        """Return what NumPy made as the library's own."""
        if isinstance(value, np.dtype):
            return _DTYPES[value.name]
        if isinstance(value, np.ndarray | np.generic):
            return OtherArray(self, value)
        if isinstance(value, dict):
            return {key: self._wrap(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            parts = map(self._wrap, value)
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return value


@cache
def _numpy() -> Any:
    """NumPy with all of the standard, whatever its version; not imported before it is used."""
    import array_api_compat.numpy

    return array_api_compat.numpy


def _asarray(obj: Any, /, *, dtype: Any = None, copy: Any = None) -> Any:
    return (
        np.array(obj, dtype=dtype)
        if copy or not isinstance(obj, np.ndarray)
        else np.asarray(obj, dtype=dtype)
    )


class _Limits(SimpleNamespace):
    """What `finfo` and `iinfo` return."""

    def __getattr__(self, name: str) -> NoReturn:
        known = ", ".join(vars(self))
        raise AttributeError(f"The standard's finfo and iinfo have no {name!r}; this one has {known}")


def _limits(info: Any, *names: str) -> Any:
    kind = float if info.dtype.kind == "f" else int
    values = {name: kind(getattr(info, name)) for name in names}
    return _Limits(bits=int(info.bits), dtype=_DTYPES[info.dtype.name], **values)


def _info() -> Any:
    info = _numpy().__array_namespace_info__()

    def types(found: Mapping[str, Any]) -> dict[str, OtherType]:
        return {key: _DTYPES[np.dtype(each).name] for key, each in found.items()}

    return SimpleNamespace(
        capabilities=info.capabilities,
        default_device=lambda: _DEVICE,
        default_dtypes=lambda *, device=None: types(info.default_dtypes()),
        devices=lambda: [_DEVICE],
        dtypes=lambda *, device=None, kind=None: types(info.dtypes(kind=kind)),
    )


# Where NumPy's function is not quite the standard's, or where what NumPy returns is NumPy's.
_OWN: dict[str, Callable[..., Any]] = {
    "__array_namespace_info__": _info,
    "asarray": _asarray,
    "empty": lambda shape, *, dtype=None: unset(shape, dtype or np.float64),
    "empty_like": lambda x, /, *, dtype=None: unset(x.shape, dtype or x.dtype),
    "finfo": lambda x: _limits(np.finfo(getattr(x, "dtype", x)), "eps", "max", "min", "smallest_normal"),
    "from_dlpack": lambda x, /, *, copy=None: _asarray(x, copy=copy),
    "iinfo": lambda x: _limits(np.iinfo(getattr(x, "dtype", x)), "max", "min"),
}

_MET_NUMPY = (
    "An array of this library met one of NumPy's, or a number of NumPy's; make it with functions of xp, and "
    "numbers with Python's own"
)


def _not_of(name: str, library: OtherLibrary) -> str:
    own = f"use xp.{name}" if name in FUNCTIONS else f"use a function of its own.{_way(name)}".rstrip(".")
    return f"NumPy's {name} does not know this library; {own}"


def _way(name: str) -> str:
    return f" Its way is {WAYS[name]}." if name in WAYS else ""


def _described(value: Any) -> str:
    return f"{value.__module__}.{value.__name__}" if isinstance(value, type) else repr(value)


def _kind(dtype: Any) -> str:
    return _KINDS.get(dtype.kind, "floating-point numbers")


def _refuse_numpy(value: Any) -> None:
    if isinstance(value, np.ndarray | np.generic):
        raise TypeError(_MET_NUMPY)


def _arrays(values: Any) -> Iterator[OtherArray]:
    """Yield the arrays among values, in lists too."""
    for value in values:
        if isinstance(value, OtherArray):
            yield value
        elif isinstance(value, list | tuple):
            yield from _arrays(value)


def _unwrap(value: Any) -> Any:
    """Return contents of arrays, NumPy's dtypes, and all else as it is; refuse what is NumPy's own."""
    if isinstance(value, OtherArray):
        return value._data
    if isinstance(value, OtherType):
        return np.dtype(value._name)
    if isinstance(value, list | tuple):
        return type(value)(map(_unwrap, value))
    _refuse_numpy(value)
    return value


def _index(key: Any) -> Any:
    """Return an index as NumPy takes it."""
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, list):
            raise TypeError("The standard takes no list as an index; xp.asarray makes an array of it")
    return _unwrap(key)
