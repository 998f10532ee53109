"""The stand-in for Numba's ``cuda`` module inside a traced kernel."""

from __future__ import annotations

from sys import _getframe as frame_above
from typing import Any

import numpy as np

from gpuguide.exercises.trace.allocations import Const, Local, Shared
from gpuguide.exercises.trace.atomics import Atomic
from gpuguide.exercises.trace.faults import UnsupportedError
from gpuguide.exercises.trace.machine import Machine
from gpuguide.exercises.trace.scalars import NUMBER_TYPES, SizedInt
from gpuguide.exercises.trace.waits import Waiting

__all__ = ["Cuda", "Dim"]


class Dim:
    """Three numbers, along the axes x, y and z."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: int = 1, y: int = 1, z: int = 1) -> None:
        self.x, self.y, self.z = x, y, z


class Cuda(Waiting):
    """``cuda``: what a kernel may use; anything else raises `UnsupportedError`.

    Parameters
    ----------
    machine : Machine
        Of the launch.
    grid, block : tuple of int
        Blocks per grid and threads per block along x, y and z.
    shared_bytes : int
        Dynamic shared memory of a block.
    """

    warpsize = 32

    def __init__(
        self, machine: Machine, grid: tuple[int, int, int], block: tuple[int, int, int], shared_bytes: int
    ) -> None:
        super().__init__(machine)
        self.gridDim, self.blockDim = Dim(*grid), Dim(*block)
        self.threadIdx, self.blockIdx = Dim(), Dim()
        self.laneid = 0
        self.shared, self.local = Shared(machine, shared_bytes), Local(machine)
        self.const, self.atomic = Const(), Atomic()

    def __getattr__(self, name: str) -> Any:
        if name in NUMBER_TYPES:
            return NUMBER_TYPES[name]
        raise UnsupportedError(f"cuda.{name}")

    def grid(self, ndim: int) -> Any:
        """Return the thread's place in the grid, one number per axis."""
        thread, block, extent = self.threadIdx, self.blockIdx, self.blockDim
        x = thread.x + block.x * extent.x
        if ndim == 1:
            return x
        y = thread.y + block.y * extent.y
        return (x, y) if ndim == 2 else (x, y, thread.z + block.z * extent.z)[: _axes(ndim)]

    def gridsize(self, ndim: int) -> Any:
        """Return the threads of the grid along each axis."""
        grid, block = self.gridDim, self.blockDim
        sizes = (grid.x * block.x, grid.y * block.y, grid.z * block.z)
        return sizes[0] if ndim == 1 else sizes[: _axes(ndim)]

    def threadfence(self) -> None:
        """Let other blocks see what this thread wrote before what it writes after."""
        self._machine.fence(frame_above(1))

    def threadfence_system(self) -> None:
        """Let other blocks, GPUs and the host see it."""
        self._machine.fence(frame_above(1))

    def threadfence_block(self) -> None:
        """Let the block see it; here every thread sees every store at once."""

    def nanosleep(self, nanoseconds: Any) -> None:
        """Do nothing: there is no time here."""

    def lanemask_lt(self) -> SizedInt:
        """Return one bit per lane, set for those below this one."""
        return SizedInt.of((1 << self.laneid) - 1, 32)

    def popc(self, value: Any) -> int:
        """Count the bits that are set."""
        return (_integer(value) & _mask(value, when=value < 0)).bit_count()

    def ffs(self, value: Any) -> int:
        """Return the number of the lowest bit that is set, counted from 1; 0 for 0."""
        number = _integer(value)
        return (number & -number).bit_length()

    def clz(self, value: Any) -> int:
        """Count the zeros above the highest bit that is set."""
        mask = _mask(value, when=True)
        return mask.bit_length() - (_integer(value) & mask).bit_length()

    def brev(self, value: Any) -> int:
        """Reverse the bits."""
        mask = _mask(value, when=True)
        return int(f"{_integer(value) & mask:0{mask.bit_length()}b}"[::-1], 2)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """Return ``a * b + c``, rounded once where float64 holds the product exactly."""
        wide = np.float64(a) * np.float64(b) + np.float64(c)
        return np.float32(wide) if all(isinstance(each, np.float32) for each in (a, b, c)) else wide

    def cbrt(self, value: Any) -> Any:
        """Return the cube root."""
        return np.cbrt(value)

    def selp(self, test: Any, a: Any, b: Any) -> Any:
        """Return `a` where the test is true, else `b`."""
        return a if test else b


def _axes(ndim: int) -> int:
    if ndim not in (2, 3):
        raise TypeError(f"a grid has 1, 2 or 3 axes, not {ndim}")
    return ndim


def _integer(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError(f"an integer is expected here, not {value!r}")
    return int(value)


def _mask(value: Any, *, when: bool) -> int:
    """Return the bits that a value has, which decide the answer when so said; -1 for as many as it takes."""
    if not when:
        return -1
    if not isinstance(value, SizedInt):
        raise UnsupportedError("the width of an integer: write uint32(value) or uint64(value) around it")
    return (1 << value.bits) - 1
