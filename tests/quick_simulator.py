"""Numba's simulator without a thread of the system for each CUDA thread.

Numba starts one for every CUDA thread and polls them all until the last is done, which takes most of the
time. Here the CUDA threads of a block run in turn: a kernel with barriers becomes a generator, which stops at
each of them until all others have reached one or ended. And Numba reads the whole stack, with the files'
lines, whenever a CUDA thread asks for its block's array, searches a module for ``cuda`` at each call of a
device function, and takes several calls to an element. Importing this module changes the simulator of the
process. Where a kernel's source is not at hand, it runs in Numba's threads.
"""

from __future__ import annotations

import ast
import linecache
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from types import FrameType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from numba.cuda.simulator import kernel as simulator
from numba.cuda.simulator import kernelapi
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, FakeShape, FakeWithinKernelCUDAArray
from numba.cuda.simulator.kernel import BlockManager, Dim3, FakeCUDAKernel

BARRIERS = {"syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or"}
# As a thread of the system begins, whatever its starter has set.
FLOATING_POINT = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
in_threads = BlockManager.run


class CudaThread:
    """What kernels see of a `BlockThread`; `now` is the one that runs."""

    now: CudaThread | None = None

    def __init__(self, block: BlockManager, block_index: Dim3, place: tuple[int, ...]) -> None:
        width, height, _ = block._block_dim
        self.block, self.place, self.blockIdx, self.threadIdx = block, place, block_index, Dim3(*place)
        self.thread_id = place[0] + width * (place[1] + height * place[2])

    def syncthreads(self, *_: Any) -> None:
        raise NotImplementedError("a barrier in a function that a kernel calls: this needs quick=False")

    syncthreads_count = syncthreads_and = syncthreads_or = syncthreads

    def go_on(self, call: Callable[..., Any], *args: Any) -> Any:
        """Let it run to its end, or to the next barrier; its errors say where they happened, as Numba's."""
        CudaThread.now = self
        try:
            return call(*args)
        except Exception as error:
            where = f"tid={list(self.threadIdx)} ctaid={list(self.blockIdx)}"
            message = f"{where}: {error}" if str(error) else where
            raise type(error)(message).with_traceback(error.__traceback__) from None
        finally:
            CudaThread.now = None


def run_block(block: BlockManager, point: Any, *args: Any) -> None:
    """Take the place of `BlockManager.run`."""
    waits = not BARRIERS.isdisjoint(block._f.__code__.co_names)
    function = stopping_at_barriers(block._f) if waits else block._f
    if function is None:
        in_threads(block, point, *args)
        return
    index = Dim3(*point)
    # Numba's order: x varies slowest.
    threads = [CudaThread(block, index, place) for place in np.ndindex(*block._block_dim)]
    with np.errstate(**{**FLOATING_POINT, **({"divide": "raise"} if block._debug else {})}):
        bodies = [(thread, thread.go_on(function, *args)) for thread in threads]
        while waits and bodies:
            bodies = [(thread, body) for thread, body in bodies if thread.go_on(next, body, None)]


def at_barrier(name: str, vote: Any = None) -> Iterator[bool]:
    """Wait as the methods of `BlockThread` do; return what they return."""
    thread = CudaThread.now
    assert thread is not None
    if name == "syncthreads":
        yield True
        return None
    votes = thread.block.block_state
    votes[thread.place] = vote
    yield True
    found = {"count": np.count_nonzero, "and": np.all, "or": np.any}[name.partition("_")[2]](votes)
    yield True
    return found if name == "syncthreads_count" else int(found)


class StopAtBarriers(ast.NodeTransformer):
    """Writes a generator for a kernel; every line keeps its number, by which shared arrays are told apart."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.decorator_list = []
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Attribute) and node.func.attr in BARRIERS):
            return node
        called = ast.Call(
            ast.Name("__at_barrier__", ast.Load()), [ast.Constant(node.func.attr), *node.args], []
        )
        return ast.copy_location(ast.YieldFrom(called), node)


@cache
def stopping_at_barriers(function: FunctionType) -> Any:
    """Return the generator for a kernel; None where its source is not to be had."""
    code = function.__code__
    tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    functions = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))
    node = next((each for each in functions if first_line(each) == code.co_firstlineno), None)
    if node is None:
        return None
    # What the kernel has of a function around it becomes an argument.
    around = ast.parse(f"def around({', '.join(code.co_freevars)}): return {node.name}")
    around.body[0].body.insert(0, StopAtBarriers().visit(node))
    made: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(around), code.co_filename, "exec"), function.__globals__, made)
    function.__globals__["__at_barrier__"] = at_barrier
    return made["around"](*(cell.cell_contents for cell in function.__closure__ or ()))


def first_line(function: ast.FunctionDef) -> int:
    return min(each.lineno for each in (function, *function.decorator_list))


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


def element(array: FakeWithinKernelCUDAArray, index: Any) -> Any:
    """Take the place of `FakeWithinKernelCUDAArray.__getitem__`."""
    found = array._item._ary[index]
    if type(found) in (np.ndarray, np.void):
        return FakeWithinKernelCUDAArray(FakeCUDAArray(found, stream=array._item.stream))
    return found


def set_element(array: FakeWithinKernelCUDAArray, index: Any, value: Any) -> None:
    """Take the place of `FakeWithinKernelCUDAArray.__setitem__`."""
    array._item._ary[index] = value


BlockManager.run = run_block
call = Call()
FakeCUDAKernel.__call__ = lambda kernel, *args: call(kernel, *args)
FakeWithinKernelCUDAArray.__getitem__, FakeWithinKernelCUDAArray.__setitem__ = element, set_element
FakeWithinKernelCUDAArray.shape = property(lambda array: FakeShape(array._item._ary.shape))
FakeWithinKernelCUDAArray.size = property(lambda array: array._item._ary.size)
kernelapi.traceback = SimpleNamespace(extract_stack=last_of_stack)
kernelapi.threading = SimpleNamespace(current_thread=lambda: CudaThread.now or threading.current_thread())
