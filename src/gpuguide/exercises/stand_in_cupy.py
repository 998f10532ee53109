"""CuPy without a GPU: NumPy behind a wall, which notes each launch, and each copy that crosses the wall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from gpuguide.exercises.virtual_gpu import Memory, Stream, VirtualGpu, cuda_names

__all__ = ["Array", "Cupy", "bounds"]

Data = np.ndarray[Any, Any]
# Functions that only reserve memory.
_EMPTY = {"empty", "empty_like"}


class OutOfMemoryError(MemoryError):
    """As `cupy.cuda.memory.OutOfMemoryError`."""


class Cupy:
    """The module: the functions of NumPy, on arrays of the GPU and numbers alone.

    `gpu` has the clock, the streams and the log of launches and copies. With `limit`, arrays may use so many
    bytes at the same time; `used` and `most_used` say how many they do and did. `sent` and `fetched` hold the
    contents of all copies.
    """

    __name__ = "cupy"
    latest: Cupy | None = None
    """The last one that was made, for a reader who imports CuPy."""

    def __init__(self, gpu: VirtualGpu | None = None, limit: int | None = None) -> None:
        self.gpu = gpu or VirtualGpu()
        self.cuda = cuda_names(self.gpu)
        self.limit, self.used, self.most_used = limit, 0, 0
        self.ndarray: type[Array] = type("ndarray", (Array,), {"__module__": "cupy"})
        self.sent: list[Data] = []
        self.fetched: list[Data] = []
        self._fusing = False
        Cupy.latest = self

    def __getattr__(self, name: str) -> Any:
        return _named(self, np, name)

    def __deepcopy__(self, memo: object) -> Cupy:
        return self

    def put(self, array: Data) -> Any:
        """Make an array of the GPU without a trace in the log: an input that is there already."""
        return self.ndarray(self, np.array(array))

    def array(self, obj: Any, dtype: Any = None, copy: bool = True, order: str = "K") -> Any:
        """Copy an array, or numbers of the host, to the GPU."""
        if isinstance(obj, Array):
            return obj.astype(dtype or obj.dtype)
        data = np.array(self._unwrapped_list(obj), dtype, order=order)  # type: ignore[call-overload]
        array = self.ndarray(self, data)
        # A lone number travels with the launch that takes it.
        if np.ndim(obj) or isinstance(obj, np.ndarray):
            # Another dtype is made on the host, before the copy.
            source = obj if isinstance(obj, np.ndarray) and obj.dtype == data.dtype else data
            self._copy("to_device", source, data, None, blocking=False)
        return array

    def asarray(self, a: Any, dtype: Any = None, order: str = "K", *, blocking: bool = False) -> Any:
        """Copy to the GPU what is not there yet."""
        if isinstance(a, Array) and dtype in (None, a.dtype):
            return a
        return self.array(a, dtype, order=order)

    asanyarray = ascontiguousarray = asarray

    def asnumpy(
        self,
        a: Any,
        stream: Stream | None = None,
        order: str = "C",
        out: Any = None,
        *,
        blocking: bool = True,
    ) -> Any:
        """Copy to the host what is not there yet."""
        if isinstance(a, Array):
            return a.get(stream=stream, order=order, out=out, blocking=blocking)
        return np.asarray(a)

    def get_array_module(self, *arrays: Any) -> Any:
        """Return the module that arrays belong to."""
        return self if any(isinstance(a, Array) for a in arrays) else np

    def fuse(self, *functions: Callable[..., Any], **_: Any) -> Any:
        """Make one launch of a function."""
        if not functions:
            return self.fuse
        function = functions[0]

        def fused(*args: Any) -> Any:
            self._fusing = True
            try:
                result = function(*args)
            finally:
                self._fusing = False
            arrays = [a for a in (result, *args) if isinstance(a, Array)]
            self._launch(function.__name__, arrays[0], arrays[1:])
            return result

        return fused

    def get_default_memory_pool(self) -> SimpleNamespace:
        """Return what counts the memory of arrays."""

        def set_limit(size: int) -> None:
            self.limit = size or None

        return SimpleNamespace(
            used_bytes=lambda: self.used,
            total_bytes=lambda: self.used,
            free_all_blocks=lambda: None,
            get_limit=lambda: self.limit or 0,
            set_limit=set_limit,
        )

    def call(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Apply a function of NumPy behind the wall: a launch, unless its result is a view."""
        if name.endswith("_like") and args and isinstance(args[0], np.ndarray):
            args = (_Prototype(args[0]), *args[1:])  # only its shape and dtype count
        with np.errstate(all="ignore"):
            result = function(*self._unwrapped(args), **self._unwrapped(kwargs))
        arrays = [a for a in (*args, *kwargs.values()) if isinstance(a, Array)]
        return self._result(name, result, arrays)

    def _result(self, name: str, result: Any, arrays: list[Array]) -> Any:
        if isinstance(result, list | tuple) and any(isinstance(part, np.ndarray) for part in result):
            return type(result)(self._result(name, part, arrays) for part in result)
        if not isinstance(result, np.ndarray | np.generic):
            return result
        data = np.asarray(result)
        for array in arrays:
            if array._data is result:  # it was computed in place
                self._launch(name, array, arrays)
                return array
            if data.size and np.may_share_memory(data, array._data):
                return self.ndarray(self, data, array._buffer)
        array = self.ndarray(self, data)
        if name not in _EMPTY:
            self._launch(name, array, arrays)
        return array

    def _launch(self, name: str, written: Array, read: list[Array]) -> None:
        if written._data.size and not self._fusing:
            reads = tuple({bounds(array._data) for array in read})
            self.gpu.launch(f"{name} {written._data.dtype}", reads=reads, writes=(bounds(written._data),))

    def _copy(self, kind: str, source: Data, target: Data, stream: Stream | None, *, blocking: bool) -> None:
        on_host = source if kind == "to_device" else target
        wait = blocking or (stream is not None and not self.gpu.is_pinned(bounds(on_host)))
        (self.sent if kind == "to_device" else self.fetched).append(source.copy())
        self.gpu.copy(
            kind, f"the copy of {source.nbytes} bytes", bounds(source), bounds(target), stream, wait=wait
        )

    def _unwrapped(self, value: Any) -> Any:
        if isinstance(value, Array):
            return value._data
        if isinstance(value, tuple | list):
            return type(value)(map(self._unwrapped, value))
        if isinstance(value, dict):
            return {key: self._unwrapped(item) for key, item in value.items()}
        if isinstance(value, _Prototype):
            return value.array
        if isinstance(value, np.ndarray):
            raise TypeError(f"Unsupported type {np.ndarray}")  # as CuPy says it
        return value

    def _unwrapped_list(self, value: Any) -> Any:
        return [self._unwrapped(item) for item in value] if isinstance(value, list | tuple) else value

    def _allocate(self, nbytes: int) -> None:
        if self.limit is not None and self.used + nbytes > self.limit:
            raise OutOfMemoryError(
                f"Out of memory allocating {nbytes:,} bytes (allocated so far: {self.used:,} bytes, limit "
                f"set to: {self.limit:,} bytes)."
            )
        self.used += nbytes
        self.most_used = max(self.most_used, self.used)


