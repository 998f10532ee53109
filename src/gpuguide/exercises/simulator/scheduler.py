"""Runs a kernel thread by thread, always in the same order, and hands back what every thread touched."""

from __future__ import annotations

import builtins
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from gpuguide.errors import ArgumentError, unknown
from gpuguide.exercises.simulator import number_rules as rules
from gpuguide.exercises.simulator.findings import Finding, count, numbers, with_capital
from gpuguide.exercises.simulator.geometry import WARP_SIZE, Geometry, place
from gpuguide.exercises.simulator.machine import (
    MOST_STEPS,
    AccessError,
    EndlessError,
    Machine,
    Remark,
    Segment,
    UnsupportedError,
)
from gpuguide.exercises.simulator.memory import Region, View, whole
from gpuguide.exercises.simulator.names import USUAL_IMPORTS, Cuda, Wait, namespace
from gpuguide.exercises.simulator.number_rules import with_numbas_names
from gpuguide.exercises.simulator.races import races, unset_reads
from gpuguide.exercises.simulator.rewriting import PAUSE
from gpuguide.exercises.simulator.source import Kernel
from gpuguide.exercises.simulator.trace import Trace

#: Turns of loops that one thread may make before its loop counts as endless.
STEP_LIMIT = 40_000
#: A wait counts as so many turns of a loop, so that a loop that holds one ends in time, too.
_PRICE_OF_A_WAIT = 20
#: Pauses before atomic operations that a thread makes between two barriers. Beyond, it lets others come
#: between only after so many, so that a swap which is tried again comes to an end, and a lock gets free.
_MOST_PAUSES, _PATIENCE = 24, 64
#: Turns of all threads, over a thousand operations of each, in which none changed anything or got further.
_MOST_IDLE_TURNS = 40
ORDERS = ("forward", "reverse")
_Item = TypeVar("_Item")
#: Where a thread stands that does not wait, in place of a line.
RETURNED, FAILED = 0, -1


def run(
    kernel: Kernel,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    arguments: Mapping[str, Any],
    *,
    order: str = "forward",
    shared_bytes: int = 0,
    step_limit: int = STEP_LIMIT,
    watch_doubles: bool = False,
    watch_branches: bool = True,
) -> Trace:
    """Launch a kernel in the tracing simulator.

    Parameters
    ----------
    kernel : Kernel
        What `source.prepare` made.
    grid, block : int or tuple of int
        Blocks of the grid and threads of a block, x first.
    arguments : mapping
        A `memory.View` for an array, whose cells are changed in place, or a number, in the order of the
        kernel's parameters. The keys are the caller's names.
    order : str
        ``"forward"``, or ``"reverse"``: blocks, warps and threads run from the last to the first.
    shared_bytes : int
        Dynamic shared memory of a block.
    step_limit : int
        Turns of loops that one thread may make.
    watch_doubles : bool
        Note the lines that compute in double precision.
    watch_branches : bool
        Note which way each thread goes, to see how often those of a warp diverge.

    Returns
    -------
    Trace
        Findings and figures.

    Raises
    ------
    ArgumentError
        Such a launch does not exist, or does not suit the kernel.

    Examples
    --------
    >>> from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES
    >>> from gpuguide.exercises.simulator.source import prepare
    >>> kernel = prepare("def square(x): x[cuda.grid(1)] **= 2", usual_imports=True)
    >>> x = View.of(NUMBER_TYPES["int64"], range(3), (3,))
    >>> for finding in run(kernel, 1, 4, {"x": x}).findings:
    ...     print(finding)
    Thread 3 of block 0 reads x[3] in line 1, but x has 3 elements, the last of which is x[2].
    >>> x.values()
    [0, 1, 4]
    """
    if order not in ORDERS:
        raise unknown("order", order, ORDERS)
    launch = _Launch(kernel, Geometry.of(grid, block), order == "reverse", shared_bytes, step_limit)
    launch.machine.watches_doubles, launch.machine.watches_branches = watch_doubles, watch_branches
    names, given = launch.take(arguments)
    return launch.trace(names, launch.run(given))


