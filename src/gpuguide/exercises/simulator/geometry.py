"""The shape of a launch: blocks, threads, warps, and their numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from gpuguide.errors import ArgumentError
from gpuguide.exercises.simulator.findings import ThreadId

WARP_SIZE = 32
_MAX_THREADS_PER_BLOCK = 1024
_Extents = tuple[int, int, int]


@dataclass(frozen=True)
class Geometry:
    """Blocks and threads of a launch. Threads are numbered through all blocks, x fastest."""

    grid: _Extents
    block: _Extents
    axes: int

    @classmethod
    def of(cls, grid: int | tuple[int, ...], block: int | tuple[int, ...]) -> Geometry:
        """Return the geometry of ``kernel[grid, block]``; raises ArgumentError if there is no such launch."""
        blocks, threads = _extents("grid", grid), _extents("block", block)
        made = cls(_three(blocks), _three(threads), max(len(blocks), len(threads)))
        if made.threads_per_block > _MAX_THREADS_PER_BLOCK:
            raise ArgumentError(
                f"A block has at most {_MAX_THREADS_PER_BLOCK} threads; got {made.threads_per_block}, "
                f"from block={block}."
            )
        return made

    @cached_property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        return math.prod(self.block)

    @cached_property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return math.prod(self.grid)

    @property
    def threads(self) -> int:
        """Threads of the launch."""
        return self.blocks * self.threads_per_block

    @cached_property
    def warps_per_block(self) -> int:
        """Warps of a block, the last one perhaps not full."""
        return -(-self.threads_per_block // WARP_SIZE)

    def block_of(self, thread: int) -> int:
        """Return the number of a thread's block."""
        return thread // self.threads_per_block

    def warp_of(self, thread: int) -> int:
        """Return the number of a thread's warp, through all blocks."""
        block, inside = divmod(thread, self.threads_per_block)
        return block * self.warps_per_block + inside // WARP_SIZE

    def lane_of(self, thread: int) -> int:
        """Return a thread's place in its warp."""
        return thread % self.threads_per_block % WARP_SIZE

    def thread_id(self, number: int) -> ThreadId:
        """Return the thread of a number."""
        block, thread = divmod(number, self.threads_per_block)
        return ThreadId(place(block, self.grid)[: self.axes], place(thread, self.block)[: self.axes])

    def number(self, thread: ThreadId) -> int:
        """Return the number of a thread in the launch."""
        block = _number_of(thread.block, self.grid)
        return block * self.threads_per_block + _number_of(thread.thread, self.block)


def place(number: int, extents: _Extents) -> _Extents:
    """Return the place of a number along x, y and z, x fastest."""
    rest, x = divmod(number, extents[0])
    z, y = divmod(rest, extents[1])
    return x, y, z


def _number_of(index: tuple[int, ...], extents: _Extents) -> int:
    x, y, z = _three(index, missing=0)
    return x + extents[0] * (y + extents[1] * z)


def _extents(what: str, given: int | tuple[int, ...]) -> tuple[int, ...]:
    extents = given if isinstance(given, tuple) else (given,)
    if not 1 <= len(extents) <= 3 or not all(isinstance(each, int) and each >= 1 for each in extents):
        raise ArgumentError(f"{what} expects one to three whole numbers of at least 1; got {given!r}.")
    return extents


def _three(extents: tuple[int, ...], missing: int = 1) -> _Extents:
    x, y, z = (*extents, missing, missing)[:3]
    return x, y, z
