"""What a thread hands to the scheduler when it waits for others, and the functions of ``cuda`` that do so."""

from __future__ import annotations

from sys import _getframe as frame_above
from types import FrameType
from typing import Any, NamedTuple

from gpuguide.exercises.trace.machine import Machine

__all__ = ["ALL_LANES", "Wait", "Waiting"]

ALL_LANES = 2**32 - 1
#: Set in the mask of each operation of a warp, so that one that names no lane is not taken for a barrier.
_OF_A_WARP = 2**32


class Wait(NamedTuple):
    """What a thread waits for.

    Attributes
    ----------
    operation : str
        The function's name: ``"syncthreads"``, ``"shfl_down_sync"``.
    mask : int
        The lanes of the warp that take part, with bit 32 set; 0 for the whole block.
    site : int
        The number of the instruction, see `sites`.
    path : int
        Turns of the loops around it.
    value, argument : object
        What the thread contributes, and the lane or the distance.
    """

    operation: str
    mask: int
    site: int
    path: int
    value: Any = None
    argument: Any = None

    @property
    def place(self) -> tuple[int, int]:
        """What the threads of a block must agree on: the instruction, and the turns of the loops around."""
        return self.site, self.path


class Waiting:
    """The functions of ``cuda`` that wait; rewritten code yields what they return.

    Parameters
    ----------
    machine : Machine
        Of the launch.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def _wait(
        self, operation: str, mask: Any, frame: FrameType, value: Any = None, argument: Any = None
    ) -> Wait:
        machine, lanes = self._machine, 0 if mask is None else int(mask) & ALL_LANES | _OF_A_WARP
        return Wait(operation, lanes, machine.sites.number(frame), machine.path, value, argument)

    def syncthreads(self) -> Wait:
        """Wait for all threads of the block."""
        return self._wait("syncthreads", None, frame_above(1))

    def syncthreads_count(self, predicate: Any) -> Wait:
        """Wait for the block; count the threads whose predicate is true."""
        return self._wait("syncthreads_count", None, frame_above(1), predicate)

    def syncthreads_and(self, predicate: Any) -> Wait:
        """Wait for the block; say whether all predicates are true."""
        return self._wait("syncthreads_and", None, frame_above(1), predicate)

    def syncthreads_or(self, predicate: Any) -> Wait:
        """Wait for the block; say whether any predicate is true."""
        return self._wait("syncthreads_or", None, frame_above(1), predicate)

    def syncwarp(self, mask: Any = ALL_LANES) -> Wait:
        """Wait for lanes of the warp; what they wrote before is seen after."""
        return self._wait("syncwarp", mask, frame_above(1))

    def shfl_sync(self, mask: Any, value: Any, src_lane: Any) -> Wait:
        """Take the value of a lane."""
        return self._wait("shfl_sync", mask, frame_above(1), value, src_lane)

    def shfl_up_sync(self, mask: Any, value: Any, delta: Any) -> Wait:
        """Take the value of the lane `delta` below."""
        return self._wait("shfl_up_sync", mask, frame_above(1), value, delta)

    def shfl_down_sync(self, mask: Any, value: Any, delta: Any) -> Wait:
        """Take the value of the lane `delta` above."""
        return self._wait("shfl_down_sync", mask, frame_above(1), value, delta)

    def shfl_xor_sync(self, mask: Any, value: Any, lane_mask: Any) -> Wait:
        """Take the value of the lane whose number differs in the bits of a mask."""
        return self._wait("shfl_xor_sync", mask, frame_above(1), value, lane_mask)

    def all_sync(self, mask: Any, predicate: Any) -> Wait:
        """Say whether the predicate is true in all lanes."""
        return self._wait("all_sync", mask, frame_above(1), predicate)

    def any_sync(self, mask: Any, predicate: Any) -> Wait:
        """Say whether the predicate is true in any lane."""
        return self._wait("any_sync", mask, frame_above(1), predicate)

    def eq_sync(self, mask: Any, predicate: Any) -> Wait:
        """Say whether the predicate is the same in all lanes."""
        return self._wait("eq_sync", mask, frame_above(1), predicate)

    def ballot_sync(self, mask: Any, predicate: Any) -> Wait:
        """Return one bit per lane, set where the predicate is true."""
        return self._wait("ballot_sync", mask, frame_above(1), predicate)

    def match_any_sync(self, mask: Any, value: Any) -> Wait:
        """Return one bit per lane, set where the value is the same."""
        return self._wait("match_any_sync", mask, frame_above(1), value)

    def match_all_sync(self, mask: Any, value: Any) -> Wait:
        """Return the mask and True if the value is the same in all lanes; else 0 and False."""
        return self._wait("match_all_sync", mask, frame_above(1), value)