class _Launch:
    """One launch under way."""

    def __init__(
        self, kernel: Kernel, geometry: Geometry, backwards: bool, shared_bytes: int, step_limit: int
    ) -> None:
        self.kernel, self.geometry, self.backwards = kernel, geometry, backwards
        self.machine = Machine(kernel.sites, geometry, step_limit)
        self.cuda = Cuda(self.machine, geometry.grid, geometry.block, shared_bytes)
        self.barriers = self.loop_turns = 0
        self.loose_warps: set[int] = set()
        self._places = [place(number, geometry.block) for number in range(geometry.threads_per_block)]

    def take(self, arguments: Mapping[str, Any]) -> tuple[dict[str, str], list[Any]]:
        """Return the kernel's names of the arguments, and the arguments as it sees them."""
        parameters = self.kernel.parameters
        if len(arguments) != len(parameters):
            raise ArgumentError(
                f"{self.kernel.name} takes {len(parameters)} arguments ({', '.join(parameters)}); "
                f"got {len(arguments)} ({', '.join(arguments)})."
            )
        given = []
        for name, value in zip(parameters, arguments.values(), strict=True):
            if isinstance(value, View):
                region = Region(
                    name, "global", value.memory, value.shape, value.steps, value.start, value.byte_offset,
                    unset=value.unset,
                )  # fmt: skip
                given.append(whole(self.machine, region, constant=value.constant))
            else:
                given.append(value)
        return dict(zip(arguments, parameters, strict=True)), given

    def run(self, given: list[Any]) -> EndlessError | None:
        """Run all blocks; return the loop that did not end, if any."""
        names = namespace(self.machine, self.cuda, self.kernel.imports, self.kernel.constants)
        exec(self.kernel.code, names)  # running the reader's function is the point
        function = names[self.kernel.name]
        try:
            blocks = self.ordered(range(self.geometry.blocks))
            if self.kernel.pauses:
                self._run_together(blocks, function, given)
                return None
            for number in blocks:
                if self.kernel.waits:
                    self._run_together([number], function, given)
                else:
                    self._run_block(number, function, given)
        except EndlessError as endless:
            return endless
        finally:
            # The kernel and its names know each other, and through them all that was noted.
            names.clear()
        return None

    def _run_together(self, numbers: Sequence[int], function: Any, given: list[Any]) -> None:
        """Run blocks that take turns, each from one barrier or pause to the next."""
        blocks = [_WaitingBlock(self, number, [function(*given) for _ in self._places]) for number in numbers]
        going, machine = blocks, self.machine
        before, n_idle = (0, 0, 0), 0
        try:
            while going:
                going = [block for block in going if block.goes_on()]
                state = (machine.n_changes, len(machine.stored), sum(block.progress for block in blocks))
                n_idle = n_idle + 1 if state == before else 0
                before = state
                if n_idle > _MOST_IDLE_TURNS:
                    raise EndlessError(machine.busiest_loop or 0, stuck=True)  # nothing will ever change
        finally:
            for block in blocks:
                block.close()

    def _run_block(self, block: int, function: Any, given: list[Any]) -> None:
        """Run a block whose threads never wait: one after the other."""
        self.enter_block(block)
        first, machine, limit = block * len(self._places), self.machine, self.machine.step_limit
        for number in self.ordered(range(len(self._places))):
            self.enter(number)
            machine.begin(Segment(first + number, 0, 0, 0), 0, limit)
            try:
                function(*given)
            except EndlessError:
                raise
            except Exception as error:
                self.failed(error)
            self.loop_turns = max(self.loop_turns, limit - machine.fuel)

    def enter_block(self, number: int, epoch: int = 0) -> None:
        """Let ``cuda`` speak of a block, which has passed some barriers."""
        self.machine.goes_on(number, epoch)
        index = self.cuda.blockIdx
        index.x, index.y, index.z = place(number, self.geometry.grid)
        self.cuda.shared.enter(number)

    def enter(self, number: int) -> None:
        """Let ``cuda`` speak of a thread of the running block."""
        cuda = self.cuda
        index = cuda.threadIdx
        index.x, index.y, index.z = self._places[number]
        cuda.laneid = number % WARP_SIZE

    def failed(self, error: Exception) -> None:
        """Note why the running thread ended before its time."""
        thread = self.machine.segment.thread
        self.machine.remarks.append(_remark_of(error, self.kernel.name, thread))

    def ordered(self, items: Sequence[_Item]) -> Sequence[_Item]:
        """Return blocks, warps or threads in the order in which they run."""
        return items[::-1] if self.backwards else items

    def trace(self, names: dict[str, str], endless: EndlessError | None) -> Trace:
        """Look at what was noted."""
        machine = self.machine
        trace = Trace(machine, names, self.barriers, self.loop_turns, frozenset(self.loose_warps))
        if endless is not None:
            line = machine.busiest_loop if endless.of_all else None
            trace.findings = (
                *self.kernel.findings,
                Finding("endless", _too_long(endless, machine), line=line or endless.line),
            )
            return trace
        trace.remarks = _findings_of(machine.remarks, self.geometry)
        found = [*self.kernel.findings, *trace.remarks, *races(trace)]
        if not any(remark.kind in _ENDS_A_THREAD for remark in machine.remarks):
            found += unset_reads(trace)
        trace.findings = tuple(sorted(found, key=lambda finding: finding.order))
        return trace


