"""Arrays of the host that tell what is calculated with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["WatchedArray", "watched"]


class WatchedArray(np.ndarray[Any, Any]):
    """An array of NumPy that tells what is calculated with it; `watched` makes one.

    Its parts and copies tell, too. What a universal function makes of it is an array like any other.

    Attributes
    ----------
    tell : callable or None
        Gets the function of NumPy, and the array.
    """

    tell: Callable[[Any, Any], None] | None = None

    def __array_finalize__(self, made_from: Any) -> None:
        self.tell = getattr(made_from, "tell", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        self._tell(ufunc)
        if "out" in kwargs:
            kwargs["out"] = tuple(map(_plain, kwargs["out"]))
        return getattr(ufunc, method)(*map(_plain, inputs), **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        self._tell(function)
        return super().__array_function__(function, types, args, kwargs)

    def dot(self, b: Any, out: Any = None) -> Any:
        """As ``numpy.ndarray.dot``."""
        self._tell(np.dot)
        return _plain(self).dot(b, out)

    def _tell(self, function: Any) -> None:
        if self.tell is not None:
            self.tell(function, self)


def watched(array: np.ndarray[Any, Any], tell: Callable[[Any, Any], None]) -> WatchedArray:
    """Return a view of an array that tells what is calculated with it.

    >>> x = watched(np.ones(3), lambda function, array: print(function.__name__, array.dtype))
    >>> y = x.astype("float32") + 1
    add float32
    >>> type(y).__name__
    'ndarray'
    """
    view = array.view(WatchedArray)
    view.tell = tell
    return view


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, WatchedArray) else value
