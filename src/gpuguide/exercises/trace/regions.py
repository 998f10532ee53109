"""The memory of a launch: every array owns a stretch of addresses, one per cell."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError

__all__ = ["Memory", "Region", "Regions", "c_steps"]


@dataclass(frozen=True)
class Region:
    """One array of a launch, as the analysis sees it.

    Attributes
    ----------
    name : str
        As the kernel calls it.
    space : str
        ``"global"``, ``"shared"`` (one per block), ``"local"`` (one per thread) or ``"constant"``.
    dtype : numpy.dtype
        Of its elements.
    shape, steps : tuple of int
        Elements along each axis, and the cells from one to the next.
    start : int
        The cell of its first element.
    base, cells : int
        The addresses from ``base`` on are its own, one per cell.
    alias : int
        What to add to an address to get the one that all overlapping arguments share.
    byte_offset : int
        Where its cell 0 lies in its allocation, which the GPU aligns to 256 bytes.
    unset : bool
        Whether it holds nothing before the launch.
    line : int
        Where the kernel makes it; 0 for an argument.
    """

    name: str
    space: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    start: int
    base: int
    cells: int
    alias: int = 0
    byte_offset: int = 0
    unset: bool = False
    line: int = 0

    def addresses(self) -> np.ndarray:
        """Return the address of every element, in the array's shape."""
        found = np.full(self.shape, self.base + self.start, np.int64)
        for axis, (extent, step) in enumerate(zip(self.shape, self.steps, strict=True)):
            along = np.arange(extent, dtype=np.int64) * step
            found += along.reshape([-1 if axis == other else 1 for other in range(len(self.shape))])
        return found

    def index_of(self, address: int) -> tuple[int, ...]:
        """Return the index of the element at an address; empty if there is none."""
        found = np.argwhere(self.addresses() == address)
        return tuple(found[0].tolist()) if len(found) else ()


class Memory:
    """The cells behind an array: a list of numbers as the kernel sees them.

    Parameters
    ----------
    home : ndarray, shape (n,)
        What they hold at first; written cells go back there.
    """

    def __init__(self, home: np.ndarray) -> None:
        self.home = home
        #: Integers and bools are Python's, floats and complex numbers NumPy's.
        self.cells: list[Any] = home.tolist() if home.dtype.kind in "iub" else list(home)

    def put_back(self, written: np.ndarray) -> None:
        """Store the cells of the given numbers to where they came from."""
        if len(written):
            self.home[written] = np.array([self.cells[cell] for cell in written.tolist()], self.home.dtype)


class Regions:
    """All arrays of a launch, in the order in which they were met."""

    def __init__(self) -> None:
        self.all: list[Region] = []
        self._next = 0

    def made(self, name: str, space: str, shape: tuple[int, ...], dtype: np.dtype[Any], line: int) -> Region:
        """Note an array, in C order, that is no argument; shared and local ones hold nothing yet."""
        steps, cells, unset = c_steps(shape), math.prod(shape), space != "constant"
        return self._add(
            Region(name, space, dtype, shape, steps, 0, self._next, cells, unset=unset, line=line)
        )

    def given(self, arrays: Mapping[str, np.ndarray], unset: Collection[str]) -> list[tuple[Region, Memory]]:
        """Note the arrays that a kernel is given; those that overlap share their memory.

        Parameters
        ----------
        arrays : mapping of str to ndarray
            By the names that the kernel gives them.
        unset : collection of str
            Names of those that hold nothing yet.

        Returns
        -------
        list of tuple
            The region and the memory of each array, in order.

        Raises
        ------
        ArgumentError
            No kernel takes such an array, or two overlap whose elements do not coincide.
        """
        homes = _homes(arrays)
        memories = {id(home): Memory(home) for home in homes.values()}
        first: dict[int, int] = {}
        found = []
        for name, array in arrays.items():
            home = homes[name]
            base = first.setdefault(id(home), self._next)
            start = (_address(array) - _address(home)) // array.dtype.itemsize if array.size else 0
            region = Region(
                name, "global", array.dtype, array.shape, _steps(array), start, self._next, len(home),
                alias=base - self._next,
                byte_offset=_address(home) - _address(_allocation(array)) if array.size else 0,
                unset=name in unset,
            )  # fmt: skip
            found.append((self._add(region), memories[id(home)]))
        return found

    def _add(self, region: Region) -> Region:
        self.all.append(region)
        self._next += region.cells
        return region


def c_steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the elements from one to the next along each axis, the last axis fastest."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _homes(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return, for each array, the stretch of memory that it and those that overlap it lie in."""
    homes = {name: np.empty(0, array.dtype) for name, array in arrays.items()}
    touching: list[str] = []
    end = -1
    for name in sorted(
        (name for name in arrays if arrays[name].size), key=lambda name: _bounds(arrays[name])
    ):
        low, high = _bounds(arrays[name])
        touching = [*touching, name] if low < end else [name]
        end = max(end, high) if low < end else high
        home = _stretch([arrays[each] for each in touching], touching)
        homes |= dict.fromkeys(touching, home)
    return homes


def _stretch(arrays: list[np.ndarray], names: list[str]) -> np.ndarray:
    """Return the memory from the lowest element of some arrays to their highest, one-dimensional."""
    low, high = min(_bounds(array)[0] for array in arrays), max(_bounds(array)[1] for array in arrays)
    dtype = arrays[0].dtype
    apart = [_address(array) - low for array in arrays]
    apart += [step for array in arrays for step, extent in _axes(array) if extent > 1]
    if any(array.dtype != dtype for array in arrays) or any(each % dtype.itemsize for each in apart):
        raise ArgumentError(f"The elements of {' and '.join(names)} overlap without coinciding.")
    lowest = next(array for array in arrays if _bounds(array)[0] == low)
    upwards = lowest[tuple(slice(None, None, -1 if step < 0 else 1) for step in lowest.strides)]
    return np.lib.stride_tricks.as_strided(upwards, ((high - low) // dtype.itemsize,), (dtype.itemsize,))


def _axes(array: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the stride and the extent of each axis."""
    return zip(array.strides, array.shape, strict=True)


def _bounds(array: np.ndarray) -> tuple[int, int]:
    """Return the first byte of an array's memory and the one behind its last."""
    reach = [(extent - 1) * step for step, extent in _axes(array)]
    low = _address(array) + sum(step for step in reach if step < 0)
    return low, _address(array) + sum(step for step in reach if step > 0) + array.dtype.itemsize


def _steps(array: np.ndarray) -> tuple[int, ...]:
    return tuple(step // array.dtype.itemsize for step in array.strides)


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def _allocation(array: np.ndarray) -> np.ndarray:
    """Return the array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
