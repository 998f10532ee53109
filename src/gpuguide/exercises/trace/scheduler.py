"""Runs a kernel thread by thread, always in the same order, and hands back what every thread touched."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from gpuguide.errors import ArgumentError, unknown
from gpuguide.exercises.trace.accesses import Accesses, Setting
from gpuguide.exercises.trace.analysis import findings_between_threads
from gpuguide.exercises.trace.arrays import whole
from gpuguide.exercises.trace.events import READ, unpack
from gpuguide.exercises.trace.faults import EndlessError
from gpuguide.exercises.trace.figures import Record
from gpuguide.exercises.trace.geometry import WARP_SIZE, Geometry, place
from gpuguide.exercises.trace.machine import Machine
from gpuguide.exercises.trace.namespace import build
from gpuguide.exercises.trace.prepare import TracedKernel
from gpuguide.exercises.trace.regions import Memory, Region
from gpuguide.exercises.trace.reports import ENDS_A_THREAD, endless_finding, findings_of, remark_of
from gpuguide.exercises.trace.runtime import Cuda
from gpuguide.exercises.trace.scalars import NUMBER_TYPES, as_scalar, described, is_poisoned
from gpuguide.exercises.trace.standstill import Standstill, Thread
from gpuguide.exercises.trace.trace import Trace
from gpuguide.exercises.trace.waits import Wait
from gpuguide.exercises.trace.warp_operations import answers, block_answer

__all__ = ["ORDERS", "STEP_LIMIT", "run"]

#: Turns of loops that one thread may make before its loop counts as endless.
STEP_LIMIT = 100_000
#: A wait counts as so many turns of a loop, so that a loop that holds one ends in time, too.
_PRICE_OF_A_WAIT = 50
ORDERS = ("forward", "reverse")
_Item = TypeVar("_Item")
_DTYPES = {kind.dtype for kind in NUMBER_TYPES.values()}


def run(
    kernel: TracedKernel,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    arguments: Mapping[str, object],
    *,
    order: str = "forward",
    shared_bytes: int = 0,
    step_limit: int = STEP_LIMIT,
    outputs: Collection[str] | None = None,
) -> Trace:
    """Launch a kernel in the tracing simulator.

    Parameters
    ----------
    kernel : TracedKernel
        What `prepare` made.
    grid, block : int or tuple of int
        As in ``kernel[grid, block]``: one to three axes.
    arguments : mapping of str to object
        In the order of the kernel's parameters: NumPy arrays (of any strides, changed in place) and scalars.
    order : str
        ``"forward"``, or ``"reverse"``: the blocks, and the threads of a block, the last one first.
    shared_bytes : int
        Dynamic shared memory of a block.
    step_limit : int
        Turns of loops that one thread may make.
    outputs : collection of str, optional
        Arguments that hold nothing yet, so that a read before a write is a finding. By default those
        whose every element is NaN or the smallest integer of its signed type.

    Returns
    -------
    Trace
        It comes whatever the kernel does: an exception in it, an index out of range or an endless loop is a
        finding.

    Raises
    ------
    ArgumentError
        The launch itself makes no sense: no thread, too many threads, more or fewer arguments than
        parameters, an argument of a type that no kernel takes.

    Examples
    --------
    >>> from gpuguide.exercises.trace import prepare
    >>> kernel = prepare('''
    ... def double(x):
    ...     i = cuda.grid(1)
    ...     x[i] *= 2
    ... ''')
    >>> x = np.arange(3)
    >>> for finding in run(kernel, 1, 4, {"x": x}).findings:
    ...     print(finding)
    Thread 3 of block 0 reads x[3] in line 4, but x has 3 elements, the last of which is x[2].
    >>> x.tolist()
    [0, 2, 4]
    """
    if order not in ORDERS:
        raise unknown("order", order, ORDERS)
    geometry = Geometry.of(grid, block)
    launch = Launch(kernel, geometry, order == "reverse", shared_bytes, step_limit)
    names, given = launch.take(arguments, outputs)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        endless = launch.run(given)
    return launch.trace(names, endless)


class Launch:
    """One launch under way.

    Parameters
    ----------
    kernel : TracedKernel
        What is launched.
    geometry : Geometry
        With how many blocks and threads.
    backwards : bool
        Whether the last block and the last thread come first.
    shared_bytes, step_limit : int
        As for `run`.

    Attributes
    ----------
    barriers : int
        Block-wide barriers that the busiest block passed.
    loop_turns : int
        Turns of loops that the busiest thread made.
    loose_warps : set of int
        Warps in which ``syncwarp`` left lanes out, numbered through all blocks.
    """

    def __init__(
        self, kernel: TracedKernel, geometry: Geometry, backwards: bool, shared_bytes: int, step_limit: int
    ) -> None:
        self.kernel, self.geometry, self.backwards = kernel, geometry, backwards
        self.machine = Machine(kernel.sites, geometry, step_limit)
        self.cuda = Cuda(self.machine, geometry.grid, geometry.block, shared_bytes)
        self.barriers = self.loop_turns = 0
        self.loose_warps: set[int] = set()
        self._memories: list[tuple[Region, Memory]] = []
        self._places = [place(number, geometry.block) for number in range(geometry.threads_per_block)]

    def take(
        self, arguments: Mapping[str, object], outputs: Collection[str] | None
    ) -> tuple[dict[str, str], list[Any]]:
        """Return the kernel's names of the arguments, and the arguments as it sees them."""
        parameters = self.kernel.parameters
        if len(arguments) != len(parameters):
            raise ArgumentError(
                f"{self.kernel.name} takes {len(parameters)} arguments ({', '.join(parameters)}); "
                f"got {len(arguments)} ({', '.join(arguments)})."
            )
        names = dict(zip(arguments, parameters, strict=True))
        given = {names[key]: _checked(names[key], value) for key, value in arguments.items()}
        arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
        if outputs is None:
            unset = {name for name, array in arrays.items() if is_poisoned(array)}
        else:
            unset = {names[key] for key in outputs}
        self._memories = self.machine.regions.given(arrays, unset)
        traced = {
            region.name: whole(
                self.machine, region, memory.cells, constant=not arrays[region.name].flags.writeable
            )
            for region, memory in self._memories
        }
        return names, [traced.get(name, value) for name, value in given.items()]

    def run(self, given: list[Any]) -> EndlessError | None:
        """Run all blocks; return the loop that did not end, if any."""
        names = build(self.machine, self.cuda, self.kernel.imports, self.kernel.constants)
        exec(self.kernel.code, names)  # running the reader's function is the point
        function = names[self.kernel.name]
        try:
            for number in self.ordered(range(self.geometry.blocks)):
                index = self.cuda.blockIdx
                index.x, index.y, index.z = place(number, self.geometry.grid)
                self.cuda.shared.of_block.clear()
                if self.kernel.waits:
                    _WaitingBlock(self, number, [function(*given) for _ in self._places]).run()
                else:
                    self._run_block(number, function, given)
        except EndlessError as endless:
            return endless
        return None

    def _run_block(self, block: int, function: Any, given: list[Any]) -> None:
        """Run a block whose threads never wait: one after the other."""
        first, machine, limit = block * len(self._places), self.machine, self.machine.step_limit
        for number in self.ordered(range(len(self._places))):
            self.enter(number)
            machine.begin(first + number, 0, 0, limit)
            try:
                function(*given)
            except EndlessError:
                raise
            except Exception as error:
                self.failed(error)
            self.loop_turns = max(self.loop_turns, limit - machine.fuel)

    def enter(self, number: int) -> None:
        """Let ``cuda`` speak of a thread of the running block."""
        cuda = self.cuda
        index = cuda.threadIdx
        index.x, index.y, index.z = self._places[number]
        cuda.laneid = number % WARP_SIZE

    def failed(self, error: Exception) -> None:
        """Note why the running thread ended before its time."""
        self.machine.remarks.append(remark_of(error, self.kernel.name, self.machine.thread))

    def ordered(self, items: Sequence[_Item]) -> Sequence[_Item]:
        """Return blocks, warps or threads in the order in which they run."""
        return items[::-1] if self.backwards else items

    def trace(self, names: dict[str, str], endless: EndlessError | None) -> Trace:
        """Put the results back into the arrays, and look at what was noted."""
        log, segments = self.machine.packed()
        setting = Setting(
            segments,
            self.machine.regions.all,
            self.geometry,
            self.kernel.sites,
            np.array(self.machine.clocks, np.int64),
            frozenset(self.loose_warps),
        )
        accesses = Accesses(unpack(log), setting)
        record = Record(accesses, self.barriers, self.loop_turns)
        self._put_back(record.memory)
        if endless is not None:
            finding = endless_finding(endless, self.machine.step_limit)
            return Trace((*self.kernel.findings, finding), names, record)
        told = findings_of(self.machine.remarks, self.geometry)
        complete = not any(remark.kind in ENDS_A_THREAD for remark in self.machine.remarks)
        found = [*self.kernel.findings, *told, *findings_between_threads(accesses, complete=complete)]
        return Trace(tuple(sorted(found, key=lambda finding: finding.order)), names, record, told)

    def _put_back(self, accesses: Accesses) -> None:
        written = accesses[accesses.kind != READ]
        for region, memory in self._memories:
            cells = written.address[(written.region == self.machine.regions.all.index(region))] - region.base
            memory.put_back(np.unique(cells))


