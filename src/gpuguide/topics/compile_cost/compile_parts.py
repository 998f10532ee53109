"""First calls in fresh processes, with an empty and with a filled cache, and the compiler timed alone."""

import json
from contextlib import contextmanager
from importlib import import_module

import numpy as np

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import cp, has_gpu
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.first_call import FirstCallError, time_first_call
from gpuguide.measure.turns import whole_turns
from gpuguide.topics.first_call.fresh import run_process

EDGE = 32


def first_call():
    """Do everything for the first time, and print how long each part took; run in a process of its own.

    Import Numba ("imports"); call a function with ``cache=True`` ("first"): that compiles and writes it, or
    reads it where the cache is filled; call it again ("later"). Then, where the cache was filled and there
    is a GPU: load CuPy and make a context ("context"), compile a kernel ("kernel_compile"), launch it and
    wait for it ("kernel_call").
    """
    clock, parts = SystemClock(), {}

    @contextmanager
    def part(name):
        start = clock.now_ns()
        yield
        parts[name] = clock.now_ns() - start

    # Not at the top of the module, because this import is timed.
    with part("imports"):
        numba = import_module("numba")
    # Not the study's module: its imports would load parts of the compiler before the first call does.
    topic = import_module("gpuguide.topics.compile_cost.kernels")
    loops = numba.njit(cache=True)(topic.larger_loops)
    a, b = np.random.default_rng(0).random((2, EDGE, EDGE, EDGE), np.float32)
    out = np.empty_like(a)
    with part("first"):
        loops(a, b, out)
    with part("later"):
        loops(a, b, out)
    if not np.array_equal(out, np.maximum(a, b)):
        raise ArgumentError("The compiled loops give a wrong result.")
    hits = sum(loops.stats.cache_hits.values())
    if hits:
        kernel = import_module("gpuguide.topics.grids_2d_3d.kernels").maximum_fast_kernel
        start = clock.now_ns()
        if has_gpu():  # that loads CuPy
            arrays = [cp.asarray(x) for x in (a, b, out)]
            cp.cuda.Device().synchronize()
            parts["context"] = clock.now_ns() - start
            with part("kernel_compile"):
                kernel.compile(f"void({', '.join(['float32[:,:,::1]'] * 3)})")
            with part("kernel_call"):
                kernel[(EDGE // 32, EDGE // 8, EDGE), (32, 8, 1)](*arrays)
                cp.cuda.Device().synchronize()
    print(json.dumps({"hits": hits, "parts": parts}))


def measure_fresh_processes(n_processes=1):
    """Time first calls in fresh processes: each empty cache is filled by one and read by the next.

    One more process runs first and is not counted, so that the others find the files in memory.
    """
    taken = {}

    def run(command, environment, timeout_s):
        for n_hits in (0, 1):
            printed = run_process(command, environment, timeout_s)
            # The last line is the whole time, which time_first_call adds and reads.
            report = json.loads(printed.splitlines()[-2])
            if report["hits"] != n_hits:
                raise FirstCallError(
                    f"Expected {n_hits} functions from the cache on disk; got {report['hits']}."
                )
            names = (
                {"imports": "cached_imports", "first": "cached", "later": ""} if n_hits else {}
            )
            for part, ns in report["parts"].items():
                if name := names.get(part, part):
                    taken.setdefault(name, []).append(ns / 1e9)
        return printed

    target = f"{__name__}:first_call"
    # One process instead of a pair, and its time is not used.
    time_first_call(target, n_discarded=0)
    time_first_call(target, n_processes=n_processes, n_discarded=0, run=run)
    return taken


def time_compiling(function, arguments, n_turns=3, **options):
    """Time how long @njit compiles a function for the types of its arguments, anew each time.

    One turn comes first and is not counted: it loads what the compiler needs.
    """
    numba = import_module("numba")
    types, clock = tuple(map(numba.typeof, arguments)), SystemClock()

    def turn():
        fresh = numba.njit(**options)(function)
        start = clock.now_ns()
        fresh.compile(types)
        return {"compile": (clock.now_ns() - start) / 1e9}

    return whole_turns(turn, n_turns)["compile"]
