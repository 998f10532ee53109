"""A strict stand-in for the part of CuPy that the exercises need, on a virtual GPU."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import nullcontext
from difflib import get_close_matches
from functools import partial, wraps
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from gpuguide.exercises.numpy_views import allocation, bounds
from gpuguide.exercises.simulator.machine import UnsupportedError
from gpuguide.exercises.stand_ins.cuda_names import Names, cuda_names, no_copy
from gpuguide.exercises.stand_ins.cupy_imports import stand_in
from gpuguide.exercises.stand_ins.cupy_names import (
    ABOUT,
    CODE,
    DEPENDING,
    LACKING,
    MAKERS,
    METHODS,
    OF_ARRAYS,
    OF_SEQUENCES,
    PARTS,
    UFUNCS,
    VALUES,
)
from gpuguide.exercises.stand_ins.host_memory import HostMemory, never_set, unset
from gpuguide.exercises.stand_ins.lines import line_now, named
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu

__all__ = ["DeviceArray", "FakeCupy"]

_SCALARS = (bool, int, float, complex, np.generic)
_REDUCTIONS = ("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var")
_MAKE_NEW = (
    "argsort",
    "astype",
    "clip",
    "copy",
    "cumprod",
    "cumsum",
    "dot",
    "flatten",
    "repeat",
    "round",
    "take",
)
_MAKE_VIEWS = ("ravel", "reshape", "squeeze", "swapaxes", "transpose", "view")
_ATTRIBUTES = ("dtype", "flags", "itemsize", "nbytes", "ndim", "size", "strides")


class DeviceArray(NDArrayOperatorsMixin):
    """An array on the virtual GPU; `FakeCupy` makes it.

    It refuses what a CuPy array refuses, with the same errors: NumPy arrays among its operands, and implicit
    conversion to one. Whatever needs a value on the host (``float``, ``bool``, ``item``, printing) copies.

    >>> cp = FakeCupy()
    >>> x = cp.arange(3)
    >>> float((x * x).sum()), len(cp.gpu.events("launch")), len(cp.gpu.events("to_host"))
    (5.0, 3, 1)
    """

    def __init__(self, cp: FakeCupy, data: np.ndarray[Any, Any], buffer: int) -> None:
        self._cp, self._data, self._buffer = cp, data, buffer

    # What NumPy calls.

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy "
            "array explicitly."
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What other libraries ask for; the address is none of the host's."""
        interface = self._data.__array_interface__
        return interface | {"data": (self._buffer << 40, False), "stream": 1}

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        out = kwargs.pop("out", None)
        if out is not None:
            kwargs["out"] = out[0]
        return self._cp.run_ufunc(ufunc, *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        same = getattr(self._cp, function.__name__, None)
        if same is None or not all(issubclass(t, DeviceArray | np.ndarray) for t in types):
            return NotImplemented
        return same(*args, **kwargs)

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

    @property
    def shape(self) -> tuple[int, ...]:
        """As ``numpy.ndarray.shape``; another one may be set, if the memory need not move for it."""
        shape: tuple[int, ...] = self._data.shape
        return shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        seen = self._data.reshape(shape)
        if not np.may_share_memory(seen, self._data) and self._data.size:
            raise AttributeError(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the "
                "desired shape."
            )
        self._data = seen

    @property
    def device(self) -> Any:
        """The device that it lies on."""
        return self._cp.cuda.Device()

    def set(self, arr: Any, stream: Any = None) -> None:
        """Copy an array of the host into this one, as ``cupy.ndarray.set`` does."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if self._data.dtype != arr.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self._data.dtype} array")
        if self._data.shape != arr.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self._data.shape}, new shape: {arr.shape}")
        with stream or nullcontext():
            self._data[...] = self._cp.send(arr, arr, self._buffer)

    def fill(self, value: Any) -> None:
        """Put one value everywhere."""
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        """Sort in place."""
        self._cp.note_launch("sort", self, self)
        self._data.sort(axis=axis)

    def __getitem__(self, key: Any) -> Any:
        if _is_advanced(key):
            index = self._cp.index(key)
            return self._cp.run("take", lambda: self._data[index], reads=(self,))
        part = self._data[key]
        if not isinstance(part, np.ndarray):
            # A single element: NumPy copies it, CuPy returns a view of it.
            part = self._data[(*key, ...) if isinstance(key, tuple) else (key, ...)]
        return self._cp.wrap(part, self._buffer)

    def __setitem__(self, key: Any, value: Any) -> None:
        if _is_advanced(key):
            value = value if isinstance(value, DeviceArray) else self._cp.asarray(value, self._data.dtype)
        elif isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        contents = self._cp.unwrap(value)
        part = self._cp.index(key)
        self._cp.note_launch("copy", self[key] if not _is_advanced(key) else self, value)
        self._data[part] = contents

    def __reduce__(self) -> Any:  # so that copy.copy goes by the host, as with CuPy
        return self._cp.array, (self.get(),)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Any]:
        if not self._data.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))


def _class_of(value: Any) -> type:
    """Return the class as a reader knows it: the host's arrays may be stand-ins, too."""
    return np.ndarray if isinstance(value, np.ndarray) else type(value)


def _is_advanced(key: Any) -> bool:
    """Return whether an index picks elements by lists or arrays, so that it makes a copy and not a view."""
    parts = key if isinstance(key, tuple) else (key,)
    return any(isinstance(part, list | np.ndarray | DeviceArray) for part in parts)


def _method(name: str) -> Callable[..., Any]:
    def call(self: DeviceArray, *args: Any, **kwargs: Any) -> Any:
        for lacking in sorted({"initial", "where"} & {*kwargs}):  # NumPy has them, CuPy has not
            raise TypeError(f"{name}() got an unexpected keyword argument {lacking!r}")
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


# CuPy reduces by these alone.
_REDUCING = {"add": ("sum", "cumsum"), "multiply": ("prod", "cumprod")}


class _Ufunc:
    """A universal function: it takes arrays of the device and numbers."""

    def __init__(self, cp: FakeCupy, ufunc: Any) -> None:
        self._cp, self._ufunc, self.__name__ = cp, ufunc, ufunc.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._cp.run_ufunc(self._ufunc, *args, **kwargs)

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        method = self._method("reduce", array)
        return method(axis=axis, dtype=dtype, out=out, keepdims=keepdims)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        return self._method("accumulate", array)(axis=axis, dtype=dtype, out=out)

    def outer(self, a: Any, b: Any, **kwargs: Any) -> Any:
        apart = (..., *(None,) * getattr(b, "ndim", 0))
        return self(a[apart] if isinstance(a, DeviceArray) else a, b, **kwargs)

    def _method(self, name: str, array: Any) -> Callable[..., Any]:
        if self.__name__ not in _REDUCING:
            raise NotImplementedError(f"`cupy_{self.__name__}.{name}` is not supported yet")
        method: Callable[..., Any] = getattr(array, _REDUCING[self.__name__][name == "accumulate"])
        return method


def _laid_out(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Let what makes an array of one value take an order of its memory."""
    is_like = name.endswith("_like")

    @wraps(function)
    def made(self: FakeCupy, *args: Any, order: Any = None, **kwargs: Any) -> Any:
        if is_like and kwargs.pop("subok", None) is not None:
            raise TypeError("subok is not supported yet")
        array = function(self, *args, **kwargs)
        keeps = is_like and order in (None, "K", "A")
        if order == "F" or (keeps and _is_fortran(args[0] if args else kwargs["a"])):
            array._data = array._data.reshape(-1).reshape(array._data.shape, order="F")
        return array

    return made


def _is_fortran(a: Any) -> bool:
    flags = getattr(a, "flags", None)
    return flags is not None and bool(flags.f_contiguous and not flags.c_contiguous)


class FakeCupy:
    """A module ``cupy`` that works without a GPU and notes every launch and copy.

    It has what exercises need and refuses the rest. Like CuPy, it takes no NumPy array where it expects one
    of its own. Each call counts as one kernel; for reductions and sorting, the real CuPy launches more.

    Attributes
    ----------
    gpu : VirtualGpu
        The machine, with its log.
    ndarray : type
        Class of its arrays.
    n_allocations, bytes_allocated : int
        Buffers that it gave out on the device, and their bytes.
    unset_read_at : int or None
        The line that first launched a kernel on memory of ``empty`` that was not set.

    >>> cp = FakeCupy()
    >>> x = cp.asarray(np.ones(3, np.float32))
    >>> cp.asnumpy(2 * x)
    array([2., 2., 2.], dtype=float32)
    >>> [event.name for event in cp.gpu.events("to_device", "launch", "to_host")]
    ['12 bytes', 'multiply float32', '12 bytes']
    >>> x + np.ones(3, np.float32)
    Traceback (most recent call last):
    TypeError: Unsupported type <class 'numpy.ndarray'>
    """

    __name__ = "cupy"
    __reduce_ex__ = no_copy

    def __init__(self, gpu: VirtualGpu | None = None) -> None:
        self.gpu = gpu or VirtualGpu()
        self.ndarray = self._array_class()
        self.cuda = cuda_names(self.gpu)
        self.n_allocations = self.bytes_allocated = 0
        self.unset_read_at: int | None = None
        self._empty = set[int]()
        #: What crossed the link, in order; a list of the reader's as that list.
        self.sent, self.fetched = list[Any](), list[Any]()
        #: What arrives of an array that is sent, and of one that is fetched. A judge may change them, to see
        #: what the result is made of.
        self.arriving: Callable[[Any], Any] = lambda contents: contents
        self.returning: Callable[[Any], Any] = lambda contents: contents
        self._memory, self._is_fusing = HostMemory(self.gpu), False
        strided = Names(
            "cupy.lib.stride_tricks", as_strided=self._as_strided, sliding_window_view=self._windows
        )
        self.lib = Names("cupy.lib", stride_tricks=strided)
        self.r_, self.c_ = _Joined(self, "r_"), _Joined(self, "c_")
        self.mgrid, self.ogrid = _Grid(self, "mgrid"), _Grid(self, "ogrid")
        self.linalg = Names("cupy.linalg", _others=lambda name: self._generic(f"linalg.{name}", np.linalg))
        stand_in(self)

    def __getattr__(self, name: str) -> Any:
        function: Any = None
        if name in METHODS:
            function = lambda a, *args, **kwargs: getattr(a, name)(*args, **kwargs)  # noqa: E731
        if name in OF_ARRAYS:
            function = lambda *args, **kwargs: self.run(name, getattr(np, name), *args, **kwargs)  # noqa: E731
        if name in PARTS:
            function = lambda ary, *args, **kwargs: self._parts(  # noqa: E731
                getattr(np, name), ary, *args, **kwargs
            )
        if name in OF_SEQUENCES:
            function = lambda arrays, *args, **kwargs: self._join(name, arrays, *args, **kwargs)  # noqa: E731
        if function is not None:
            return named(f"cp.{name}", function)
        if name in VALUES:
            return getattr(np, name)
        if name in CODE:
            raise UnsupportedError(f"cp.{name}: code in CUDA C++")
        generic = self._generic(name, np)
        if generic is not None:
            return generic
        close = [] if hasattr(np, name) else get_close_matches(name, dir(self), 1, 0.75)
        known = (
            f"Did you mean {close[0]!r}?"
            if close
            else ("It has only what the exercises need. You can solve the exercise with what it has.")
        )
        raise AttributeError(f"The stand-in for CuPy has no {name!r}. {known}")

    def __dir__(self) -> list[str]:
        tables = (*UFUNCS, *METHODS, *OF_ARRAYS, *OF_SEQUENCES, *PARTS, *VALUES)
        return sorted({*tables, *(name for name in vars(type(self)) if not name.startswith("_"))})

    # Between host and device.

    def asarray(self, a: Any, dtype: Any = None, order: str | None = None, *, blocking: bool = False) -> Any:
        """Return `a` on the device: itself where it is there already, else a copy."""
        if isinstance(a, DeviceArray):
            wanted: Any = order or "K"
            if np.asarray(a._data, dtype, order=wanted) is a._data:
                return a
            return self.run("astype", np.ndarray.astype, a, dtype or a._data.dtype, wanted)
        if isinstance(a, list | tuple) and any(isinstance(part, DeviceArray) for part in a):
            return self._join("stack", a)
        layout: Any = order or "K"
        contents = np.array(a, dtype=dtype, order=layout)
        if contents.dtype.kind not in "biufc":
            raise ValueError(f"Unsupported dtype {contents.dtype}")
        if not contents.ndim:
            return self.full((), contents.item(), contents.dtype)
        array = self._allocate(contents)
        contents[...] = self.send(contents if isinstance(a, np.ndarray) else a, contents, array._buffer)
        if blocking:
            self.gpu.synchronize()
        return array

    def asanyarray(
        self, a: Any, dtype: Any = None, order: str | None = None, *, blocking: bool = False
    ) -> Any:
        """Return `a` on the device, as `asarray` does."""
        return self.asarray(a, dtype, order, blocking=blocking)

    def asfortranarray(self, a: Any, dtype: Any = None) -> Any:
        """Return `a` on the device, in one piece and in the order of Fortran."""
        return self.asarray(a, dtype, "F")

    def ascontiguousarray(self, a: Any, dtype: Any = None) -> Any:
        """Return `a` on the device, in one piece and in the order of C."""
        array = self.asarray(a, dtype, "C")
        return array if array.flags.c_contiguous else array.copy()

    def array(
        self,
        obj: Any,
        dtype: Any = None,
        copy: bool = True,
        order: str = "K",
        subok: bool = False,
        ndmin: int = 0,
        *,
        blocking: bool = False,
    ) -> Any:
        """Return a new array on the device."""
        array = self.asarray(obj, dtype, order, blocking=blocking)
        array = array.copy(order) if array is obj and copy else array
        return array.reshape((1,) * (ndmin - array.ndim) + array.shape) if array.ndim < ndmin else array

    def asnumpy(
        self, a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True
    ) -> Any:
        """Return `a` on the host."""
        if isinstance(a, DeviceArray):
            return a.get(order=order, out=out)
        contents = np.asarray(a)
        if out is None:
            return contents
        out[...] = contents
        return out

    def send(self, passed: Any, contents: Any, buffer: int) -> Any:
        """Note a copy into a buffer, and return what arrives there."""
        self.note_copy_to_device(buffer, contents.nbytes)
        self.sent.append(np.array(passed, order="C") if isinstance(passed, np.ndarray) else passed.copy())
        return self.arriving(contents)

    def get_array_module(self, *args: Any) -> Any:
        """Return this module if one of the arguments is an array on the device, else NumPy."""
        return self if any(isinstance(a, DeviceArray) for a in args) else np

    def get_default_memory_pool(self) -> Any:
        """Return what frees memory that no array uses any more, which is free here at once."""
        return Names("the memory pool of cupy", free_all_blocks=lambda stream=None: None)

    def to_host(self, array: DeviceArray, out: Any, order: str) -> Any:
        """Copy to the host, into a new array or into `out`."""
        if self._is_fusing:
            raise TypeError(
                "A fused function works on the GPU alone; nothing of it can be copied to the host."
            )
        data = array._data
        contents = self.returning(data)
        if out is None:
            out = np.empty_like(contents, order="F" if order == "F" else "C")
            fresh = True
        else:
            _check_destination(data, out)
            fresh = self._memory.is_untouched(out)
        if data.size:
            if fresh:
                self._memory.touch(out)
            self.gpu.copy_to_host(f"{data.nbytes} bytes", data.nbytes)
        np.copyto(out, contents)
        self.fetched.append(data.copy())
        return out

    # New arrays.

    def empty(self, shape: Any, dtype: Any = float) -> Any:
        """Return a new array that has not been written."""
        array = self._allocate(unset(shape, dtype))
        self._empty.add(array._buffer)
        return array

    def holds_unset(self, array: DeviceArray) -> bool:
        """Return whether an array has elements of ``empty`` that were never set."""
        return array._buffer in self._empty and never_set(array._data)

    def full(self, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
        """Return a new array of one value."""
        return self._make("fill", np.full(shape, self.unwrap(fill_value), dtype))

    def zeros(self, shape: Any, dtype: Any = float) -> Any:
        """Return a new array of zeros."""
        array = self._allocate(np.zeros(shape, dtype))
        self.gpu.launch("memset", {array._buffer: array._data.nbytes}, kind="memset")
        return array

    def ones(self, shape: Any, dtype: Any = float) -> Any:
        """Return a new array of ones."""
        return self.full(shape, 1, dtype)

    def empty_like(self, a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
        """Return a new array like `a` that has not been written."""
        return self.empty(a.shape if shape is None else shape, dtype or a.dtype)

    def zeros_like(self, a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
        """Return a new array like `a` of zeros."""
        return self.zeros(a.shape if shape is None else shape, dtype or a.dtype)

    def ones_like(self, a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
        """Return a new array like `a` of ones."""
        return self.ones(a.shape if shape is None else shape, dtype or a.dtype)

    def full_like(self, a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Any:
        """Return a new array like `a` of one value."""
        return self.full(a.shape if shape is None else shape, fill_value, dtype or a.dtype)

    def arange(self, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
        """Return evenly spaced numbers."""
        bounds = (0, start) if stop is None else (start, stop)
        return self._make("arange", np.arange(*map(self._number, (*bounds, step)), dtype=dtype))

    def linspace(
        self,
        start: Any,
        stop: Any,
        num: int = 50,
        endpoint: bool = True,
        retstep: bool = False,
        dtype: Any = None,
        axis: int = 0,
    ) -> Any:
        """Return a number of evenly spaced numbers, and on request the step between them."""
        ends = self._number(start), self._number(stop)
        numbers, step = np.linspace(*ends, num, endpoint, retstep=True, dtype=dtype, axis=axis)
        made = self._make("linspace", numbers)
        return (made, step) if retstep else made

    def clip(self, a: Any, a_min: Any, a_max: Any, out: Any = None) -> Any:
        """Return the values brought between two bounds."""
        return a.clip(a_min, a_max, out=out)

    def average(self, a: Any, axis: Any = None, weights: Any = None) -> Any:
        """Return the mean, or the mean with weights, for which CuPy asks whether they add up to zero."""
        if weights is None:
            return a.mean(axis)
        total = weights.sum(axis)
        if (total == 0).any():
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        return (a * weights).sum(axis) / total

    def pad(self, array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
        """Return a copy with more elements of one value at the ends of its axes."""
        if mode != "constant":
            raise NotImplementedError(
                f"The stand-in for CuPy pads with constants only, not by mode {mode!r}."
            )
        contents = np.pad(self.unwrap(array), pad_width, constant_values=constant_values)
        padded = self._allocate(contents)
        self.note_launch("copy", padded, array)
        for axis in range(contents.ndim):
            before, after = np.broadcast_to(pad_width, (contents.ndim, 2))[axis]
            # CuPy fills each end by itself.
            for width in (before, after):
                if width:
                    self.note_launch("fill", padded)
        return padded

    def fuse(self, *functions: Any, kernel_name: str = "") -> Any:
        """Return a function, or a decorator for one, whose operators make one launch together."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            name = kernel_name or function.__name__
            if not name.isidentifier():  # CUDA C++ has no lambdas that are kernels
                raise ValueError(f'Invalid kernel name: "{name}"')

            def fused(*operands: Any) -> Any:
                self._is_fusing = True
                try:
                    result = function(*operands)
                finally:
                    self._is_fusing = False
                written = [each for each in (result, *operands) if isinstance(each, DeviceArray)]
                self.note_launch(name, written[0], *operands)
                return result

            return named(name, fused)

        return decorate(*functions) if functions else decorate

    # What the arrays call.

    def run_ufunc(self, ufunc: Any, *operands: Any, **kwargs: Any) -> Any:
        """Apply a ufunc of NumPy to arrays of the device and numbers, and to nothing else."""
        for operand in operands:
            if not isinstance(operand, (DeviceArray, *_SCALARS)):
                raise TypeError(f"Unsupported type {_class_of(operand)}")
        return self.run(ufunc.__name__, ufunc, *operands, **kwargs)

    def run(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Apply a function of NumPy to device arrays: a launch, unless its result is a view of one."""
        reads = [a for a in (*args, *kwargs.pop("reads", ())) if isinstance(a, DeviceArray)]
        out = kwargs.get("out")
        if out is not None and not isinstance(out, DeviceArray):
            raise TypeError(f"Unsupported type {_class_of(out)}")
        contents = [self.unwrap(a) for a in args]
        options = {key: self.unwrap(value) for key, value in kwargs.items()}
        if out is not None:  # it may be among those that are read
            self._note_unset(reads)
        # A GPU divides by zero silently.
        with np.errstate(all="ignore"):
            result = function(*contents, **options)
        if isinstance(result, tuple) and out is None:
            return tuple(self._result(name, np.asarray(each), reads) for each in result)
        for last in args[1:]:  # a result may also be given by its place
            if isinstance(last, DeviceArray) and last._data is result:
                self.note_launch(name, last, *(each for each in reads if each is not last))
                return last
        if out is not None:
            self.note_launch(name, out, *reads)
            return out
        return self._result(name, np.asarray(result), reads)

    def _result(self, name: str, result: Any, reads: list[Any]) -> Any:
        for array in reads:
            if result.size and np.may_share_memory(result, array._data):
                return self.wrap(result, array._buffer)
        array = self._allocate(result)
        self.note_launch(name, array, *reads)
        return array

    def unwrap(self, value: Any) -> Any:
        """Return the contents of a device array, and what is no array as it is; refuse arrays of the host."""
        if isinstance(value, np.ndarray):
            raise TypeError(f"Unsupported type {_class_of(value)}")
        return value._data if isinstance(value, DeviceArray) else value

    def wrap(self, data: Any, buffer: int) -> Any:
        """Return an array of the device over memory of a buffer."""
        array = object.__new__(self.ndarray)
        DeviceArray.__init__(array, self, np.asarray(data), buffer)
        return array

    def index(self, key: Any) -> Any:
        """Return what NumPy indexes by; lists and arrays of the host are copied to the device for it."""
        return tuple(map(self._index, key)) if isinstance(key, tuple) else self._index(key)

    def note_launch(self, name: str, written: Any, *read: Any) -> None:
        """Queue a kernel that reads and writes arrays; like CuPy, none where there is nothing to write."""
        self._note_unset(read)
        if self._is_fusing or not written._data.size:
            return
        touches: dict[Hashable, int] = {}
        for array in (written, *read):
            if isinstance(array, DeviceArray):
                touches[array._buffer] = touches.get(array._buffer, 0) + array._data.nbytes
        self.gpu.launch(f"{name} {written._data.dtype}", touches)

    def _note_unset(self, read: Iterable[Any]) -> None:
        if any(isinstance(each, DeviceArray) and self.holds_unset(each) for each in read):
            self.unset_read_at = self.unset_read_at or line_now(self.gpu.source)

    def note_copy_to_device(self, buffer: int, nbytes: int) -> None:
        """Copy bytes of the host into a buffer; nothing happens for none."""
        if nbytes:
            self.gpu.copy_to_device(f"{nbytes} bytes", buffer, nbytes)

    def _index(self, part: Any) -> Any:
        if isinstance(part, list | np.ndarray):
            part = self.asarray(part)
        if not isinstance(part, DeviceArray):
            return part
        if part._data.dtype.kind == "b":
            self.gpu.copy_to_host("the number of elements that a mask picks", 8)
        return part._data

    def _number(self, value: Any) -> Any:
        return value.item() if isinstance(value, DeviceArray) else value

    def _array_class(self) -> type[DeviceArray]:
        """Return the class of this module's arrays: called by a reader, it makes an empty one."""

        def new(_: type, shape: Any, dtype: Any = float) -> Any:
            return self.empty(shape, dtype)

        members = {"__module__": "cupy", "__new__": new, "__init__": lambda self, *args, **kwargs: None}
        return type("ndarray", (DeviceArray,), members)

    def _allocate(self, contents: np.ndarray[Any, Any]) -> Any:
        self.n_allocations += 1
        self.bytes_allocated += contents.nbytes
        return self.wrap(contents, self.n_allocations)

    def _make(self, name: str, contents: np.ndarray[Any, Any]) -> Any:
        array = self._allocate(contents)
        self.note_launch(name, array)
        return array

    def _generic(self, name: str, module: Any) -> Callable[..., Any] | None:
        """Return CuPy's counterpart of any other function of NumPy that takes arrays, None if it has none."""
        function: Any = getattr(module, name.rpartition(".")[2], None)
        if name in LACKING:
            return None
        if isinstance(function, np.ufunc):
            return _Ufunc(self, function)
        if hasattr(function, "_implementation"):  # NumPy lets other arrays have a say in these
            return named(f"cp.{name}", partial(self._as_numpy, name, function))
        return None

    def _as_numpy(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Apply a function of NumPy to arrays of the device, which may also come in lists."""
        reads: list[DeviceArray] = []

        def contents(value: Any) -> Any:
            if isinstance(value, list | tuple):
                return type(value)(map(contents, value))
            reads.extend([value] if isinstance(value, DeviceArray) else [])
            return self.unwrap(value)

        options = {key: contents(value) for key, value in kwargs.items() if key != "out"}
        operands = [contents(value) for value in args]
        if not reads:
            raise TypeError(f"Unsupported type {_class_of(args[0] if args else None)}")
        if name in ABOUT:
            return function(*operands, **options)
        if name in DEPENDING:
            self.gpu.copy_to_host("the number of elements that are picked", 8)
        out = kwargs.get("out")
        if out is not None:
            options["out"] = self.unwrap(out)
        with np.errstate(all="ignore"):
            result = function(*operands, **options)
        if result is None or out is not None:  # it has written to an array that was given
            self.note_launch(name, reads[0] if out is None else out, *reads)
            return out
        if isinstance(result, list | tuple):
            parts = [self._result(name, np.asarray(each), reads) for each in result]
            return parts if isinstance(result, list) else tuple(parts)
        return self._result(name, np.asarray(result), reads)

    def _parts(self, function: Callable[..., Any], ary: Any, *args: Any, **kwargs: Any) -> list[Any]:
        """Return parts of an array, which are views of it."""
        contents = self.unwrap(ary)
        return [self.wrap(part, ary._buffer) for part in function(contents, *args, **kwargs)]

    def _as_strided(self, x: Any, shape: Any = None, strides: Any = None) -> Any:
        """Return a view of other strides; of what lies outside of the array's own memory there is none."""
        view = as_strided(x._data, shape, strides)
        (low, high), (first, last) = bounds(view), bounds(allocation(x._data))
        if view.size and not first <= low <= high <= last:
            raise ValueError("as_strided reaches beyond the memory of the array")
        return self.wrap(view, x._buffer)

    def _windows(self, x: Any, window_shape: Any, axis: Any = None) -> Any:
        return self.wrap(sliding_window_view(x._data, window_shape, axis, writeable=True), x._buffer)

    def _join(self, name: str, arrays: Any, *args: Any, **kwargs: Any) -> Any:
        if not all(isinstance(a, DeviceArray) for a in arrays):
            raise TypeError("Only cupy arrays can be concatenated")
        contents = [a._data for a in arrays]
        array = self._allocate(getattr(np, name)(contents, *args, **kwargs))
        self.note_launch(name, array, *arrays)
        return array


class _Grid:
    """What is indexed to make places: ``cupy.mgrid`` or ``cupy.ogrid``."""

    def __init__(self, cp: FakeCupy, name: str) -> None:
        self._cp, self._name = cp, name

    def __getitem__(self, key: Any) -> Any:
        made = getattr(np, self._name)[key]
        parts = [self._cp._make(self._name, part) for part in (made if isinstance(made, tuple) else (made,))]
        return tuple(parts) if isinstance(made, tuple) else parts[0]


class _Joined:
    """What is indexed to join arrays: ``cupy.r_`` or ``cupy.c_``."""

    def __init__(self, cp: FakeCupy, name: str) -> None:
        self._cp, self._name = cp, name

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        joined = self._cp._allocate(getattr(np, self._name)[tuple(map(self._cp.unwrap, parts))])
        self._cp.note_launch("concatenate", joined, *parts)
        return joined


def _maker(name: str) -> Callable[..., Any]:
    def make(self: FakeCupy, *args: Any, **kwargs: Any) -> Any:
        return self._make(name, getattr(np, name)(*map(self._number, args), **kwargs))

    make.__doc__ = f"As ``numpy.{name}``, on the device."
    return make


for _name in MAKERS:
    setattr(FakeCupy, _name, _maker(_name))
for _name, _function in vars(FakeCupy).items():
    if not _name.startswith("_"):
        named(f"cp.{_name}", _function)
for _name in ("empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like"):
    setattr(FakeCupy, _name, _laid_out(_name, getattr(FakeCupy, _name)))


def _check_destination(data: np.ndarray[Any, Any], out: Any) -> None:
    """Refuse a destination that CuPy refuses."""
    if not isinstance(out, np.ndarray):
        raise TypeError("Only numpy.ndarray can be obtained fromcupy.ndarray")
    if out.dtype != data.dtype:
        raise TypeError(f"{out.dtype} array cannot be obtained from {data.dtype} array")
    if out.shape != data.shape:
        raise ValueError(f"Shape mismatch. Expected shape: {data.shape}, actual shape: {out.shape}")