def _too_long(endless: EndlessError, machine: Machine) -> str:
    """Say what went on for too long."""
    loop, most = f"The loop at line {endless.line}", f"{machine.step_limit:,} steps"
    if endless.of_all:
        return (
            f"The threads of the launch made more than {MOST_STEPS:,} turns of loops and calls together; "
            "a right answer needs far fewer."
        )
    if endless.stuck:
        return f"{loop} does not end: it waits for what no other thread does."
    if endless.line not in machine.sites.loops:  # it is one with for, which does end
        return f"{loop} takes a thread more than {most}; a right answer needs far fewer."
    return f"{loop} does not end in time: one thread was stopped there after {most}."


# --- Threads that wait for one another ------------------------------------------------------------------


@dataclass(eq=False)
class _Thread:
    """One thread of the block that is running: a generator that stops where it waits."""

    number: int
    body: Generator[Wait, Any, Any]
    fuel: int
    path: int = 0
    wait: Wait | None = None
    answer: Any = None
    ended: bool = False
    failed: bool = False
    returned: int = 0
    clock: int = 0
    pieces: int = 0
    pauses: int = 0
    lane: int = 0

    def __post_init__(self) -> None:
        self.lane = self.number % WARP_SIZE

    def passes(self, wait: Wait) -> bool:
        """Say whether the thread goes on at a pause, as it had enough of them since the last barrier."""
        if wait.operation != PAUSE:
            return False
        self.pauses += 1
        return self.pauses > _MOST_PAUSES and self.pauses % _PATIENCE != 0


