"""Findings about barriers: threads that wait at different ones, or for others that never come."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from gpuguide.exercises.trace.faults import Remark
from gpuguide.exercises.trace.findings import numbers
from gpuguide.exercises.trace.geometry import WARP_SIZE
from gpuguide.exercises.trace.machine import Machine
from gpuguide.exercises.trace.waits import Wait

__all__ = ["FAILED", "RETURNED", "Standstill", "Thread"]

#: In place of the line at which a thread waits.
RETURNED, FAILED = 0, -1


@dataclass(eq=False)
class Thread:
    """One thread of the block that is running.

    Attributes
    ----------
    number : int
        In the block.
    body : generator
        Yields what it waits for.
    fuel, path : int
        Turns of loops that it may still make, and those of the loops it is in.
    wait : Wait or None
        What it waits for.
    answer : object
        What it gets when it goes on.
    ended, failed : bool
        Whether it has come to its end, and whether by a fault.
    clock : int
        Its row of `Machine.clocks`.
    pieces : int
        How often it ran until it waited or ended.
    """

    number: int
    body: Generator[Wait, Any, Any]
    fuel: int
    path: int = 0
    wait: Wait | None = None
    answer: Any = None
    ended: bool = False
    failed: bool = False
    clock: int = 0
    pieces: int = 0

    @property
    def lane(self) -> int:
        """Its number in its warp."""
        return self.number % WARP_SIZE


class Standstill:
    """Looks at the threads of one block when they stop, and remarks on the first thing that is wrong.

    Parameters
    ----------
    machine : Machine
        Of the launch.
    first : int
        Number in the launch of the block's first thread.
    threads : sequence of Thread
        Of the block, in order.
    """

    def __init__(self, machine: Machine, first: int, threads: Sequence[Thread]) -> None:
        self.machine, self.first, self.threads = machine, first, threads
        self._remarked = False

    def at_a_barrier(self) -> None:
        """Check that all threads wait at the same barrier, in the same turns of the loops around it."""
        waiting = {thread.number: thread.wait for thread in self.threads if thread.wait is not None}
        first = min(waiting)
        other = next((number for number, wait in waiting.items() if wait.place != waiting[first].place), None)
        returned = [thread.number for thread in self.threads if thread.ended and not thread.failed]
        if other is not None:
            self._apart(first, self._line(waiting[first]), other, self._line(waiting[other]))
        elif returned:
            line = self._line(waiting[first])
            what = (
                f"has returned while thread {self._shown(first)} of the same block waits at the barrier in "
                f"line {line}, which all threads of a block must reach"
            )
            self._remark("missed_barrier", what, (line,), (returned[0], first))

    def _apart(self, first: int, line: int, other: int, other_line: int) -> None:
        rival = f"thread {self._shown(other)} of the same block"
        if line == other_line:
            where = f"in line {line} in another turn of its loop than {rival}"
        else:
            where = f"in line {line} while {rival} waits at the one in line {other_line}"
        what = f"waits at the barrier {where}; all threads of a block must meet at the same barrier"
        self._remark("divergent_barrier", what, tuple(sorted({line, other_line})), (first, other))

    def of_a_warp(self) -> None:
        """Report the lane that waits for another one of its warp, which waits elsewhere."""
        stuck = next(thread for thread in self.threads if thread.wait is not None and thread.wait.mask)
        wait = stuck.wait
        assert wait is not None
        warp = [each for each in self.threads if each.number // WARP_SIZE == stuck.number // WARP_SIZE]
        missing = next(
            each
            for each in warp
            if each.wait is not None
            and wait.mask >> each.lane & 1
            and (each.wait.operation, each.wait.mask) != (wait.operation, wait.mask)
        )
        assert missing.wait is not None
        line, other_line = self._line(wait), self._line(missing.wait)
        what = (
            f"waits in line {line} for all lanes that the mask of {wait.operation} names, but thread "
            f"{self._shown(missing.number)} of the same warp, one of them, waits in line {other_line}"
        )
        lines = tuple(sorted({line, other_line}))
        self._remark("divergent_barrier", what, lines, (stuck.number, missing.number))

    def left_out(self, thread: Thread, wait: Wait) -> None:
        """Report a lane whose own mask does not name it."""
        line = self._line(wait)
        what = f"calls {wait.operation} in line {line} with a mask that does not name its lane, {thread.lane}"
        self._remark("divergent_barrier", what, (line,), (thread.number,))

    def _shown(self, number: int) -> str:
        return numbers(self.machine.geometry.thread_id(number).thread)

    def _line(self, wait: Wait) -> int:
        return self.machine.sites.place(wait.site).line

    def _remark(self, kind: str, what: str, lines: tuple[int, ...], threads: tuple[int, ...]) -> None:
        """Note the first remark on a block: what follows may be its consequence."""
        if self._remarked:
            return
        self._remarked = True
        concerned = tuple(self.first + number for number in threads)
        states = tuple((self.first + thread.number, self._state(thread)) for thread in self.threads)
        self.machine.remarks.append(
            Remark(kind, lines[0], concerned[0], what, lines=lines, threads=concerned, states=states)
        )

    def _state(self, thread: Thread) -> int:
        if thread.wait is not None:
            return self._line(thread.wait)
        return FAILED if thread.failed else RETURNED
