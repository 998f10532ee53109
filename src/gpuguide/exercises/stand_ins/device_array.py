"""The array of the stand-in for CuPy: NumPy underneath, and every launch and copy noted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy

__all__ = ["DeviceArray", "is_advanced"]

_REDUCTIONS = ("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var")
_MAKE_NEW = ("argsort", "astype", "clip", "copy", "cumsum", "dot", "flatten", "repeat", "round", "take")
_MAKE_VIEWS = ("ravel", "reshape", "squeeze", "swapaxes", "transpose", "view")
_ATTRIBUTES = ("dtype", "flags", "itemsize", "nbytes", "ndim", "shape", "size", "strides")


class DeviceArray(NDArrayOperatorsMixin):
    """An array on the virtual GPU; `FakeCupy` makes it.

    It refuses what a CuPy array refuses, with the same errors: NumPy arrays among its operands, and being
    taken for one. What needs the host to know a value (``float``, ``bool``, ``item``, printing) copies.

    Parameters
    ----------
    cp : FakeCupy
        The module that it belongs to.
    data : numpy.ndarray
        Its contents.
    buffer : int
        Number of the allocation that it lies in.

    Examples
    --------
    >>> from gpuguide.exercises.stand_ins.fake_cupy import FakeCupy
    >>> cp = FakeCupy()
    >>> x = cp.arange(3)
    >>> float((x * x).sum()), len(cp.gpu.events("launch")), len(cp.gpu.events("to_host"))
    (5.0, 3, 1)
    """

    def __init__(self, cp: FakeCupy, data: np.ndarray[Any, Any], buffer: int) -> None:
        self._cp, self._data, self._buffer = cp, data, buffer

    # What NumPy asks.

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy "
            "array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        out = kwargs.pop("out", None)
        if out is not None:
            kwargs["out"] = out[0]
        return self._cp.run_ufunc(ufunc, *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = function.__name__
        if not all(issubclass(t, DeviceArray | np.ndarray) for t in types) or name not in dir(self._cp):
            return NotImplemented
        return getattr(self._cp, name)(*args, **kwargs)

    # What copies to the host.

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        """Return a copy on the host, as ``cupy.ndarray.get`` does."""
        return self._cp.to_host(self, out, order)

    def item(self) -> Any:
        """Return the only element as a Python number; it is copied to the host."""
        if self._data.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.get().item()

    def tolist(self) -> Any:
        """Return a list of Python numbers, copied to the host."""
        return self.get().tolist()

    def __float__(self) -> float:
        return float(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __complex__(self) -> complex:
        return complex(self.get())

    def __bool__(self) -> bool:
        if self._data.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self._data.size and self.get().item())

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __format__(self, spec: str) -> str:
        return format(self.get(), spec)

    # What stays on the device.

    def set(self, array: Any, stream: Any = None) -> None:
        """Copy an array of the host into this one, as ``cupy.ndarray.set`` does."""
        if not isinstance(array, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if self._data.dtype != array.dtype:
            raise TypeError(f"{array.dtype} array cannot be set to {self._data.dtype} array")
        if self._data.shape != array.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self._data.shape}, new shape: {array.shape}")
        self._cp.note_copy_to_device(self._buffer, array.nbytes)
        self._data[...] = array

    def fill(self, value: Any) -> None:
        """Put one value everywhere."""
        self[...] = value

    def sort(self, axis: int = -1) -> None:
        """Sort in place."""
        self._cp.note_launch("sort", self, self)
        self._data.sort(axis=axis)

    def __getitem__(self, key: Any) -> Any:
        if is_advanced(key):
            index = self._cp.index(key)
            return self._cp.run("take", lambda: self._data[index], reads=(self,))
        return self._cp.wrap(self._data[key], self._buffer)

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_advanced(key):
            value = value if isinstance(value, DeviceArray) else self._cp.asarray(value, self._data.dtype)
        elif isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        contents = self._cp.unwrap(value)
        part = self._cp.index(key)
        self._cp.note_launch("copy", self[key] if not is_advanced(key) else self, value)
        self._data[part] = contents

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Any]:
        if not self._data.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))


def is_advanced(key: Any) -> bool:
    """Return whether an index picks elements by arrays, so that it makes a copy and not a view.

    Parameters
    ----------
    key : object
        What stands between the brackets.

    Returns
    -------
    bool
        True for lists and arrays, alone or in a tuple.

    Examples
    --------
    >>> is_advanced((slice(3), None)), is_advanced([0, 2]), is_advanced((0, np.arange(2)))
    (False, True, True)
    """
    parts = key if isinstance(key, tuple) else (key,)
    return any(isinstance(part, list | np.ndarray | DeviceArray) for part in parts)


def _method(name: str) -> Callable[..., Any]:
    def call(self: DeviceArray, *args: Any, **kwargs: Any) -> Any:
        return self._cp.run(name, getattr(np.ndarray, name), self, *args, **kwargs)

    call.__name__, call.__doc__ = name, f"As ``numpy.ndarray.{name}``, on the device."
    return call


def _attribute(name: str) -> property:
    return property(lambda self: getattr(self._data, name), doc=f"As ``numpy.ndarray.{name}``.")


for _name in (*_REDUCTIONS, *_MAKE_NEW, *_MAKE_VIEWS):
    setattr(DeviceArray, _name, _method(_name))
for _name in _ATTRIBUTES:
    setattr(DeviceArray, _name, _attribute(_name))
DeviceArray.T = property(lambda self: self.transpose(), doc="The same memory with its axes in reverse.")  # type: ignore[attr-defined]
