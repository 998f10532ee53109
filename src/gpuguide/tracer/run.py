"""Runs a launch: the threads of a block take turns from one barrier to the next, warp by warp."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FrameType, GeneratorType
from typing import Any, NamedTuple

from gpuguide.tracer import numbers
from gpuguide.tracer.findings import ThreadId
from gpuguide.tracer.memory import Access, Array, KernelError, Remark, Site, log
from gpuguide.tracer.names import WARP_SIZE, Wait
from gpuguide.tracer.numbers import DTYPES
from gpuguide.tracer.source import Program, Ready

__all__ = ["Branch", "Grid", "Run", "Standstill"]

RUNS, WAITS, RETURNED, FAILED = "runs", "waits", "has returned", "has failed"
#: A wait takes as long as so many turns of a loop, so a loop that waits and never ends is given up earlier.
_TURNS_OF_A_WAIT = 200


class Branch(NamedTuple):
    """One thread at a branch, and whether it took it."""

    site: Site
    thread: int
    path: int
    taken: bool


class Standstill(NamedTuple):
    """A barrier, shuffle or vote that not all threads reach: where each thread of the block stands."""

    kind: str
    operation: str
    first: int
    other: int
    #: By thread: the line in which it waits or, with a minus, has returned; 0 if it came to its end.
    states: dict[int, int]


class Absent(NamedTuple):
    """A lane that a shuffle asks for its value, and that does not take part."""

    thread: int
    line: int
    operation: str
    lane: int


class Grid:
    """The numbers of the threads of a launch, and where each stands."""

    def __init__(self, blocks: Sequence[int], threads: Sequence[int]) -> None:
        self.axes = max(len(blocks), len(threads))
        self.grid, self.block = _three(blocks), _three(threads)
        self.n_blocks, self.per_block = math.prod(self.grid), math.prod(self.block)
        self.n_threads = self.n_blocks * self.per_block

    def __str__(self) -> str:
        blocks, threads = (" x ".join(map(str, size[: self.axes])) for size in (self.grid, self.block))
        ends = ["" if n == 1 else "s" for n in (self.n_blocks, self.per_block)]
        return f"{blocks} block{ends[0]} of {threads} thread{ends[1]}"

    def block_index(self, number: int) -> tuple[int, int, int]:
        """Return the index of a block."""
        x, y, _ = self.grid
        return number % x, number // x % y, number // (x * y)

    def thread_index(self, number: int) -> tuple[int, int, int]:
        """Return the index of a thread in its block."""
        x, y, _ = self.block
        return number % x, number // x % y, number // (x * y)

    def thread(self, number: int) -> ThreadId:
        """Return a thread by its number, with as many axes as the launch has."""
        block, place = divmod(number, self.per_block)
        return ThreadId(self.block_index(block)[: self.axes], self.thread_index(place)[: self.axes])

    def number(self, thread: ThreadId) -> int:
        """Return the number of a thread."""
        block, place = (_place(*each) for each in ((thread.block, self.grid), (thread.thread, self.block)))
        return block * self.per_block + place

    def warp(self, thread: int) -> int:
        """Return the number of a thread's warp in its block."""
        return thread % self.per_block // WARP_SIZE


def _place(index: Sequence[int], size: tuple[int, int, int]) -> int:
    x, y, z = (*index, 0, 0)[:3]
    return x + size[0] * (y + size[1] * z)


