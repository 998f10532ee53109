"""A strict stand-in for the part of CuPy that the exercises need, on a virtual GPU."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from gpuguide.exercises.stand_ins.cuda_names import cuda_names
from gpuguide.exercises.stand_ins.cupy_names import METHODS, OF_ARRAYS, OF_SEQUENCES, UFUNCS, VALUES
from gpuguide.exercises.stand_ins.device_array import DeviceArray
from gpuguide.exercises.stand_ins.host_memory import HostMemory
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu

__all__ = ["FakeCupy"]

_SCALARS = (bool, int, float, complex, np.generic)


class FakeCupy:
    """A module ``cupy`` that works without a GPU and notes every launch and copy.

    It holds what exercises need and refuses the rest. Like CuPy it takes no NumPy array where it wants one of
    its own. Kernels are counted as one for each call; of reductions and sorting the real CuPy launches more.

    Parameters
    ----------
    gpu : VirtualGpu, optional
        The machine to run on; one of its own by default.

    Attributes
    ----------
    gpu : VirtualGpu
        The machine, with its log.
    ndarray : type
        Class of its arrays.
    n_allocations, bytes_allocated : int
        Buffers that it gave out on the device, and their bytes.

    Examples
    --------
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

    def __init__(self, gpu: VirtualGpu | None = None) -> None:
        self.gpu = gpu or VirtualGpu()
        self.ndarray: type[DeviceArray] = type("ndarray", (DeviceArray,), {"__module__": "cupy"})
        self.cuda = cuda_names(self.gpu)
        self.n_allocations = self.bytes_allocated = 0
        self._memory = HostMemory(self.gpu)

    def __getattr__(self, name: str) -> Any:
        if name in UFUNCS:
            return lambda *args, **kwargs: self.run_ufunc(getattr(np, name), *args, **kwargs)
        if name in METHODS:
            return lambda a, *args, **kwargs: getattr(a, name)(*args, **kwargs)
        if name in OF_ARRAYS:
            return lambda *args, **kwargs: self.run(name, getattr(np, name), *args, **kwargs)
        if name in OF_SEQUENCES:
            return lambda arrays, *args, **kwargs: self._join(name, arrays, *args, **kwargs)
        if name in VALUES:
            return getattr(np, name)
        raise AttributeError(
            f"The stand-in for CuPy has no {name!r}: it holds only what the exercises need. "
            "The exercise can be solved with what it has."
        )

    def __dir__(self) -> list[str]:
        tables = (*UFUNCS, *METHODS, *OF_ARRAYS, *OF_SEQUENCES, *VALUES)
        return sorted({*tables, *(name for name in vars(type(self)) if not name.startswith("_"))})

    # Between host and device.

    def asarray(self, a: Any, dtype: Any = None, order: str | None = None, **_: Any) -> Any:
        """Return `a` on the device: itself where it is there already, else a copy."""
        if isinstance(a, DeviceArray):
            return (
                a
                if dtype is None or a._data.dtype == dtype
                else self.run("astype", np.ndarray.astype, a, dtype)
            )
        if isinstance(a, list | tuple) and any(isinstance(part, DeviceArray) for part in a):
            return self._join("stack", a)
        layout: Any = order or "K"
        contents = np.array(a, dtype=dtype, order=layout)
        if contents.dtype.kind not in "biufc":
            raise ValueError(f"Unsupported dtype {contents.dtype}")
        if not contents.ndim:
            return self.full((), contents.item(), contents.dtype)
        array = self._allocate(contents)
        self.note_copy_to_device(array._buffer, contents.nbytes)
        return array

    def array(self, a: Any, dtype: Any = None, copy: bool = True, **_: Any) -> Any:
        """Return a new array on the device."""
        array = self.asarray(a, dtype)
        return array.copy() if array is a and copy else array

    def asnumpy(self, a: Any, stream: Any = None, order: str = "C", out: Any = None, **_: Any) -> Any:
        """Return `a` on the host."""
        if isinstance(a, DeviceArray):
            return a.get(order=order, out=out)
        contents = np.asarray(a)
        if out is None:
            return contents
        out[...] = contents
        return out

    def get_array_module(self, *args: Any) -> Any:
        """Return this module if one of the arguments is an array on the device, else NumPy."""
        return self if any(isinstance(a, DeviceArray) for a in args) else np

    def to_host(self, array: DeviceArray, out: Any, order: str) -> Any:
        """Copy to the host, into a new array or into `out`."""
        data = array._data
        if out is None:
            out = np.empty(data.shape, data.dtype, order="F" if order == "F" else "C")
            fresh = True
        else:
            _check_destination(data, out)
            fresh = self._memory.is_untouched(out)
        if data.size:
            if fresh:
                self._memory.touch(out)
            self.gpu.copy_to_host(f"{data.nbytes} bytes", data.nbytes)
        np.copyto(out, data)
        return out

    # New arrays.

    def empty(self, shape: Any, dtype: Any = float, **_: Any) -> Any:
        """Return a new array that nobody has written."""
        contents = np.empty(shape, dtype)
        contents.reshape(-1).view(np.uint8)[:] = 0xA5  # so that reading it is never right by chance
        return self._allocate(contents)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Any:
        """Return a new array of one value."""
        return self._make("fill", np.full(shape, self.unwrap(value), dtype))

    def zeros(self, shape: Any, dtype: Any = float, **_: Any) -> Any:
        """Return a new array of zeros."""
        array = self._allocate(np.zeros(shape, dtype))
        self.gpu.launch("memset", {array._buffer: array._data.nbytes}, kind="memset")
        return array

    def ones(self, shape: Any, dtype: Any = float, **_: Any) -> Any:
        """Return a new array of ones."""
        return self.full(shape, 1, dtype)

    def empty_like(self, a: Any, dtype: Any = None, **_: Any) -> Any:
        """Return a new array like `a` that nobody has written."""
        return self.empty(a.shape, dtype or a.dtype)

    def zeros_like(self, a: Any, dtype: Any = None, **_: Any) -> Any:
        """Return a new array like `a` of zeros."""
        return self.zeros(a.shape, dtype or a.dtype)

    def ones_like(self, a: Any, dtype: Any = None, **_: Any) -> Any:
        """Return a new array like `a` of ones."""
        return self.ones(a.shape, dtype or a.dtype)

    def full_like(self, a: Any, value: Any, dtype: Any = None, **_: Any) -> Any:
        """Return a new array like `a` of one value."""
        return self.full(a.shape, value, dtype or a.dtype)

    def arange(self, *args: Any, dtype: Any = None) -> Any:
        """Return evenly spaced numbers."""
        return self._make("arange", np.arange(*map(self._number, args), dtype=dtype))

    def linspace(self, *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """Return a number of evenly spaced numbers."""
        return self._make("linspace", np.linspace(*map(self._number, args), dtype=dtype, **kwargs))

    # What the arrays call.

    def run_ufunc(self, ufunc: Any, *operands: Any, **kwargs: Any) -> Any:
        """Apply a ufunc of NumPy to arrays of the device and numbers, and to nothing else."""
        for operand in operands:
            if not isinstance(operand, (DeviceArray, *_SCALARS)):
                raise TypeError(f"Unsupported type {type(operand)}")
        return self.run(ufunc.__name__, ufunc, *operands, **kwargs)

    def run(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Apply a function of NumPy to device arrays: a launch, unless its result is a view of one."""
        reads = [a for a in (*args, *kwargs.pop("reads", ())) if isinstance(a, DeviceArray)]
        out = kwargs.get("out")
        if out is not None and not isinstance(out, DeviceArray):
            raise TypeError(f"Unsupported type {type(out)}")
        contents = [self.unwrap(a) for a in args]
        options = {key: self.unwrap(value) for key, value in kwargs.items()}
        # A GPU divides by zero without a word.
        with np.errstate(all="ignore"):
            result = np.asarray(function(*contents, **options))
        if out is not None:
            self.note_launch(name, out, *reads)
            return out
        for array in reads:
            if result.size and np.may_share_memory(result, array._data):
                return self.wrap(result, array._buffer)
        array = self._allocate(result)
        self.note_launch(name, array, *reads)
        return array

    def unwrap(self, value: Any) -> Any:
        """Return the contents of a device array, and what is no array as it is; refuse arrays of the host."""
        if isinstance(value, np.ndarray):
            raise TypeError(f"Unsupported type {type(value)}")
        return value._data if isinstance(value, DeviceArray) else value

    def wrap(self, data: Any, buffer: int) -> Any:
        """Return an array of the device over memory of a buffer."""
        return self.ndarray(self, np.asarray(data), buffer)

    def index(self, key: Any) -> Any:
        """Return what NumPy indexes by; lists and arrays of the host are copied to the device for it."""
        return tuple(map(self._index, key)) if isinstance(key, tuple) else self._index(key)

    def note_launch(self, name: str, written: Any, *read: Any) -> None:
        """Queue a kernel that reads and writes arrays; like CuPy, none where there is nothing to write."""
        if not written._data.size:
            return
        touches: dict[Hashable, int] = {}
        for array in (written, *read):
            if isinstance(array, DeviceArray):
                touches[array._buffer] = touches.get(array._buffer, 0) + array._data.nbytes
        self.gpu.launch(f"{name} {written._data.dtype}", touches)

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

    def _allocate(self, contents: np.ndarray[Any, Any]) -> Any:
        self.n_allocations += 1
        self.bytes_allocated += contents.nbytes
        return self.wrap(contents, self.n_allocations)

    def _make(self, name: str, contents: np.ndarray[Any, Any]) -> Any:
        array = self._allocate(contents)
        self.note_launch(name, array)
        return array

    def _join(self, name: str, arrays: Any, *args: Any, **kwargs: Any) -> Any:
        if not all(isinstance(a, DeviceArray) for a in arrays):
            raise TypeError("Only cupy arrays can be concatenated")
        contents = [a._data for a in arrays]
        array = self._allocate(getattr(np, name)(contents, *args, **kwargs))
        self.note_launch(name, array, *arrays)
        return array


def _check_destination(data: np.ndarray[Any, Any], out: Any) -> None:
    """Refuse a destination that CuPy refuses."""
    if not isinstance(out, np.ndarray):
        raise TypeError("Only numpy.ndarray can be obtained fromcupy.ndarray")
    if out.dtype != data.dtype:
        raise TypeError(f"{out.dtype} array cannot be obtained from {data.dtype} array")
    if out.shape != data.shape:
        raise ValueError(f"Shape mismatch. Expected shape: {data.shape}, actual shape: {out.shape}")
