"""First calls in fresh processes, with an empty and with a filled cache, and the compiler timed alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cupy, has_gpu
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.first_call import FirstCallError, time_first_call
from gpuguide.measure.turns import whole_turns

Seconds = dict[str, list[float]]
EDGE = 32


def first_call() -> None:
    """Do everything for the first time, and print how long each part took; run in a process of its own.

    Import Numba ("imports"); call a function with ``cache=True`` ("first"): that compiles and writes it, or
    reads it where the cache is filled; call it again ("later"). Then, where the cache was filled and there
    is a GPU: load CuPy and make a context ("context"), compile a kernel ("kernel_compile"), launch it and
    wait for it ("kernel_call").
    """
    clock = SystemClock()
    marks = [clock.now_ns()]
    # Not at the top of the module, because this import is timed.
    numba: Any = import_module("numba")
    marks.append(clock.now_ns())
    # Not the study's module: its imports would load parts of the compiler before the first call does.
    topic = import_module("gpuguide.topics.compile_cost.kernels")
    loops = numba.njit(cache=True)(topic.larger_loops)
    rng = np.random.default_rng(0)
    a, b = rng.random((2, EDGE, EDGE, EDGE), np.float32)
    out = np.empty_like(a)
    names = ["imports", "", "first", "later"]  # what has no name is not reported
    marks.append(clock.now_ns())
    for _ in range(2):
        loops(a, b, out)
        marks.append(clock.now_ns())
    if not np.array_equal(out, np.maximum(a, b)):
        raise ArgumentError("The compiled loops give a wrong result.")
    if loops.stats.cache_hits:
        boxes = import_module("gpuguide.topics.grids_2d_3d.boxes_3d")
        names.append("")
        marks.append(clock.now_ns())
        if has_gpu():
            names += ["context", "kernel_compile", "kernel_call"]
            marks += _first_kernel(boxes, (a, b, out), clock)
    parts = dict(zip(names, (stop - start for start, stop in pairwise(marks)), strict=True))
    parts.pop("")
    print(json.dumps({"hits": sum(loops.stats.cache_hits.values()), "parts": parts}))


def _first_kernel(boxes: Any, arrays: tuple[np.ndarray, ...], clock: SystemClock) -> list[int]:
    """Return the times after the context, the compilation and the call of a kernel."""
    cp, marks = cupy(), []
    a, b, out = (cp.asarray(x) for x in arrays)
    cp.cuda.Device().synchronize()
    marks.append(clock.now_ns())
    boxes.maximum_fast_kernel.compile(f"void({', '.join(['float32[:,:,::1]'] * 3)})")
    marks.append(clock.now_ns())
    boxes.maximum_fast(a, b, out)
    cp.cuda.Device().synchronize()
    marks.append(clock.now_ns())
    return marks


def measure_fresh_processes(n_processes: int = 1) -> Seconds:
    """Time first calls in fresh processes: each empty cache is filled by one and read by the next.

    One more process runs first and is not counted, so that the others find the files in memory.
    """
    taken: Seconds = {}

    def run(command: list[str], environment: Mapping[str, str], timeout_s: float) -> str:
        empty, _ = _process(command, environment, timeout_s, hits=0)
        filled, printed = _process(command, environment, timeout_s, hits=1)
        read = {"cached_imports": filled["imports"], "cached": filled["first"]}
        both = {**empty, **read, **_only_gpu(filled)}
        for name, ns in both.items():
            taken.setdefault(name, []).append(ns / 1e9)
        return printed

    target = f"{__name__}:first_call"
    # One process instead of a pair, and its time is not used.
    time_first_call(target, n_discarded=0)
    time_first_call(target, n_processes=n_processes, n_discarded=0, run=run)
    return taken


def _process(
    command: list[str], environment: Mapping[str, str], timeout_s: float, *, hits: int
) -> tuple[dict[str, int], str]:
    """Run one process; return its parts in nanoseconds, and what it printed."""
    done = subprocess.run(
        command,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode:
        raise FirstCallError(
            f"{command[-1]}: exit status {done.returncode}\n{done.stderr[-2000:]}"
        )
    # The last line is the whole time, which time_first_call adds and reads.
    said = json.loads(done.stdout.splitlines()[-2])
    if said["hits"] != hits:
        raise FirstCallError(
            f"Expected {hits} functions from the cache on disk; got {said['hits']}."
        )
    parts: dict[str, int] = said["parts"]
    return parts, done.stdout


def _only_gpu(parts: Mapping[str, int]) -> dict[str, int]:
    return {name: ns for name, ns in parts.items() if name.startswith(("context", "kernel"))}


def time_compiling(
    function: Callable[..., Any], arguments: tuple[Any, ...], n_turns: int = 3, **options: Any
) -> list[float]:
    """Time how long @njit compiles a function for the types of its arguments, anew each time.

    One turn comes first and is not counted: it loads what the compiler needs.

    Examples
    --------
    >>> from gpuguide.topics.ufuncs.functions import larger
    >>> len(time_compiling(larger, (1.0, 2.0), n_turns=2))
    2
    """
    if n_turns < 1:
        raise ArgumentError(f"Expected at least 1 turn; got {n_turns}.")
    numba: Any = import_module("numba")
    types = tuple(map(numba.typeof, arguments))
    clock = SystemClock()

    def turn() -> dict[str, float]:
        fresh = numba.njit(**options)(function)
        start = clock.now_ns()
        fresh.compile(types)
        return {"compile": (clock.now_ns() - start) / 1e9}

    return whole_turns(turn, n_turns)["compile"]
