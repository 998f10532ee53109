"""Memory that was never written: what it holds, and what the first write to it costs the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import EllipsisType
from typing import Any

import numpy as np

from gpuguide.exercises.numpy_views import bounds
from gpuguide.exercises.stand_ins.virtual_gpu import VirtualGpu
from gpuguide.measure.buffers import pattern

__all__ = ["FakeNumpy", "HostArray", "HostMemory", "never_by_chance", "never_set", "unset"]

# More than any exercise makes; the system only promises the memory of a larger array, until it is written.
_MOST_FILLED_BYTES = 1 << 24
# What the system finds at a time.
_PAGE_BYTES = 4096
# Numbers of any type but those of more than 64 bits, by NumPy's letters.
_FILLED = "efdFDbBhHiIlLqQ"


def unset(shape: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Return an array of new memory, which is never right by chance: no sum, product or maximum hides it.

    >>> out = unset(3, np.float32)
    >>> out[:2] = np.nan
    >>> never_set(out), never_set(out[:2])
    (True, False)
    """
    return _filled(np.empty(shape, dtype))


def _filled(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    word, bits = _unset_bits(array.dtype)
    array.ravel("K").view(word)[:] = bits
    return array


@contextmanager
def never_by_chance() -> Iterator[None]:
    """Let NumPy's new memory be as that of `unset`: it could hold the right result of a former call.

    >>> with never_by_chance():
    ...     out = np.empty_like(np.arange(3.0))
    >>> never_set(out)
    True
    """

    def filling(make: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(make)
        def made(*args: Any, **kwargs: Any) -> Any:
            array = make(*args, **kwargs)
            is_filled = array.dtype.char in _FILLED and array.nbytes <= _MOST_FILLED_BYTES
            return _filled(array) if is_filled else array

        return made

    makers = {name: getattr(np, name) for name in ("empty", "empty_like")}
    for name, make in makers.items():
        setattr(np, name, filling(make))
    try:
        yield
    finally:
        for name, make in makers.items():
            setattr(np, name, make)


def never_set(array: np.ndarray[Any, Any]) -> bool:
    """Return whether an array still has an element as `unset` left it."""
    word, bits = _unset_bits(array.dtype)
    return bool((np.ascontiguousarray(array).reshape(-1).view(word) == bits).any())


def _unset_bits(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], int]:
    word, bits = pattern(dtype, "sentinel")
    # The smallest integer times an even number would be 0.
    return word, bits if dtype.kind in "fc" else int("a5" * dtype.itemsize, 16)


class _Pages:
    """Which pages of an array's memory were never written."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._low, self._high = bounds(array)
        n = -(-(self._high - self._low) // _PAGE_BYTES)
        self._untouched = np.ones(n, bool)
        self._nbytes = np.full(n, _PAGE_BYTES)
        self._nbytes[-1:] = self._high - self._low - (n - 1) * _PAGE_BYTES

    def untouched(self, part: np.ndarray[Any, Any]) -> Any:
        """Return which pages of the part were never written; none of it lies elsewhere."""
        low, high = bounds(part)
        is_here = np.zeros_like(self._untouched)
        if self._untouched.any() and part.size and self._low <= low and high <= self._high:
            places: Any = part.__array_interface__["data"][0] - self._low
            for extent, step in zip(part.shape, part.strides, strict=True):
                places = np.add.outer(places, step * np.arange(extent))
            is_here[places // _PAGE_BYTES] = True
        return is_here & self._untouched

    def touch(self, part: np.ndarray[Any, Any]) -> int:
        """Write to a part; return the bytes of the pages that this was the first write to."""
        new = self.untouched(part)
        self._untouched &= ~new
        return int(self._nbytes[new].sum())


class HostArray(np.ndarray[Any, Any]):
    """A NumPy array that knows which of its memory was ever written.

    Attributes
    ----------
    machine : HostMemory or None
        Where its first write costs time, and each new array that is made of it.
    pages : object
        What it knows of its memory; its views know the same.

    >>> np_ = FakeNumpy(VirtualGpu())
    >>> x = np_.empty(3)
    >>> x.is_untouched
    True
    >>> x[:] = 1
    >>> x.is_untouched
    False
    """

    machine: HostMemory | None = None
    pages: _Pages | None = None

    def __array_finalize__(self, of: Any) -> None:
        self.machine, self.pages = getattr(of, "machine", None), getattr(of, "pages", None)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._part(key)._touch()
        super().__setitem__(key, value)

    @property
    def is_untouched(self) -> bool:
        """Whether some of its memory was never written."""
        return self.pages is not None and bool(self.pages.untouched(self).any())

    @property
    def flat(self) -> Any:
        """As ``numpy.ndarray.flat``, which is there to be written."""
        self._touch()
        return super().flat

    @flat.setter
    def flat(self, value: Any) -> None:
        self.flat[:] = value

    def seen_as(self, view: np.ndarray[Any, Any]) -> HostArray:
        """Let a view of its memory know what it knows."""
        array: HostArray = view.view(HostArray)
        array.machine, array.pages = self.machine, self.pages
        return array

    def _part(self, key: Any) -> Any:
        """Return a view of what an index stands for; where there is none, the whole array will do."""
        keys = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(each, int | np.integer | slice | EllipsisType | None) for each in keys):
            return self
        part: Any = self[keys if ... in keys else (*keys, ...)]  # of a single element, too
        return part if np.may_share_memory(part, self) else self

    def fill(self, value: Any) -> None:
        """As ``numpy.ndarray.fill``."""
        self._touch()
        super().fill(value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        for array in out or ():
            if isinstance(array, HostArray):
                array._touch()
        if out is not None:
            kwargs["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
        if out is None:
            machines = [array.machine for array in inputs if isinstance(array, HostArray)]
            return self._made(result, next(filter(None, machines), None))
        return out[0]

    def copy(self, order: Any = "C") -> Any:
        """As ``numpy.ndarray.copy``: new memory, which is written."""
        return self._made(_plain(self).copy(order), self.machine)

    def flatten(self, order: Any = "C") -> Any:
        """As ``numpy.ndarray.flatten``: new memory, which is written."""
        return self._made(_plain(self).flatten(order), self.machine)

    def astype(self, *args: Any, **kwargs: Any) -> Any:
        """As ``numpy.ndarray.astype``: new memory, which is written, unless there is nothing to do."""
        made = _plain(self).astype(*args, **kwargs)
        return self if np.may_share_memory(made, self) else self._made(made, self.machine)

    @staticmethod
    def _made(result: Any, machine: HostMemory | None) -> Any:
        return machine.written(result) if machine and isinstance(result, np.ndarray) else result

    def _touch(self) -> None:
        if self.machine is not None:
            self.machine.touch(self)


class HostMemory:
    """The host's memory: writing an array for the first time makes the system find pages for it.

    >>> gpu = VirtualGpu()
    >>> memory = HostMemory(gpu)
    >>> out = FakeNumpy(gpu).empty(1_000_000)
    >>> memory.is_untouched(out)
    True
    >>> memory.touch(out)
    >>> gpu.log[-1].name, memory.is_untouched(out)
    ('first touch', False)
    """

    def __init__(self, gpu: VirtualGpu) -> None:
        self._gpu = gpu

    def is_untouched(self, array: Any) -> bool:
        """Return whether some of the array was never written; any other NumPy array counts as written."""
        return bool(getattr(array, "is_untouched", False))

    def touch(self, array: Any) -> None:
        """Write to an array: a page's first time costs, and every time for what is not a `HostArray`."""
        nbytes = array.nbytes
        if isinstance(array, HostArray):
            nbytes = array.pages.touch(array) if array.pages else 0
            if not nbytes:
                return
        self._gpu.host("first touch", nbytes / self._gpu.costs.first_touch_rate, nbytes)

    def untouched(self, contents: Any) -> Any:
        """Return new memory that nobody has written."""
        array = contents.view(HostArray)
        array.machine, array.pages = self, _Pages(array)
        return array

    def written(self, made: Any) -> Any:
        """Return a new array that a function made and wrote, which costs."""
        array = self.untouched(made)
        self.touch(array)
        return array


class FakeNumpy:
    """NumPy, except that ``empty`` and ``zeros`` return memory that has never been touched.

    The real NumPy does the same: the system only promises memory to large arrays, and finds it when they are
    first written. Whatever else makes a new array writes it, and that costs.

    >>> FakeNumpy(VirtualGpu()).zeros(2).is_untouched
    True
    """

    __name__ = "numpy"

    def __init__(self, gpu: VirtualGpu) -> None:
        self._memory = HostMemory(gpu)

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        # Types make scalars, and ufuncs ask their arrays, which are ours.
        if not callable(function) or isinstance(function, type | np.ufunc):
            return function

        @wraps(function)
        def writing(*args: Any, **kwargs: Any) -> Any:
            options = {key: value if key == "out" else _plain(value) for key, value in kwargs.items()}
            result = function(*map(_plain, args), **options)
            if not isinstance(result, np.ndarray):
                return result
            given = [each for each in (*args, *kwargs.values()) if isinstance(each, np.ndarray)]
            old = next((each for each in given if np.may_share_memory(result, each)), None)
            if old is None:
                return self._memory.written(result)
            return old.seen_as(result) if isinstance(old, HostArray) else result

        return writing

    def empty(self, shape: Any, dtype: Any = float, order: Any = "C") -> Any:
        """As ``numpy.empty``, untouched."""
        return self._memory.untouched(np.zeros(shape, dtype, order))

    def zeros(self, shape: Any, dtype: Any = float, order: Any = "C") -> Any:
        """As ``numpy.zeros``, untouched."""
        return self._memory.untouched(np.zeros(shape, dtype, order))

    def empty_like(
        self, a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None
    ) -> Any:
        """As ``numpy.empty_like``, untouched."""
        return self._memory.untouched(np.zeros_like(np.asarray(a), dtype, order, False, shape))

    def copyto(self, dst: Any, *args: Any, **kwargs: Any) -> None:
        """As ``numpy.copyto``."""
        if isinstance(dst, HostArray):
            self._memory.touch(dst)
        np.copyto(_plain(dst), *args, **kwargs)


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, HostArray) else value
