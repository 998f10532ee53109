"""What rewritten code, arrays and the scheduler share during a launch: the log and the running thread."""

from __future__ import annotations

import itertools
from types import FrameType
from typing import Any

import numpy as np

from gpuguide.exercises.trace.events import (
    ADDRESS_SHIFT,
    BRANCH,
    FENCE,
    LARGEST_PATH,
    LINE_SHIFT,
    OFFSET_SHIFT,
    path_mark,
    segment_mark,
)
from gpuguide.exercises.trace.faults import AccessError, EndlessError, Remark
from gpuguide.exercises.trace.geometry import Geometry
from gpuguide.exercises.trace.regions import Regions
from gpuguide.exercises.trace.sites import Place, Sites

__all__ = ["Machine"]

#: Larger than the turns of any one loop, so that paths of nested loops differ.
_PATH_FACTOR = 1_048_583
#: Events that are kept as Python's integers before they are packed.
_CHUNK = 1 << 18


class Machine:
    """What one launch notes, and who is running.

    Parameters
    ----------
    sites : Sites
        The places of the kernel's instructions in its source.
    geometry : Geometry
        Of the launch.
    step_limit : int
        Turns of loops that one thread may make.

    Attributes
    ----------
    log : list of int
        Events and marks, see `events`; always the same list.
    regions : Regions
        All arrays.
    remarks : list of Remark
        What threads did wrong.
    thread : int
        The running thread's number in the launch.
    path : int
        The turns of the loops it is in, as one number.
    fuel : int
        Turns of loops that it may still make.
    """

    def __init__(self, sites: Sites, geometry: Geometry, step_limit: int) -> None:
        self.sites, self.geometry, self.step_limit = sites, geometry, step_limit
        self.log: list[int] = []
        self.regions = Regions()
        self.remarks: list[Remark] = []
        self.thread, self.path, self.fuel = 0, 0, step_limit
        #: Rows of `begin`'s `clock`: how far a lane knows each lane of its warp to be; row 0 is the start.
        self.clocks: list[tuple[int, ...]] = [(0,) * 32]
        self._chunks: list[np.ndarray] = []
        self._segments: list[tuple[int, int, int, int]] = []

    def begin(self, thread: int, epoch: int, path: int, fuel: int, phase: int = 0, clock: int = 0) -> None:
        """Let a thread run from here on: block barriers passed, and its order within the warp."""
        if len(self.log) > _CHUNK:
            self._pack()
        self.thread, self.path, self.fuel = thread, path, fuel
        self.log.append(segment_mark(len(self._segments)))
        self._segments.append((thread, epoch, phase, clock))
        if path:
            self.log.append(path_mark(path))

    def enter(self) -> int:
        """Return the path of a loop's turn 0."""
        return (self.path * _PATH_FACTOR) & LARGEST_PATH

    def turn(self, path: int, line: int) -> int:
        """Count a turn of a loop; return its path."""
        self.path = path = path + 1
        self.log.append(-2 - 2 * path)  # path_mark, in place: this is the hottest line but the accesses
        self.fuel -= 1
        if self.fuel < 0:
            raise EndlessError(line)
        return path

    def leave(self, path: int) -> None:
        """Go back to the path around a loop."""
        self.path = path
        self.log.append(path_mark(path))

    def left(self, path: int, turn: int, line: int) -> None:
        """Leave a loop over a range, and note how many turns it had."""
        self.leave(path)
        turns = turn - self.enter()
        self.log.append((turns << ADDRESS_SHIFT) + (line << 3) + BRANCH)

    def branch(self, test: Any, line: int) -> bool:
        """Note which way a test goes."""
        taken = bool(test)
        self.log.append((taken << ADDRESS_SHIFT) + (line << 3) + BRANCH)
        return taken

    def fence(self, frame: FrameType) -> None:
        """Note that what the thread wrote so far is to be seen before what it writes from here on."""
        self.log.append((frame.f_code.co_firstlineno << LINE_SHIFT) + (frame.f_lasti << OFFSET_SHIFT) + FENCE)

    def place(self, frame: FrameType) -> Place:
        """Return the place in the source that a frame of the kernel is at."""
        return self.sites.place(self.sites.number(frame))

    def remark(self, fault: AccessError, line: int) -> None:
        """Note that the running thread did something wrong."""
        self.remarks.append(Remark(fault.kind, line, self.thread, fault.what, fault.array, fault.index))

    def _pack(self) -> None:
        self._chunks.append(np.array(self.log, np.int64))
        self.log.clear()

    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the whole log, and the segments as rows of thread, epoch, phase and clock."""
        self._pack()
        columns = np.fromiter(itertools.chain.from_iterable(self._segments), np.int64)
        return np.concatenate(self._chunks), columns.reshape(-1, 4)