def _three(size: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (*map(int, size), 1, 1)[:3]
    return x, y, z


class Thread:
    """A thread of the block that runs."""

    __slots__ = (
        "answer",
        "body",
        "index",
        "lane",
        "line",
        "number",
        "path",
        "phase",
        "state",
        "turns",
        "wait",
        "waits",
    )

    def __init__(self, number: int, place: int, index: tuple[int, int, int]) -> None:
        self.number, self.index, self.lane = number, index, place % WARP_SIZE
        self.body: Any = None
        self.wait: Wait | None = None
        self.answer: Any = None
        self.state, self.line, self.phase, self.turns, self.waits, self.path = RUNS, 0, 0, 0, 0, 0


class _EndlessError(Exception):
    """A loop makes too many turns: the launch is given up."""


class Run:
    """One launch: executes it, and holds what was noted."""

    def __init__(
        self,
        program: Program,
        kernel: Ready,
        grid: Grid,
        arrays: Mapping[str, Array],
        *,
        shared_bytes: int = 0,
        most_turns: int = 200_000,
        most_printed: int = 20,
    ) -> None:
        self.program, self.kernel, self.grid, self.arrays = program, kernel, grid, arrays
        self.shared_bytes, self.most_turns, self._most_printed = shared_bytes, most_turns, most_printed
        self.accesses: list[Access] = []
        self.remarks: list[Remark] = []
        self.branches: list[Branch] = []
        self.standstills: list[Standstill] = []
        self.doubles: dict[int, tuple[str, int]] = {}
        self.printed: list[str] = []
        self.n_printed = 0
        #: Turns of all threads by the line of the loop, and the line of the barrier that begins an epoch.
        self.ticks: Counter[int] = Counter()
        self.passed: dict[tuple[int, int], int] = {}
        self.absent: Absent | None = None
        self.endless: tuple[int, int] | None = None
        self.barriers = self.loop_turns = self.shared_bytes_used = self.fences = 0
        self._now: Thread | None = None

    def execute(self, arguments: Sequence[Any], blocks: Sequence[int], *, reverse: bool = False) -> None:
        """Run the blocks of these numbers."""
        program, cuda = self.program, self.program.cuda
        cuda.gridDim.set(self.grid.grid)
        cuda.blockDim.set(self.grid.block)
        cuda.shared_bytes, cuda.name_at, cuda.fences = self.shared_bytes, program.name_at, 0
        cuda.own_arrays = {}
        program.builtins |= {"__enter__": self._enter, "__leave__": self._leave, "__tick__": self._tick}
        program.builtins |= {"__branch__": self._branch, "print": self._print}
        log.start(program.sites)
        numbers.watch.note = self._double
        indices = [self.grid.thread_index(place) for place in range(self.grid.per_block)]
        try:
            for block in reversed(blocks) if reverse else blocks:
                cuda.blockIdx.set(self.grid.block_index(block))
                cuda.shared_arrays, log.epoch = {}, 0
                self._run_block(block, arguments, indices, -1 if reverse else 1)
                used = sum(made.nbytes for made in cuda.shared_arrays.values())
                self.shared_bytes_used = max(self.shared_bytes_used, used)
        except _EndlessError:
            pass
        finally:
            log.thread = None
            numbers.watch.stop()
            self.accesses, self.remarks, self.fences = log.accesses, log.remarks, cuda.fences

    def thread(self, number: int) -> ThreadId:
        """Return a thread by its number."""
        return self.grid.thread(number)

    @property
    def own_arrays(self) -> list[Array]:
        """The arrays that the kernel made, of the last block."""
        return list(self.program.cuda.own_arrays.values())

    # --- What is noted ------------------------------------------------------------------------------------

    def _enter(self) -> list[int]:
        """Begin a loop: the path to it, and its turns."""
        return [self._now.path if self._now is not None else 0, 0]

    def _leave(self, loop: list[int]) -> None:
        if self._now is not None:
            self._now.path = loop[0]

    def _tick(self, line: int, loop: list[int]) -> None:
        thread = self._now
        if thread is not None:
            thread.turns += 1
            self.ticks[line] += 1
            loop[1] += 1
            thread.path = hash((loop[0], loop[1]))
            if thread.turns > self.most_turns:
                self.endless = line, thread.number
                raise _EndlessError

    def _branch(self, test: Any) -> Any:
        if self._now is not None:
            self.branches.append(Branch(log.site(), self._now.number, self._now.path, bool(test)))
        return test

    def _print(self, *values: Any, sep: str = " ", **_: Any) -> None:
        self.n_printed += 1
        if self.n_printed <= self._most_printed:
            self.printed.append(sep.join(map(str, values)))

    def _double(self, frame: FrameType, what: str) -> None:
        if self._now is not None and id(frame.f_code) in self.program.sites:
            self.doubles.setdefault(frame.f_lineno, (what, self._now.number))

    # --- A block ------------------------------------------------------------------------------------------

    def _run_block(
        self, block: int, arguments: Sequence[Any], indices: list[tuple[int, int, int]], step: int
    ) -> None:
        first = block * self.grid.per_block
        threads = [Thread(first + place, place, index) for place, index in enumerate(indices)]
        warps = [threads[at : at + WARP_SIZE][::step] for at in range(0, len(threads), WARP_SIZE)][::step]
        while True:
            for warp in warps:
                self._run_warp(warp, arguments)
            waiting = [thread for thread in threads if thread.state is WAITS]
            stuck = next((thread for thread in waiting if thread.wait and not thread.wait.of_block), None)
            if stuck is not None:
                self._stand_still("missing_lane", stuck, threads)
                return
            if not waiting:
                break
            self._meet(waiting, threads)
        self.loop_turns = max(self.loop_turns, *(thread.turns for thread in threads))

    def _meet(self, waiting: list[Thread], threads: list[Thread]) -> None:
        """Let the threads at a barrier go on; note if they do not all stand at the same one."""
        lines = {thread.line for thread in waiting}
        ended = [thread for thread in threads if thread.state is RETURNED]
        if len(lines) > 1:
            self._stand_still("divergent_barrier", waiting[0], threads)
        elif ended:
            kind = "missed_barrier" if any(thread.line for thread in ended) else "divergent_barrier"
            self._stand_still(kind, waiting[0], threads)
        votes = [
            bool(thread.wait.arguments[0]) for thread in waiting if thread.wait and thread.wait.arguments
        ]
        answers = {
            "syncthreads_count": sum(votes),
            "syncthreads_and": int(all(votes)),
            "syncthreads_or": int(any(votes)),
        }
        for thread in waiting:
            assert thread.wait is not None
            thread.answer = answers.get(thread.wait.operation)
            thread.state, thread.wait, thread.phase = RUNS, None, 0
        log.epoch += 1
        self.passed[threads[0].number // self.grid.per_block, log.epoch] = waiting[0].line or min(lines)
        self.barriers = max(self.barriers, log.epoch)

    def _stand_still(self, kind: str, first: Thread, threads: list[Thread]) -> None:
        """Note where each thread of a block stands, once for each line and kind."""
        states = {
            thread.number: thread.line if thread.state is WAITS else -thread.line
            for thread in threads
            if thread.state is not FAILED
        }
        if kind == "missing_lane":
            mask = first.wait.mask if first.wait else 0
            others = [each for each in threads if each.number // WARP_SIZE == first.number // WARP_SIZE]
            others = [each for each in others if mask >> each.lane & 1 and each is not first]
        else:
            others = [each for each in threads if each.state is not FAILED]
        other = next((each for each in others if states.get(each.number) != first.line), first)
        operation = first.wait.operation if first.wait else ""
        known = {
            (each.kind, each.states[each.first], each.states.get(each.other)) for each in self.standstills
        }
        if (kind, first.line, states.get(other.number)) not in known:
            self.standstills.append(Standstill(kind, operation, first.number, other.number, states))

    def _run_warp(self, warp: list[Thread], arguments: Sequence[Any]) -> None:
        """Let the lanes of a warp run until each has ended or waits for its block."""
        while True:
            for thread in warp:
                if thread.state is RUNS:
                    self._resume(thread, arguments)
            groups: dict[tuple[str, int], list[Thread]] = defaultdict(list)
            for thread in warp:
                if thread.wait is not None and not thread.wait.of_block:
                    groups[thread.wait.operation, thread.wait.mask].append(thread)
            ready: list[Thread] = []
            for (operation, mask), lanes in groups.items():
                alive = [each for each in warp if each.state in (RUNS, WAITS) and mask >> each.lane & 1]
                if all(each in lanes for each in alive):
                    self._answer(operation, lanes)
                    ready += lanes
            if not ready:
                return
            phase = max(thread.phase for thread in ready) + 1
            for thread in ready:
                thread.state, thread.wait, thread.phase = RUNS, None, phase

    def _resume(self, thread: Thread, arguments: Sequence[Any]) -> None:
        cuda = self.program.cuda
        self._now = log.thread = thread
        index = cuda.threadIdx
        index.x, index.y, index.z = thread.index
        cuda.laneid = thread.lane
        try:
            if not self.kernel.waits:
                self.kernel.call(*arguments)
                thread.state = RETURNED
                return
            if thread.body is None:
                thread.body = self.kernel.call(*arguments)
            self._wait(thread, thread.body.send(thread.answer))
        except StopIteration as end:
            thread.state, thread.line = RETURNED, end.value or 0
        except _EndlessError:
            raise
        except KernelError as fault:
            thread.state = FAILED
            if fault.kind != "out_of_range":  # which was noted where it happened
                self._failed(thread, fault.kind, fault.text, fault)
        except (Exception, SystemExit) as error:
            thread.state = FAILED
            what = f"{type(error).__name__}: {error}".rstrip(": .")
            self._failed(thread, "exception", what, error)
        finally:
            self._now = log.thread = None

    def _wait(self, thread: Thread, wait: Wait) -> None:
        """Let a thread wait."""
        if not (wait.of_block or wait.operation == "activemask" or wait.mask >> thread.lane & 1):
            text = f"calls {wait.operation} with a mask that does not name its own lane, {thread.lane}"
            thread.body.throw(KernelError("missing_lane", text))
        innermost = thread.body
        while isinstance(innermost.gi_yieldfrom, GeneratorType):
            innermost = innermost.gi_yieldfrom
        thread.wait, thread.answer, thread.state, thread.line = wait, None, WAITS, innermost.gi_frame.f_lineno
        thread.waits += 1
        if thread.waits * _TURNS_OF_A_WAIT > self.most_turns:
            self.endless = thread.line, thread.number
            raise _EndlessError

    def _answer(self, operation: str, lanes: list[Thread]) -> None:
        """Hand each lane what it asked for; a lane that is not there gives what cannot be right."""
        given = {each.lane: each.wait.arguments for each in lanes if each.wait is not None}
        values = {lane: arguments[0] if arguments else None for lane, arguments in given.items()}
        vote = _VOTES.get(operation)
        for thread in lanes:
            arguments = given[thread.lane]
            thread.answer = None if vote is None else vote(values, *arguments)
            if operation in _SOURCES:
                source, own = _SOURCES[operation](thread.lane, int(arguments[1])), arguments[0]
                thread.answer = values.get(source, own)
                if 0 <= source < WARP_SIZE and source not in values:
                    thread.answer = type(own)(math.nan if isinstance(own, float) else 1 - (1 << 31))
                    self.absent = self.absent or Absent(thread.number, thread.line, operation, source)

    def _failed(self, thread: Thread, kind: str, text: str, error: BaseException) -> None:
        site, at = 0, error.__traceback__
        while at is not None:
            sites = self.program.sites.get(id(at.tb_frame.f_code))
            site = site if sites is None else sites[at.tb_lasti >> 1]
            at = at.tb_next
        log.remarks.append(Remark(kind, site, thread.number, text))


# --- What each gets from an operation that all lanes have reached ---------------------------------------

_SOURCES: dict[str, Callable[[int, int], int]] = {
    "shfl_sync": lambda lane, source: source % WARP_SIZE,
    "shfl_up_sync": lambda lane, distance: lane - distance,
    "shfl_down_sync": lambda lane, distance: lane + distance,
    "shfl_xor_sync": lambda lane, mask: lane ^ mask,
}


def _mask(lanes: Iterable[int]) -> Any:
    return DTYPES["uint32"](sum(1 << lane for lane in lanes))


#: From the values of the lanes, and what the lane itself brought along.
_VOTES: dict[str, Callable[..., Any]] = {
    "all_sync": lambda values, *_: all(values.values()),
    "any_sync": lambda values, *_: any(values.values()),
    "eq_sync": lambda values, *_: len(set(map(bool, values.values()))) == 1,
    "ballot_sync": lambda values, *_: DTYPES["int32"](_mask(lane for lane, value in values.items() if value)),
    "match_any_sync": lambda values, own: _mask(lane for lane, value in values.items() if value == own),
    "activemask": lambda values, *_: _mask(values),
}


def as_argument(value: Any, name: str) -> Any:
    """Return an argument as the kernel sees it: an array under the kernel's own name for it."""
    if isinstance(value, Array):
        return Array(value.memory, value.shape, value.steps, value.start, name)
    return value