@dataclass(frozen=True)
class _Prototype:
    """An array of the host after whose pattern one of the GPU is made."""

    array: Data


class _Names:
    """A part of the module, such as `cupy.linalg`."""

    def __init__(self, cp: Cupy, part: ModuleType) -> None:
        self._cp, self._part = cp, part

    def __getattr__(self, name: str) -> Any:
        return _named(self._cp, self._part, name)


def _named(cp: Cupy, module: ModuleType, name: str) -> Any:
    """Return what NumPy has under a name, behind the wall."""
    value = getattr(module, name, None)
    if name.startswith("_") or value is None:
        if name == "newaxis":
            return None
        raise AttributeError(f"The stand-in for CuPy has no {name!r}: it has NumPy's functions and streams.")
    if isinstance(value, ModuleType):
        return _Names(cp, value)
    if not callable(value) or isinstance(value, type):
        return value

    def function(*args: Any, **kwargs: Any) -> Any:
        return cp.call(name, value, args, kwargs)

    for method in ("reduce", "accumulate", "outer") if isinstance(value, np.ufunc) else ():
        setattr(function, method, partial(_method, cp, value, method))
    return function


def _method(cp: Cupy, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
    return cp.call(f"{ufunc.__name__}.{method}", getattr(ufunc, method), args, kwargs)


class _Buffer:
    """Memory of the GPU, which lives as long as an array or a view has it."""

    def __init__(self, cp: Cupy, nbytes: int) -> None:
        cp._allocate(nbytes)
        self._cp, self._nbytes = cp, nbytes

    def __del__(self) -> None:
        # Without memory there is none to give back.
        if hasattr(self, "_nbytes"):
            self._cp.used -= self._nbytes


class Array(NDArrayOperatorsMixin):
    """An array on the GPU: operators and methods are NumPy's, and what the host asks of it is a copy."""

    def __init__(self, cp: Cupy, data: Data, buffer: _Buffer | None = None) -> None:
        self._cp, self._data, self._buffer = cp, data, buffer or _Buffer(cp, data.nbytes)

    def __array__(self, *_: object, **__: object) -> Data:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy "
            "array explicitly."
        )

    def __deepcopy__(self, memo: object) -> Array:
        return type(self)(self._cp, self._data.copy())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        if isinstance(options.get("out"), tuple):
            options["out"] = options["out"][0] if len(options["out"]) == 1 else options["out"]
        return self._cp.call(name, getattr(ufunc, method), inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self._cp.call(function.__name__, function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # NumPy would look through the wall by one of these
            raise AttributeError(name)
        if not hasattr(self._data, name):
            raise AttributeError(f"'cupy.ndarray' object has no attribute {name!r}")
        value = getattr(self._data, name)
        if not callable(value):
            is_view = isinstance(value, np.ndarray)
            return type(self)(self._cp, value, self._buffer) if is_view else value
        method = getattr(np.ndarray, name)
        return lambda *args, **kwargs: self._cp.call(name, method, (self, *args), kwargs)

    def __getitem__(self, key: Any) -> Any:
        def take(data: Data, key: Any) -> Data:
            # One element is an array without dimensions here, and a view.
            part = data[key]
            return (
                part
                if isinstance(part, np.ndarray)
                else data[(*key, ...) if type(key) is tuple else (key, ...)]
            )

        return self._cp.call("take", take, (self, key), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")  # as CuPy says it
        self._data[self._cp._unwrapped(key)] = self._cp._unwrapped(value)
        self._cp._launch("copy", self, [value] if isinstance(value, Array) else [])

    def get(
        self, stream: Stream | None = None, order: str = "C", out: Any = None, *, blocking: bool = True
    ) -> Any:
        """Copy it to the host."""
        host = np.empty(self._data.shape, self._data.dtype, order) if out is None else out  # type: ignore[call-overload]
        if not isinstance(host, np.ndarray):
            raise TypeError("Only numpy.ndarray can be obtained from cupy.ndarray")
        if (host.dtype, host.shape) != (self._data.dtype, self._data.shape):
            raise ValueError(
                f"out has {host.dtype} of {host.shape}; {self._data.dtype} of {self._data.shape} come"
            )
        self._cp._copy("to_host", self._data, host, stream, blocking=blocking)
        host[...] = self._data
        return host

    def set(self, arr: Any, stream: Stream | None = None) -> None:
        """Copy an array of the host into it."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if (arr.dtype, arr.shape) != (self._data.dtype, self._data.shape):
            raise ValueError(
                f"{arr.dtype} of {arr.shape} cannot be set to {self._data.dtype} of {self._data.shape}"
            )
        self._cp._copy("to_device", arr, self._data, stream, blocking=stream is None)
        self._data[...] = arr

    def item(self) -> Any:
        """Copy its one number to the host."""
        return self.get().item()

    def tolist(self) -> Any:
        """Copy its numbers to the host."""
        return self.get().tolist()

    def __float__(self) -> float:
        return float(self.get())

    def __int__(self) -> int:
        return int(self.get())

    __index__ = __int__

    def __bool__(self) -> bool:
        return bool(self.get())

    def __str__(self) -> str:
        return str(self.get())

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(self.get(), spec)

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Its length along each axis, which may be set."""
        shape: tuple[int, ...] = self._data.shape
        return shape

    @shape.setter
    def shape(self, shape: int | tuple[int, ...]) -> None:
        self._data = self._data.reshape(shape)

    @property
    def device(self) -> Any:
        """The one GPU."""
        return self._cp.cuda.Device()


def bounds(array: Array | Data) -> Memory:
    """Return the first byte of an array's memory, and the end, wherever it lies."""
    data = array._data if isinstance(array, Array) else array
    first = data.__array_interface__["data"][0]
    if not data.size:
        return first, first
    spans = [(n - 1) * step for n, step in zip(data.shape, data.strides, strict=True)]
    return first + sum(s for s in spans if s < 0), first + sum(s for s in spans if s > 0) + data.itemsize