class _WaitingBlock:
    """A block whose threads wait for one another."""

    def __init__(self, launch: _Launch, block: int, bodies: Sequence[Generator[Wait, Any, Any]]) -> None:
        threads = [_Thread(number, body, launch.machine.step_limit) for number, body in enumerate(bodies)]
        self.launch, self.machine, self.block, self.threads = launch, launch.machine, block, threads
        self.first = block * len(threads)
        warps = [threads[start : start + WARP_SIZE] for start in range(0, len(threads), WARP_SIZE)]
        self.warps = [launch.ordered(warp) for warp in launch.ordered(warps)]
        self.epoch = 0
        self.standstill = _Standstill(launch.machine, self.first, threads)

    def goes_on(self) -> bool:
        """Run all warps to the next pause of each thread, or to the next barrier; False if none can go on."""
        self.launch.enter_block(self.block, self.epoch)
        for thread in self._paused():
            assert thread.wait is not None
            thread.answer, thread.wait = thread.wait.site, None
        for warp in self.warps:
            self._run_warp(warp)
        return bool(self._paused()) or self._pass_barrier()

    @property
    def progress(self) -> int:
        """The barriers that were passed, and the threads that have ended."""
        return self.epoch + sum(thread.ended for thread in self.threads)

    def _paused(self) -> list[_Thread]:
        return [each for each in self.threads if each.wait is not None and each.wait.operation == PAUSE]

    def close(self) -> None:
        """End all threads, and sum up."""
        for thread in self.threads:
            thread.body.close()
            turns = self.machine.step_limit - thread.fuel - thread.pieces * _PRICE_OF_A_WAIT
            self.launch.loop_turns = max(self.launch.loop_turns, turns)
        self.launch.barriers = max(self.launch.barriers, self.epoch)

    def _run_warp(self, warp: Sequence[_Thread]) -> None:
        """Run a warp until each lane has ended, or waits for more than its warp can give."""
        ready = [thread for thread in warp if thread.wait is None and not thread.ended]
        while ready:
            for thread in ready:
                self._resume(thread)
            ready = self._answered(warp)

    def _resume(self, thread: _Thread) -> None:
        machine, number = self.machine, self.first + thread.number
        self.launch.enter(thread.number)
        phase = machine.clocks[thread.clock][thread.lane]
        machine.begin(Segment(number, self.epoch, phase, thread.clock), thread.path, thread.fuel)
        try:
            wait = thread.body.send(thread.answer)
            while thread.passes(wait):
                wait = thread.body.send(wait.site)
            thread.wait = wait
        except StopIteration:
            thread.wait, thread.ended, thread.returned = None, True, machine.returned
        except EndlessError:
            raise
        except Exception as error:
            thread.wait, thread.ended, thread.failed = None, True, True
            self.launch.failed(error)
        thread.answer, thread.path, thread.fuel = None, machine.path, machine.fuel - _PRICE_OF_A_WAIT
        thread.pieces += 1
        if thread.fuel < 0 and thread.wait is not None:
            raise EndlessError(machine.sites.loop_around(machine.sites.line(thread.wait.site)))

    def _answered(self, warp: Sequence[_Thread]) -> list[_Thread]:
        """Let the operations of a warp take place whose lanes have all arrived; return those lanes."""
        calls: dict[tuple[str, int], dict[int, _Thread]] = {}
        for thread in warp:
            if thread.wait is not None and thread.wait.mask:
                mask = self._own_mask(thread, thread.wait, warp)
                calls.setdefault((thread.wait.operation, mask), {})[thread.lane] = thread
        if not calls:
            return []
        running = {thread.lane for thread in warp if not thread.ended}
        ready: set[int] = set()
        for (operation, mask), lanes in calls.items():
            if all(lane in lanes for lane in running if mask >> lane & 1):
                if operation == "syncwarp":
                    self._synchronise(warp, list(lanes.values()))
                if len(lanes) < WARP_SIZE and not self.machine.absent:
                    self._note_absent(operation, mask, lanes)
                given = _answers({lane: thread.wait for lane, thread in lanes.items() if thread.wait})
                for lane, thread in lanes.items():
                    thread.wait, thread.answer = None, given[lane]
                ready |= lanes.keys()
        return [thread for thread in warp if thread.lane in ready]

    def _note_absent(self, operation: str, mask: int, lanes: Mapping[int, _Thread]) -> None:
        """Remember an operation of a warp that counts on a lane which does not come to it, and why."""
        for lane, thread in lanes.items() if operation != "syncwarp" else ():
            assert thread.wait is not None
            if operation in _SOURCES:
                asked = _SOURCES[operation](lane, int(thread.wait.argument))
            else:
                asked = next((n for n in range(WARP_SIZE) if mask >> n & 1 and n not in lanes), lane)
            if 0 <= asked < WARP_SIZE and asked not in lanes:
                line = self.machine.sites.line(thread.wait.site)
                is_named = bool(mask >> asked & 1)
                why, cause = self._why_absent(thread, asked, line) if is_named else ("the mask omits it", 0)
                self.machine.absent_lines = tuple(sorted({line, cause} - {0}))
                self.machine.absent = (
                    f"In line {line} lane {lane} of a warp counts on lane {asked} in {operation}, but {why}."
                )
                return

    def _why_absent(self, asking: _Thread, lane: int, line: int) -> tuple[str, int]:
        """Say why a lane does not come to an operation of its warp, and what line keeps it, 0 if none."""
        number = asking.number - asking.lane + lane
        if number >= len(self.threads):
            return f"the block has no lane {lane} there", 0
        returned = self.threads[number].returned
        if 0 < returned < line:
            return f"lane {lane} has returned in line {returned}", returned
        if parted := self._parted_at(line, self.first + asking.number, self.first + number):
            word, around = parted
            does = "does not come to it, because of the if" if word == "if" else "has left the loop"
            return f"lane {lane} {does} in line {around}", around
        return f"lane {lane} has ended without it", 0

    def _parted_at(self, line: int, one: int, other: int) -> tuple[str, int] | None:
        """Return the branch or loop around a line that one thread is in and another is not."""
        ways: dict[int, dict[tuple[int, int], int]] = {one: {}, other: {}}
        for _, way, _, site, path, segment, _ in self.machine.branches:
            if segment.thread in ways:
                ways[segment.thread][site, path] = way
        line_of = self.machine.sites.line
        for word, around in self.machine.sites.around.get(line, ()):
            if word == "if":
                came = (key for key in ways[other] if line_of(key[0]) == around)
                parted = any(ways[one].get(key, ways[other][key]) != ways[other][key] for key in came)
            else:
                parted = self.machine.turns_of(around, one) > self.machine.turns_of(around, other)
            if parted:
                return word, around
        return None

    def _own_mask(self, thread: _Thread, wait: Wait, warp: Sequence[_Thread]) -> int:
        """Return the lanes that a thread waits for: itself alone, with a finding, if its mask omits it."""
        if wait.operation == "activemask":  # of all that stand at its place, wherever others have stopped
            together = (each for each in warp if each.wait is not None and each.wait.place == wait.place)
            return sum(1 << each.lane for each in together)
        if wait.mask >> thread.lane & 1:
            return wait.mask
        self.standstill.left_out(thread, wait)
        return 1 << thread.lane

    def _synchronise(self, warp: Sequence[_Thread], lanes: list[_Thread]) -> None:
        """Let lanes know of all that each of them has done so far."""
        clocks = self.machine.clocks
        known = [list(clocks[thread.clock]) for thread in lanes]
        for own, thread in zip(known, lanes, strict=True):
            own[thread.lane] += 1
        clocks.append(tuple(map(max, *known)) if len(known) > 1 else tuple(known[0]))
        for thread in lanes:
            thread.clock = len(clocks) - 1
        if len(lanes) < len(warp):
            self.launch.loose_warps.add(self.launch.geometry.warp_of(self.first + lanes[0].number))

    def _pass_barrier(self) -> bool:
        """Let all threads pass the barrier they wait at; False if none waits, or none can go on."""
        waiting = [thread for thread in self.threads if thread.wait is not None]
        if any(thread.wait.mask for thread in waiting if thread.wait):
            self.standstill.of_a_warp()
            return False
        if not waiting:
            return False
        self.standstill.at_a_barrier()
        waits = [thread.wait for thread in waiting if thread.wait]
        votes = [bool(wait.value) for wait in waits]
        answers = {
            operation: _OF_A_BLOCK[operation](votes) for operation in {each.operation for each in waits}
        }
        for thread, wait in zip(waiting, waits, strict=True):
            thread.wait, thread.answer = None, answers[wait.operation]
            thread.pauses = 0
        self.epoch += 1
        self.machine.passed[self.block, self.epoch] = self.machine.sites.line(waits[0].site)
        return True


