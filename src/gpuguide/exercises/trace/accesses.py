"""The accesses of a launch as columns: which thread touched which element, when and where in the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuguide.exercises.trace.columns import Flags, Ints
from gpuguide.exercises.trace.events import Events
from gpuguide.exercises.trace.geometry import WARP_SIZE, Geometry
from gpuguide.exercises.trace.regions import Region
from gpuguide.exercises.trace.sites import Sites

__all__ = ["Accesses", "Setting"]


@dataclass(frozen=True)
class Setting:
    """What events refer to.

    Attributes
    ----------
    segments : ndarray of int64, shape (n, 4)
        Thread, block-wide barriers passed, phase and clock (see `ordering`) of each segment.
    regions : sequence of Region
        All arrays, by ascending addresses.
    geometry : Geometry
        Of the launch.
    sites : Sites
        Of the kernel.
    clocks : ndarray of int64, shape (m, 32)
        See `ordering`.
    loose_warps : frozenset of int
        Warps in which ``syncwarp`` left lanes out.
    """

    segments: Ints
    regions: Sequence[Region]
    geometry: Geometry
    sites: Sites
    clocks: Ints
    loose_warps: frozenset[int]

    def region_numbers(self, space: str) -> list[int]:
        """Return the numbers of the arrays in a kind of memory."""
        return [number for number, region in enumerate(self.regions) if region.space == space]


class Accesses:
    """Loads, stores and atomic operations, in the order in which they were simulated.

    Columns are computed on first use; all have one entry per access.

    Parameters
    ----------
    events : Events
        The accesses.
    setting : Setting
        What they refer to.
    """

    def __init__(self, events: Events, setting: Setting) -> None:
        self.events, self.setting = events, setting
        self.address, self.kind = events.address, events.kind
        self.path, self.position = events.path, events.position

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, chosen: Ints | Flags) -> Accesses:
        """Return some of them, by mask or by position."""
        return Accesses(self.events[chosen], self.setting)

    def _of_segment(self, column: int) -> Ints:
        known: Ints = self.setting.segments[:, column]
        return known[self.events.segment]

    @cached_property
    def thread(self) -> Ints:
        """The thread's number in the launch."""
        return self._of_segment(0)

    @cached_property
    def block(self) -> Ints:
        """The block's number in the grid."""
        return self.thread // self.setting.geometry.threads_per_block

    @cached_property
    def lane(self) -> Ints:
        """The thread's number in its warp."""
        return self.thread % self.setting.geometry.threads_per_block % WARP_SIZE

    @cached_property
    def warp(self) -> Ints:
        """The warp's number, through all blocks."""
        geometry = self.setting.geometry
        in_block = self.thread % geometry.threads_per_block // WARP_SIZE
        return self.block * geometry.warps_per_block + in_block

    @cached_property
    def epoch(self) -> Ints:
        """Block-wide barriers that the thread had passed."""
        return self._of_segment(1)

    @cached_property
    def phase(self) -> Ints:
        """Synchronisations of its warp that the thread had taken part in."""
        return self._of_segment(2)

    @cached_property
    def clock(self) -> Ints:
        """What the thread knew of the other lanes: a row of `Setting.clocks`."""
        return self._of_segment(3)

    @cached_property
    def region(self) -> Ints:
        """The number of the array."""
        bases = np.array([region.base for region in self.setting.regions], np.int64)
        return np.searchsorted(bases, self.address, side="right") - 1

    @cached_property
    def site(self) -> Ints:
        """The number of the instruction, see `sites`."""
        return self._of_site(self.events.site, self.setting.sites.instruction)

    @cached_property
    def line(self) -> Ints:
        """The line of the source."""
        return self._of_site(self.site, lambda number: self.setting.sites.place(number).line)

    @staticmethod
    def _of_site(column: Ints, of: Callable[[int], int]) -> Ints:
        known = np.unique(column)
        values = np.array([of(number) for number in known.tolist()], np.int64)
        return values[np.searchsorted(known, column)]

    @cached_property
    def cell(self) -> Ints:
        """The piece of memory: equal for two accesses if they touch the same one.

        Overlapping arguments share theirs; blocks share no shared memory, threads no local memory.
        """
        regions = self.setting.regions
        alias = np.array([region.alias for region in regions], np.int64)[self.region]
        owners = {"shared": self.block, "local": self.thread}
        owner = np.zeros(len(self), np.int64)
        for space, column in owners.items():
            inside = np.isin(self.region, self.setting.region_numbers(space))
            owner[inside] = column[inside] + 1
        end = max((region.base + region.cells for region in regions), default=0) + 1
        return owner * end + self.address + alias

    def of_space(self, *spaces: str) -> Accesses:
        """Return the accesses to some kinds of memory."""
        chosen = [number for space in spaces for number in self.setting.region_numbers(space)]
        return self[np.isin(self.region, chosen)]
