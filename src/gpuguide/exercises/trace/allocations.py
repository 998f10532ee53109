"""Arrays that a kernel makes: ``cuda.shared``, ``cuda.local`` and ``cuda.const``."""

from __future__ import annotations

from sys import _getframe as frame_above
from types import FrameType
from typing import Any

from gpuguide.exercises.trace.arrays import TracedArray, whole
from gpuguide.exercises.trace.faults import UnsupportedError
from gpuguide.exercises.trace.machine import Machine
from gpuguide.exercises.trace.regions import Region
from gpuguide.exercises.trace.scalars import as_dtype, poison

__all__ = ["Const", "Local", "Shared"]

#: Bytes of shared memory that a block may have without asking for more at the launch.
STATIC_SHARED_LIMIT = 48 * 1024


class _Space:
    """A kind of memory; the calls that make arrays in it are told apart by where they stand.

    Parameters
    ----------
    machine : Machine
        Of the launch.
    """

    space = ""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.regions: dict[int, Region] = {}

    def region(self, shape: Any, dtype: Any, frame: FrameType) -> Region:
        """Return the region that belongs to a call, made when it is first met."""
        site = self.machine.sites.number(frame)
        extents, kind = _extents(shape), as_dtype(dtype)
        known = self.regions.get(site)
        if known is None:
            place = self.machine.place(frame)
            name = self.machine.sites.names.get(place, f"the {self.space} array of line {place.line}")
            known = self.machine.regions.made(name, self.space, extents, kind, place.line)
            self.regions[site] = known
        if (known.shape, known.dtype) != (extents, kind):
            raise TypeError(f"{known.name} has another shape or type than in another thread")
        return known

    def fresh(self, region: Region) -> TracedArray:
        """Return an array that holds nothing yet."""
        return whole(self.machine, region, [poison(region.dtype)] * region.cells)


class Local(_Space):
    """``cuda.local``: every call makes an array that the running thread alone has."""

    space = "local"

    def array(self, shape: Any, dtype: Any, alignment: Any = None) -> TracedArray:
        """Make the running thread's array."""
        return self.fresh(self.region(shape, dtype, frame_above(1)))


class Shared(_Space):
    """``cuda.shared``: all threads of a block that make the same call get the same array.

    Parameters
    ----------
    machine : Machine
        Of the launch.
    dynamic_bytes : int
        What the launch asked for; arrays of shape 0 are this memory.
    """

    space = "shared"

    def __init__(self, machine: Machine, dynamic_bytes: int) -> None:
        super().__init__(machine)
        self.dynamic_bytes = dynamic_bytes
        self.of_block: dict[int, TracedArray] = {}
        self._dynamic_site: int | None = None

    def array(self, shape: Any, dtype: Any, alignment: Any = None) -> TracedArray:
        """Return the block's array."""
        frame = frame_above(1)
        site = self.machine.sites.number(frame)
        if _extents(shape) == (0,):  # all calls of this shape get one and the same memory
            self._dynamic_site = site = self._dynamic_site or site
            shape = self.dynamic_bytes // as_dtype(dtype).itemsize
        found = self.of_block.get(site)
        if found is None:
            found = self.of_block[site] = self.fresh(self.region(shape, dtype, frame))
            self._check_size()
        if found.dtype != as_dtype(dtype):
            raise UnsupportedError("dynamic shared memory of two types")
        return found

    def _check_size(self) -> None:
        static = (region for site, region in self.regions.items() if site != self._dynamic_site)
        taken = sum(region.cells * region.dtype.itemsize for region in static)
        if taken > STATIC_SHARED_LIMIT:
            raise TypeError(f"the shared arrays take {taken} bytes, and a block has {STATIC_SHARED_LIMIT}")


class Const:
    """``cuda.const``: arrays from outside the kernel are constant in this simulator already."""

    def array_like(self, array: Any) -> TracedArray:
        """Return the array."""
        if not isinstance(array, TracedArray) or array.region.space != "constant":
            raise TypeError("cuda.const.array_like takes an array that the kernel has from outside")
        return array


def _extents(shape: Any) -> tuple[int, ...]:
    extents = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(extent, int) and extent >= 0 for extent in extents):
        raise TypeError(f"a shape is made of whole numbers that are not negative, not {shape}")
    return extents