# --- What each gets from an operation that all have reached ---------------------------------------------

#: From the own lane and the argument to the lane that is asked.
_SOURCES: dict[str, Callable[[int, int], int]] = {
    "shfl_sync": lambda lane, source: source % WARP_SIZE,
    "shfl_up_sync": lambda lane, delta: lane - delta,
    "shfl_down_sync": lambda lane, delta: lane + delta,
    "shfl_xor_sync": lambda lane, bits: lane ^ bits,
}
_OF_A_BLOCK: dict[str, Callable[[list[bool]], Any]] = {
    "syncthreads": lambda votes: None,
    "syncthreads_count": sum,
    "syncthreads_and": lambda votes: int(all(votes)),
    "syncthreads_or": lambda votes: int(any(votes)),
}


def _answers(waits: Mapping[int, Wait]) -> dict[int, Any]:
    """Return what each lane gets from an operation of its warp."""
    operation = next(iter(waits.values())).operation
    if operation in _SOURCES:
        return {lane: _shuffled(waits, lane) for lane in waits}
    if operation == "match_any_sync":
        return {lane: _bits(waits, partial(operator.eq, wait.value)) for lane, wait in waits.items()}
    return dict.fromkeys(waits, _VOTES[operation](waits))


def _shuffled(waits: Mapping[int, Wait], lane: int) -> Any:
    own = waits[lane]
    source = _SOURCES[own.operation](lane, int(own.argument))
    if not 0 <= source < WARP_SIZE:
        return own.value
    # A lane that is not there gives what is of no use.
    return waits[source].value if source in waits else rules.type_of(type(own.value)).poison


