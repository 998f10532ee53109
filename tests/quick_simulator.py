"""Numba's simulator with few threads of the system: one for each CUDA thread that has to wait.

Numba starts one for every CUDA thread and polls them all until the last is done, which takes most of the
time. Here one runs the CUDA threads of a block in turn. When its CUDA thread reaches a barrier, another one
runs those that are left, and it goes on when all have reached the barrier or ended. And Numba reads the whole
stack, with the files' lines, whenever a CUDA thread asks for its block's array, and searches a module for
``cuda`` at each call of a device function. Importing this module changes the simulator of the process.
"""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
from numba.cuda.simulator import kernel as simulator
from numba.cuda.simulator import kernelapi
from numba.cuda.simulator.kernel import BlockManager, BlockThread, Dim3, FakeCUDAKernel


class Runner(BlockThread):
    """Runs CUDA threads of a block, one after the other; what kernels see of it is that of `BlockThread`."""

    def __init__(self, block: BlockManager, places: Any, turn: threading.Semaphore, point: Any, args: Any):
        super().__init__(None, block, point, (0, 0, 0), block._debug)
        self.places, self.turn, self.arguments = places, turn, args
        self.ended = False

    def run(self) -> None:
        if self.debug:
            np.seterr(divide="raise")
        width, height, _ = self._manager._block_dim
        try:
            for place in self.places:
                self.threadIdx = Dim3(*place)
                self.thread_id = place[0] + width * (place[1] + height * place[2])
                self._manager._f(*self.arguments)
        except Exception as error:
            where = f"tid={list(self.threadIdx)} ctaid={list(self.blockIdx)}"
            message = f"{where}: {error}" if str(error) else where
            self.exception = (type(error)(message), sys.exc_info()[2])
        self.ended = True
        self.turn.release()

    def syncthreads(self) -> None:
        """Hand over to the block, and wait until it hands back."""
        self.turn.release()
        self.syncthreads_event.wait()
        self.syncthreads_event.clear()
        if self.abort:
            raise RuntimeError("abort flag set on syncthreads clear")

    def go_on(self) -> None:
        """Let it run to the next barrier or to its end."""
        if self.ident is None:
            self.start()
        else:
            self.syncthreads_event.set()
        self.turn.acquire()


def run_block(block: BlockManager, point: Any, *args: Any) -> None:
    """Take the place of `BlockManager.run`."""
    # Numba's order: x varies slowest.
    places, turn = iter(list(np.ndindex(*block._block_dim))), threading.Semaphore(0)
    waiting: list[Runner] = []
    while True:
        runner = Runner(block, places, turn, point, args)
        if not _waits(runner, waiting):
            break
        waiting.append(runner)
    while waiting:
        waiting = [runner for runner in waiting if _waits(runner, waiting)]


def _waits(runner: Runner, others: list[Runner]) -> bool:
    """Let a runner go on; say whether it waits at a barrier, or raise what its CUDA thread raised."""
    runner.go_on()
    if runner.exception:
        for other in others:
            if not other.ended:
                other.abort = True
                other.go_on()
        raise runner.exception[0].with_traceback(runner.exception[1])
    return not runner.ended


class Call:
    """Takes the place of `FakeCUDAKernel.__call__`: modules have the simulator's ``cuda`` to the end."""

    launch = FakeCUDAKernel.__call__

    def __init__(self) -> None:
        self.exchanged: set[int] = set()
        self.until_the_end = ExitStack()

    def __call__(self, kernel: FakeCUDAKernel, *args: Any) -> Any:
        context = simulator._kernel_context
        if not context:
            with self.until_the_end:
                self.exchanged.clear()
                return Call.launch(kernel, *args)
        if (module := id(kernel.fn.__globals__)) not in self.exchanged:
            self.exchanged.add(module)
            self.until_the_end.enter_context(kernelapi.swapped_cuda_module(kernel.fn, context))
        return kernel.fn(*args)


def last_of_stack(frame: FrameType) -> list[tuple[str, int]]:
    """Take the place of `traceback.extract_stack`, of which the file and the line of the caller are read."""
    caller = frame.f_back
    assert caller is not None
    return [(caller.f_code.co_filename, caller.f_lineno), (frame.f_code.co_filename, frame.f_lineno)]


BlockManager.run = run_block
call = Call()
FakeCUDAKernel.__call__ = lambda kernel, *args: call(kernel, *args)
kernelapi.traceback = SimpleNamespace(extract_stack=last_of_stack)