class _WaitingBlock:
    """A block whose threads wait for one another: each is a generator that stops where it waits."""

    def __init__(self, launch: Launch, block: int, bodies: Sequence[Generator[Wait, Any, Any]]) -> None:
        threads = [Thread(number, body, launch.machine.step_limit) for number, body in enumerate(bodies)]
        self.launch, self.machine, self.block, self.threads = launch, launch.machine, block, threads
        self.first = block * len(threads)
        warps = [threads[start : start + WARP_SIZE] for start in range(0, len(threads), WARP_SIZE)]
        self.warps = [launch.ordered(warp) for warp in launch.ordered(warps)]
        self.epoch = 0
        self.standstill = Standstill(launch.machine, self.first, threads)

    def run(self) -> None:
        """Run all warps from barrier to barrier."""
        going = True
        while going:
            for warp in self.warps:
                self._run_warp(warp)
            going = self._pass_barrier()
        for thread in self.threads:
            thread.body.close()
            turns = self.machine.step_limit - thread.fuel - thread.pieces * _PRICE_OF_A_WAIT
            self.launch.loop_turns = max(self.launch.loop_turns, turns)
        self.launch.barriers = max(self.launch.barriers, self.epoch)

    def _run_warp(self, warp: Sequence[Thread]) -> None:
        """Run a warp until each lane has ended, or waits for more than its warp can give."""
        ready = [thread for thread in warp if thread.wait is None and not thread.ended]
        while ready:
            for thread in ready:
                self._resume(thread)
            ready = self._answered(warp)

    def _resume(self, thread: Thread) -> None:
        machine, number = self.machine, self.first + thread.number
        self.launch.enter(thread.number)
        phase = machine.clocks[thread.clock][thread.lane]
        machine.begin(number, self.epoch, thread.path, thread.fuel, phase, thread.clock)
        try:
            thread.wait = thread.body.send(thread.answer)
        except StopIteration:
            thread.wait, thread.ended = None, True
        except EndlessError:
            raise
        except Exception as error:
            thread.wait, thread.ended, thread.failed = None, True, True
            self.launch.failed(error)
        thread.answer, thread.path, thread.fuel = None, machine.path, machine.fuel - _PRICE_OF_A_WAIT
        thread.pieces += 1
        if thread.fuel < 0 and thread.wait is not None:
            raise EndlessError(machine.sites.place(thread.wait.site).line)

    def _answered(self, warp: Sequence[Thread]) -> list[Thread]:
        """Let the operations of a warp take place whose lanes have all arrived; return those lanes."""
        calls: dict[tuple[str, int], dict[int, Thread]] = {}
        for thread in warp:
            if thread.wait is not None and thread.wait.mask:
                mask = self._own_mask(thread, thread.wait)
                calls.setdefault((thread.wait.operation, mask), {})[thread.lane] = thread
        if not calls:
            return []
        running = {thread.lane for thread in warp if not thread.ended}
        ready: set[int] = set()
        for (operation, mask), lanes in calls.items():
            if all(lane in lanes for lane in running if mask >> lane & 1):
                if operation == "syncwarp":
                    self._synchronise(warp, list(lanes.values()))
                given = answers({lane: thread.wait for lane, thread in lanes.items() if thread.wait})
                for lane, thread in lanes.items():
                    thread.wait, thread.answer = None, given[lane]
                ready |= lanes.keys()
        return [thread for thread in warp if thread.lane in ready]

    def _own_mask(self, thread: Thread, wait: Wait) -> int:
        """Return the lanes that a thread waits for: itself alone, with a finding, if its mask omits it."""
        if wait.mask >> thread.lane & 1:
            return wait.mask
        self.standstill.left_out(thread, wait)
        return 1 << thread.lane

    def _synchronise(self, warp: Sequence[Thread], lanes: list[Thread]) -> None:
        """Let lanes know of all that each of them has done so far."""
        clocks = self.machine.clocks
        known = [list(clocks[thread.clock]) for thread in lanes]
        for own, thread in zip(known, lanes, strict=True):
            own[thread.lane] += 1
        clocks.append(tuple(map(max, *known)) if len(known) > 1 else tuple(known[0]))
        for thread in lanes:
            thread.clock = len(clocks) - 1
        if len(lanes) < len(warp):
            warps_per_block = -(-len(self.threads) // WARP_SIZE)
            self.launch.loose_warps.add(self.block * warps_per_block + lanes[0].number // WARP_SIZE)

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
        operations = {wait.operation for wait in waits}
        given = {operation: block_answer(operation, waits) for operation in operations}
        for thread, wait in zip(waiting, waits, strict=True):
            thread.wait, thread.answer = None, given[wait.operation]
        self.epoch += 1
        return True


def _checked(name: str, value: Any) -> Any:
    """Refuse an argument that no kernel takes."""
    if isinstance(value, np.ndarray):
        if value.dtype not in _DTYPES:
            raise ArgumentError(f"{name} expects an array of numbers; got one of {value.dtype}.")
        return value
    if isinstance(value, bool | int | float | complex | np.generic):
        return as_scalar(value)
    if isinstance(value, tuple):
        return tuple(_checked(name, each) for each in value)
    raise ArgumentError(f"{name} expects an array or a number; got {described(value)}.")
