"""NumPy's arrays as the simulator takes them: as views of cells of Python's numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.exercises.simulator.memory import Memory, View
from gpuguide.exercises.simulator.names import ModuleNamed
from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES, described

__all__ = ["allocation", "as_constant", "as_launched", "bounds", "put_back", "values"]

_Array = np.ndarray[Any, Any]


def as_launched(arguments: Mapping[str, Any], unset: Collection[str]) -> dict[str, Any]:
    """Return the arguments of a launch as the simulator takes them; arrays that overlap share their cells."""
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    homes = _homes(arrays)
    memories = {id(home): Memory(_dtype(name, home), _cells(home)) for name, home in homes.items()}
    return {
        name: _view(value, homes[name], memories[id(homes[name])], name in unset)
        if name in arrays
        else _number(name, value)
        for name, value in arguments.items()
    }


def as_constant(value: Any) -> Any:
    """Return a constant of an answer as the simulator takes it."""
    if isinstance(value, tuple):
        return tuple(as_constant(each) for each in value)
    if isinstance(value, np.ndarray):
        home = np.ascontiguousarray(value).ravel()
        return View.of(_dtype("a constant", home), home.tolist(), value.shape, constant=True)
    if isinstance(value, np.generic):
        return _number("a constant", value)
    if isinstance(value, ModuleType):
        return ModuleNamed(value.__name__)
    is_numpy_s = isinstance(value, type) and issubclass(value, np.generic)
    if is_numpy_s or type(value).__module__.startswith("numba"):
        return NUMBER_TYPES.get(np.dtype(value).name if is_numpy_s else str(value), value)
    return value


def values(array: Any) -> list[Any]:
    """Return the elements of an array in C order, as numbers of its type."""
    contents = np.asarray(array)
    kind = _dtype("an array", contents).kind
    return [kind(value) for value in contents.ravel().tolist()]


def put_back(arguments: Mapping[str, Any], launched: Mapping[str, Any]) -> None:
    """Store what a launch left in its views into the arrays that they were made of."""
    for name, view in launched.items():
        if isinstance(view, View) and arguments[name].flags.writeable:
            contents = np.array(view.values(), arguments[name].dtype).reshape(view.shape)
            arguments[name][...] = contents


def _cells(home: _Array) -> list[Any]:
    kind: Any = NUMBER_TYPES[home.dtype.name].kind
    return [kind(value) for value in home.tolist()]


def _dtype(name: str, array: _Array) -> Any:
    kind = NUMBER_TYPES.get(array.dtype.name)
    if kind is None:
        raise ArgumentError(f"{name} expects an array of numbers; got one of {array.dtype}.")
    return kind


def _number(name: str, value: Any) -> Any:
    if isinstance(value, np.generic) and value.dtype.name in NUMBER_TYPES:
        return NUMBER_TYPES[value.dtype.name].cast(value.item())
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, tuple):
        return tuple(_number(name, each) for each in value)
    raise ArgumentError(f"{name} expects an array or a number; got {described(value)}.")


def _view(array: _Array, home: _Array, memory: Memory, unset: bool) -> View:
    size = array.dtype.itemsize
    start = (_address(array) - _address(home)) // size if array.size else 0
    offset = _address(home) - _address(allocation(array)) if array.size else 0
    steps = tuple(step // size for step in array.strides)
    return View(memory, array.shape, steps, start, offset, unset, not array.flags.writeable)


def _homes(arrays: Mapping[str, _Array]) -> dict[str, _Array]:
    """Return, for each array, the stretch of memory that it and those that overlap it lie in."""
    homes = {name: np.empty(0, array.dtype) for name, array in arrays.items()}
    touching: list[str] = []
    end = -1
    for name in sorted((name for name in arrays if arrays[name].size), key=lambda name: bounds(arrays[name])):
        low, high = bounds(arrays[name])
        touching = [*touching, name] if low < end else [name]
        end = max(end, high) if low < end else high
        home = _stretch([arrays[each] for each in touching], touching)
        homes |= dict.fromkeys(touching, home)
    return homes


def _stretch(arrays: list[_Array], names: list[str]) -> _Array:
    """Return the memory from the lowest element of some arrays to their highest, one-dimensional."""
    low, high = min(bounds(array)[0] for array in arrays), max(bounds(array)[1] for array in arrays)
    dtype = arrays[0].dtype
    apart = [_address(array) - low for array in arrays]
    apart += [step for array in arrays for step, extent in _axes(array) if extent > 1]
    if any(array.dtype != dtype for array in arrays) or any(each % dtype.itemsize for each in apart):
        raise ArgumentError(f"The elements of {' and '.join(names)} overlap without coinciding.")
    lowest = next(array for array in arrays if bounds(array)[0] == low)
    upwards = lowest[tuple(slice(None, None, -1 if step < 0 else 1) for step in lowest.strides)]
    return np.lib.stride_tricks.as_strided(upwards, ((high - low) // dtype.itemsize,), (dtype.itemsize,))


def _axes(array: _Array) -> Iterator[tuple[int, int]]:
    """Yield the stride and the extent of each axis."""
    return zip(array.strides, array.shape, strict=True)


def bounds(array: _Array) -> tuple[int, int]:
    """Return the first byte of an array's memory and the one behind its last."""
    reach = [(extent - 1) * step for step, extent in _axes(array)]
    low = _address(array) + sum(step for step in reach if step < 0)
    return low, _address(array) + sum(step for step in reach if step > 0) + array.dtype.itemsize


def _address(array: _Array) -> int:
    return int(array.__array_interface__["data"][0])


def allocation(array: _Array) -> _Array:
    """Return the array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
