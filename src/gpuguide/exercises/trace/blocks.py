"""Runs the threads of a block that wait for one another: each is a generator that stops where it waits."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from gpuguide.exercises.trace.faults import EndlessError
from gpuguide.exercises.trace.geometry import WARP_SIZE
from gpuguide.exercises.trace.standstill import Standstill, Thread
from gpuguide.exercises.trace.waits import Wait
from gpuguide.exercises.trace.warp_operations import answers, block_answer

if TYPE_CHECKING:
    from gpuguide.exercises.trace.scheduler import Launch

__all__ = ["run_block"]

#: A wait counts as so many turns of a loop, so that a loop that holds one ends in time, too.
_PRICE_OF_A_WAIT = 50


def run_block(launch: Launch, block: int, bodies: Sequence[Generator[Wait, Any, Any]]) -> None:
    """Run a block to its end.

    Parameters
    ----------
    launch : Launch
        Whose block it is.
    block : int
        The block's number in the grid.
    bodies : sequence of generator
        One a thread.
    """
    threads = [Thread(number, body, launch.machine.step_limit) for number, body in enumerate(bodies)]
    _Block(launch, block, threads).run()


class _Block:
    def __init__(self, launch: Launch, block: int, threads: list[Thread]) -> None:
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
