"""What rewritten code, arrays and the scheduler share during a launch: the log, and who is running.

The log is a list of tuples, in the order in which things happened:

    (region, at, kind, site, path, segment, cell)

Who did it stands in the segment: the thread, the barriers that it had passed, and its order within its
warp. The site is the number of the place in the source, the path tells the turns of loops around it apart.
The cell is equal for two accesses if they touch the same piece of memory: arrays that overlap share cells,
and the shared arrays of two blocks, or the local ones of two threads, do not, though they are of one region.

A fence has neither region nor cell. Nor has a branch, which stands in a list of its own, as most figures
are not concerned with it: `at` says which way it went.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpuguide.exercises.simulator.geometry import Geometry
from gpuguide.exercises.simulator.rewriting import Sites

#: Kinds of events; EXCHANGE is an atomic operation that does not mind what was there.
READ, WRITE, ATOMIC, EXCHANGE, BRANCH, FENCE = range(6)

# Larger than the turns of any one loop, so that paths of nested loops differ.
_PATH_FACTOR = 1_048_583
_LARGEST_PATH = 2**60 - 1


class Segment(NamedTuple):
    """A stretch of a thread's work between two waits."""

    thread: int
    epoch: int
    phase: int
    clock: int


#: Turns of loops, and calls, that all threads of a launch may make together: a few seconds' work.
MOST_STEPS = 4_000_000
Event = tuple[Any, int, int, int, int, Segment, int]
#: The cell of what touches no memory.
NO_CELL = -1


class UnsupportedError(Exception):
    """A kernel uses something that this simulator cannot judge; the message names it."""


class EndlessError(Exception):
    """A thread, or all threads together, made more turns of loops than the launch allows."""

    def __init__(self, line: int, *, of_all: bool = False, stuck: bool = False) -> None:
        self.line, self.of_all, self.stuck = line, of_all, stuck
        super().__init__(f"the loop in line {line} does not end")


class AccessError(Exception):
    """A wrong access: its kind, the array and the element, and what happened, to follow a thread's name."""

    def __init__(self, kind: str, array: str, index: tuple[int, ...], what: str) -> None:
        self.kind, self.array, self.index, self.what = kind, array, index, what
        super().__init__(what)


@dataclass(frozen=True)
class Remark:
    """One thing that one thread did wrong; findings sum up the remarks on all threads.

    `states` says where each thread of a block stands, by the line at which it waits, 0 if it has returned, or
    -1 if it has failed.
    """

    kind: str
    line: int
    thread: int
    what: str
    array: str = ""
    index: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    states: tuple[tuple[int, int], ...] = ()


