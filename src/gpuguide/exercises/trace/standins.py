"""The stand-ins for ``math``, ``numpy``, ``numba`` and Python's own functions inside a traced kernel."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpuguide.exercises.trace.faults import UnsupportedError
from gpuguide.exercises.trace.scalars import NUMBER_TYPES, NumberType, as_scalar, described, divisor

__all__ = ["BUILTINS", "StandIn", "modules"]


class StandIn:
    """A module as a kernel sees it: only what it may use.

    Parameters
    ----------
    name : str
        The module's name.
    members : mapping of str to object
        What there is.
    """

    def __init__(self, name: str, members: Mapping[str, Any]) -> None:
        self.__dict__.update(members)
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedError(f"{self._name}.{name}")

    def __call__(self, *_: object, **__: object) -> Any:
        """Refuse: what there is no stand-in for may have been a function."""
        raise UnsupportedError(f"{self._name}")


def _of_numbers(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of NumPy take numbers only, whose type it keeps: float32 stays float32."""

    def apply(*values: Any) -> Any:
        for value in values:
            if not isinstance(value, int | float | complex | np.generic):
                raise TypeError(f"{name} takes numbers, not {described(value)}")
        return as_scalar(function(*values))

    return apply


def _of_reals(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Let it make float64 of integers first, as the functions of ``math`` do."""
    of_numbers = _of_numbers(name, function)
    return lambda *values: of_numbers(*map(divisor, values))


def _to_integer(function: Callable[[Any], Any]) -> Callable[[Any], int]:
    return lambda value: int(function(value))


def _from_python(name: str) -> Callable[[Any], Any]:
    """Let a function of ``math`` that NumPy lacks keep the type of its argument."""
    function = getattr(math, name)

    def apply(value: Any) -> Any:
        try:
            result = np.float64(function(value))
        except (ValueError, OverflowError):
            result = np.float64(np.nan if value < 0 else np.inf)
        return np.float32(result) if isinstance(value, np.float32) else result

    return apply


class _Complex(NumberType):
    """Python's ``complex``, which takes two numbers."""

    def __call__(self, real: Any = 0, imaginary: Any = 0) -> Any:
        """Convert one number, or join two."""
        return np.complex128(complex(real, imaginary)) if imaginary else super().__call__(real)


def _words(text: str) -> list[str]:
    return text.split()


_SAME_NAME = _words(
    "sqrt exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh fabs hypot fmod copysign isnan isinf "
    "isfinite degrees radians exp2 nextafter"
)
_OTHER_NAME = {
    "pow": "power", "atan2": "arctan2", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip
_UFUNCS = dict(zip(_SAME_NAME, _SAME_NAME, strict=True)) | _OTHER_NAME
_CONSTANTS = {name: np.float64(getattr(math, name)) for name in ("pi", "e", "tau", "inf", "nan")}
_MATH: dict[str, Any] = {
    **{name: _of_reals(f"math.{name}", getattr(np, ufunc)) for name, ufunc in _UFUNCS.items()},
    **{name: _from_python(name) for name in ("erf", "erfc", "gamma", "lgamma")},
    **{name: _to_integer(getattr(np, name)) for name in ("floor", "ceil", "trunc")},
    **_CONSTANTS,
    "ldexp": _of_numbers("math.ldexp", np.ldexp),
}
_CMATH: dict[str, Any] = {
    **{name: _of_numbers(f"cmath.{name}", getattr(np, name)) for name in ("exp", "log", "sqrt")},
    **_CONSTANTS,
}
#: Of NumPy's functions only these have an implementation for the GPU.
_NUMPY_UFUNCS = _words(
    "divide true_divide maximum minimum fmax fmin log log2 log10 sin cos tan arcsin arccos arctan arctan2 "
    "hypot sinh cosh tanh arcsinh arccosh arctanh deg2rad rad2deg isnan conjugate bitwise_and bitwise_or "
    "bitwise_xor invert left_shift right_shift logical_and logical_or logical_xor logical_not equal "
    "not_equal less less_equal greater greater_equal"
)
_NUMPY: dict[str, Any] = {
    **{name: _of_numbers(f"np.{name}", getattr(np, name)) for name in _NUMPY_UFUNCS},
    **{name: kind for name, kind in NUMBER_TYPES.items() if isinstance(getattr(np, name, None), type)},
    **_CONSTANTS,
}
_EXCEPTIONS = {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, Exception)
}
_FROM_PYTHON = _words("abs bool divmod enumerate int len max min pow range round slice tuple zip")
#: Python's own functions that a kernel has; what it prints is dropped, or thousands of threads would.
BUILTINS: dict[str, Any] = {
    **_EXCEPTIONS,
    **{name: getattr(builtins, name) for name in _FROM_PYTHON},
    "float": NUMBER_TYPES["float64"],
    "complex": _Complex("complex128"),
    "print": lambda *_, **__: None,
}


def modules(cuda: Any) -> dict[str, Any]:
    """Return the stand-ins by the modules' full names.

    Parameters
    ----------
    cuda : Cuda
        Of the launch.

    Returns
    -------
    dict of str to object
        ``"numba.cuda"``, ``"numba"``, ``"numpy"``, ``"math"`` and others.
    """
    types = StandIn("numba.types", NUMBER_TYPES)
    names = {name: kind for name, kind in NUMBER_TYPES.items() if name != "bool"}
    return {
        "numba.cuda": cuda,
        "numba": StandIn("numba", {**names, "cuda": cuda, "types": types}),
        "numba.types": types,
        "numba.core.types": types,
        "numpy": StandIn("numpy", _NUMPY),
        "math": StandIn("math", _MATH),
        "cmath": StandIn("cmath", _CMATH),
        "gpuguide.machine.backends": StandIn("gpuguide.machine.backends", {"cuda": cuda}),
    }