def _bits(waits: Mapping[int, Wait], chosen: Callable[[Any], Any]) -> Any:
    """Return one bit per lane as Numba does: a signed integer of 32 bits."""
    return rules.NUMBER_TYPES["int32"](sum(1 << lane for lane, wait in waits.items() if chosen(wait.value)))


def _alike(waits: Mapping[int, Wait], of: Callable[[Any], Any] = lambda value: value) -> bool:
    return len({of(wait.value) for wait in waits.values()}) == 1


_VOTES: dict[str, Callable[[Mapping[int, Wait]], Any]] = {
    "syncwarp": lambda waits: None,
    "all_sync": lambda waits: all(wait.value for wait in waits.values()),
    "any_sync": lambda waits: any(wait.value for wait in waits.values()),
    "eq_sync": lambda waits: _alike(waits, bool),
    "ballot_sync": lambda waits: _bits(waits, bool),
    "activemask": lambda waits: rules.UInt32(sum(1 << lane for lane in waits)),
    "match_all_sync": lambda waits: (
        (_bits(waits, lambda value: True), True) if _alike(waits) else (rules.Int32(0), False)
    ),
}


# --- Threads that wait at different barriers, or for others that never come -----------------------------


class _Standstill:
    """Looks at the threads of one block when they stop, and remarks on the first thing that is wrong."""

    def __init__(self, machine: Machine, first: int, threads: Sequence[_Thread]) -> None:
        self.machine, self.first, self.threads = machine, first, threads
        self._remarked = False

    def at_a_barrier(self) -> None:
        """Check that all threads wait at the same barrier, in the same turns of the loops around it."""
        waiting = {thread.number: thread.wait for thread in self.threads if thread.wait is not None}
        first = min(waiting)
        meeting = waiting[first].place
        other = next((number for number, wait in waiting.items() if wait.place != meeting), None)
        ended = [thread for thread in self.threads if thread.ended and not thread.failed]
        if other is not None:
            self._apart(first, self._line(waiting[first]), other, self._line(waiting[other]))
        elif ended:
            line, returned = self._line(waiting[first]), ended[0].returned
            how = f"returned in line {returned}" if returned else "ended"
            cause = "" if returned else ": an if or a loop lets some threads miss it"
            what = (
                f"{how} while thread {self._shown(first)} of the same block waits at the barrier in "
                f"line {line}{cause}, and all threads of a block must reach it"
            )
            kind = "missed_barrier" if returned else "divergent_barrier"
            lines = tuple(sorted({line, returned} - {0}))
            self._remark(kind, what, lines, (ended[0].number, first))

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
        self._remark("missing_lane", what, lines, (stuck.number, missing.number))

    def left_out(self, thread: _Thread, wait: Wait) -> None:
        """Report a lane whose own mask does not name it."""
        line = self._line(wait)
        what = f"calls {wait.operation} in line {line} with a mask that does not name its lane, {thread.lane}"
        self._remark("missing_lane", what, (line,), (thread.number,))

    def _shown(self, number: int) -> str:
        return numbers(self.machine.geometry.thread_id(number).thread)

    def _line(self, wait: Wait) -> int:
        return self.machine.sites.line(wait.site)

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

    def _state(self, thread: _Thread) -> int:
        if thread.wait is not None:
            return self._line(thread.wait)
        return FAILED if thread.failed else RETURNED


# --- What ended a thread, and what it did wrong, in words -----------------------------------------------

#: Kinds of remarks after which the thread does not go on.
_ENDS_A_THREAD = frozenset({"exception", "memory", "out_of_range", "unsupported"})
#: What a GPU computes silently; Numba checks neither, unless it compiles for debugging.
_SILENT = (ArithmeticError, ValueError)
#: How Numba writes what readers call by its name in CUDA C, or without the module.
_OF_NUMBA = {
    **{name: name for name in ("threadIdx", "blockIdx", "blockDim", "gridDim", "grid", "gridsize")},
    **{name: name for name in ("syncthreads", "shared", "local", "atomic", "laneid", "warpsize")},
    "__syncthreads": "syncthreads",
    "atomicAdd": "atomic.add",
    "warpSize": "warpsize",
}