class Machine:
    """What one launch notes, and who is running. Rewritten code calls the methods in lower half."""

    def __init__(self, sites: Sites, geometry: Geometry, step_limit: int) -> None:
        self.sites, self.geometry, self.step_limit = sites, geometry, step_limit
        self.log: list[Event] = []
        #: Which way threads went, if that is noted.
        self.watches_branches = True
        self.branches: list[Event] = []
        #: Where in the log a block went on after a barrier or a pause, after which number of barriers.
        self.stretches: list[tuple[int, int, int]] = []
        #: What each store put there, and which atomic operations compare and swap, by position in the log.
        self.stored: dict[int, Any] = {}
        self.swaps: set[int] = set()
        #: Atomic operations that left what they found, and how many did not.
        self.idle: set[int] = set()
        self.n_changes = 0
        #: Whether lines that compute a float64 are noted, and the types of what they compute it from.
        self.watches_doubles = False
        self.doubles: dict[int, list[Any]] = {}
        #: A `memory.Region` for each array that was met.
        self.regions: list[Any] = []
        self.remarks: list[Remark] = []
        #: Rows of a segment's `clock`: how far a lane knows each lane of its warp to be; row 0 is the start.
        self.clocks: list[tuple[int, ...]] = [(0,) * 32]
        #: The line of the barrier with which an epoch of a block began.
        self.passed: dict[tuple[int, int], int] = {}
        self.segment = Segment(0, 0, 0, 0)
        self.path, self.fuel = 0, step_limit
        #: The line of the return at which the kernel ended, 0 before.
        self.returned = 0
        #: How often a line counted a turn for a thread.
        self._turns: dict[tuple[int, int], int] = defaultdict(int)
        #: The first operation of a warp that counts on a lane which is not there, in words, and the lines
        #: to look at: its own, and that of what keeps the lane from it.
        self.absent = ""
        self.absent_lines: tuple[int, ...] = ()
        self._left = MOST_STEPS
        self._n_cells = 0

    def first_of(self, n: int) -> int:
        """Return the first of so many new cells."""
        self._n_cells += n
        return self._n_cells - n

    def goes_on(self, block: int, epoch: int) -> None:
        """Note that a block runs from here on."""
        self.stretches.append((block, epoch, len(self.log)))

    def begin(self, segment: Segment, path: int, fuel: int) -> None:
        """Let a thread run from here on."""
        self.segment, self.path, self.fuel, self.returned = segment, path, fuel, 0

    def remark(self, fault: AccessError, line: int) -> None:
        """Note that the running thread did something wrong."""
        what = (fault.kind, line, self.segment.thread, fault.what, fault.array, fault.index)
        self.remarks.append(Remark(*what))

    @property
    def busiest_loop(self) -> int | None:
        """The line of the loop with the most turns, of all threads together."""
        turns = self._turns_of_loops()
        return max(turns, key=lambda line: (turns[line], -line), default=None)

    def loop_beyond(self, most: int) -> int | None:
        """Return the line of the loop that lets the busiest thread make more turns than allowed.

        That is the one in which it makes the most turns beyond the mean of all threads, if it would keep to
        the limit without these; else the one with the most.
        """
        by_thread: dict[int, Counter[int]] = {}
        for (line, thread), n in self._turns.items():
            by_thread.setdefault(thread, Counter())[line] = n
        if not by_thread:
            return None
        own = max(by_thread.values(), key=lambda turns: turns.total())
        of_all = self._turns_of_loops()
        beyond = {line: n - of_all[line] / self.geometry.threads for line, n in own.items()}
        guilty = max(beyond, key=lambda line: (beyond[line], -line))
        if own.total() - beyond[guilty] <= most:
            return guilty
        return max(own, key=lambda line: (own[line], -line))

    def turns_of(self, line: int, thread: int) -> int:
        """Return how many turns of the loop in a line a thread has made so far."""
        return self._turns[line, thread]

    def _turns_of_loops(self) -> Counter[int]:
        turns: Counter[int] = Counter()
        for (line, _), n in self._turns.items():
            turns[line] += n
        return turns

    def called(self, line: int) -> None:
        """Count a call of a function: one that calls itself needs no loop to go on for long."""
        self._left -= 1
        if self._left < 0:
            raise EndlessError(line, of_all=True)

    def returns(self, line: int) -> None:
        """Note that the kernel returns."""
        self.returned = line

    def enter(self) -> int:
        """Return the path of a loop's turn 0."""
        return (self.path * _PATH_FACTOR) & _LARGEST_PATH

    def turn(self, path: int, line: int) -> int:
        """Count a turn of a loop; return its path."""
        self.path = path = path + 1
        self._turns[line, self.segment.thread] += 1
        self.fuel -= 1
        self._left -= 1
        if self.fuel < 0 or self._left < 0:
            raise EndlessError(self.sites.loops.get(line, line), of_all=self.fuel >= 0)
        return path

    def not_taken(self, line: int) -> None:
        """Take back the count of a turn that only found that the loop is to be left."""
        self._turns[line, self.segment.thread] -= 1
        self.fuel += 1
        self._left += 1

    def leave(self, path: int) -> None:
        """Go back to the path around a loop."""
        self.path = path

    def left(self, path: int, turn: int, site: int) -> None:
        """Leave a loop over a range, and note how many turns it had."""
        self.path = path
        if self.watches_branches:
            n_turns = turn - self.enter()
            self.branches.append((None, n_turns, BRANCH, site, path, self.segment, NO_CELL))

    def branch(self, test: Any, site: int) -> Any:
        """Note which way a test goes, and return it: ``or`` hands on the very value."""
        taken = bool(test)
        if self.watches_branches:
            self.branches.append((None, taken, BRANCH, site, self.path, self.segment, NO_CELL))
        return test

    def fence(self, site: int) -> None:
        """Note that what the thread wrote so far is to be seen before what it writes from here on."""
        self.log.append((None, 0, FENCE, site, self.path, self.segment, NO_CELL))