def _remark_of(error: Exception, kernel: str, thread: int) -> Remark:
    """Return the remark on a thread that an exception ended."""
    line = _line_of(error, f"<{kernel}>")
    if isinstance(error, AccessError):
        return Remark(error.kind, line, thread, error.what, error.array, error.index)
    if isinstance(error, UnsupportedError):
        return Remark("unsupported", line, thread, str(error))
    return Remark("exception", line, thread, f"fails in line {line}: {_reason(error)}")


def _line_of(error: Exception, file: str) -> int:
    """Return the innermost line of the kernel's source on the way to an exception."""
    line, step = 0, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            line = step.tb_lineno
        step = step.tb_next
    return line


_SAID = {
    RecursionError: "it calls itself endlessly",
    AssertionError: "what it asserts is not so, and on a GPU nothing checks that; write an if",
}


def _reason(error: Exception) -> str:
    if isinstance(error, NameError):
        return _unknown_name(error)
    if isinstance(error, TypeError):
        return _misfit(with_numbas_names(str(error)))
    if type(error) in _SAID:
        return _SAID[type(error)]
    said = f"{type(error).__name__}{f', {error}' if str(error) else ''}"
    if isinstance(error, _SILENT):
        return f"{said}; a GPU reports nothing and continues with a useless value"
    return said


def _misfit(said: str) -> str:
    """Add to what Python says of a value of the wrong type what Numba takes in its place."""
    if re.fullmatch(r"'(u?int|float)\d+' object is not callable", said):
        return f"{said}: a number, such as cuda.laneid or cuda.threadIdx.x, stands without () behind it"
    if re.search(r"\bDim\b", said):
        return "cuda.threadIdx and its like are no numbers: take .x, .y or .z of each"
    if re.fullmatch(r"'float\d+' object cannot be interpreted as an integer", said):
        return f"{said}; use // for an integer quotient, or int(...)"
    return said


def _unknown_name(error: NameError) -> str:
    name = error.name or ""
    if hasattr(builtins, name):
        return f"{name} is not available in a kernel"
    if name in USUAL_IMPORTS:
        return f"{error}; import it at the top of the file{_import_of(name)}"
    return f"{error}; Numba has it as cuda.{_OF_NUMBA[name]}" if name in _OF_NUMBA else str(error)


def _import_of(name: str) -> str:
    module, _, last = USUAL_IMPORTS[name].rpartition(".")
    if module:
        return f": from {module} import {name}"
    return f": import {last}" + (f" as {name}" if name != last else "")


def _findings_of(remarks: Iterable[Remark], geometry: Geometry) -> dict[Finding, tuple[Remark, ...]]:
    """Return one finding per kind, line and array; it describes the lowest thread."""
    alike: dict[tuple[object, ...], list[Remark]] = defaultdict(list)
    for remark in remarks:
        where = remark.lines or (remark.line,)
        alike[remark.kind, where, remark.array].append(remark)
    return dict(_summed(group, geometry) for group in alike.values())


def _summed(group: list[Remark], geometry: Geometry) -> tuple[Finding, tuple[Remark, ...]]:
    group.sort(key=lambda remark: (remark.thread, remark.index, remark.what))
    first = group[0]
    if first.kind == "unsupported":
        message = (
            f"Line {first.line} uses {first.what}, which this simulator does not have; "
            "only a GPU can show whether the results are right."
        )
    else:
        message = f"{with_capital(str(geometry.thread_id(first.thread)))} {first.what}."
        message += _how_many(first, len({remark.thread for remark in group}))
    threads = tuple(geometry.thread_id(number) for number in first.threads or (first.thread,))
    line = first.line or None
    return Finding(first.kind, message, line, first.lines, first.array, first.index, threads), tuple(group)


def _how_many(first: Remark, n: int) -> str:
    if n < 2:
        return ""
    return f" The same happens in {count(n - 1, 'more block' if first.states else 'more thread')}."
