"""The first call of a kernel in a fresh process, taken apart: context, compilation, launch, work."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from itertools import pairwise

from gpuguide.machine.backends import cupy
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.first_call import time_first_call
from gpuguide.topics.first_kernel.kernels import grid
from gpuguide.topics.first_kernel.study import increment_grid

PARTS = ("context", "compile", "launch", "work")


def first_call() -> None:
    """Do everything for the first time, and print how long each part took.

    Import CuPy, create a context and an array of 65 536 ones ("context"); compile the kernel ("compile");
    launch it ("launch"); wait for it ("work"). Run in a process of its own by `measure_first_call`.
    """
    clock = SystemClock()
    marks = [clock.now_ns()]
    cp = cupy()
    x = cp.ones(65_536)
    cp.cuda.Device().synchronize()
    marks.append(clock.now_ns())
    grid.compile("void(float64[::1])")
    marks.append(clock.now_ns())
    increment_grid(x)
    marks.append(clock.now_ns())
    cp.cuda.Device().synchronize()
    marks.append(clock.now_ns())
    print(json.dumps([stop - start for start, stop in pairwise(marks)]))


def measure_first_call(n_processes: int = 1) -> dict[str, tuple[float, ...]]:
    """Time the first call in fresh processes with empty kernel caches."""
    printed: list[list[int]] = []

    def run(command: list[str], environment: Mapping[str, str], timeout_s: float) -> str:
        done = subprocess.run(
            command,
            env=dict(environment),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=True,
        )
        # The last line is the whole time, which time_first_call adds and reads.
        printed.append(json.loads(done.stdout.splitlines()[-2]))
        return done.stdout

    whole = time_first_call(f"{__name__}:first_call", n_processes=n_processes, run=run)
    # The first process is not counted, as in `whole`.
    counted = zip(*printed[1:], strict=True)
    parts = {
        name: tuple(ns / 1e9 for ns in column)
        for name, column in zip(PARTS, counted, strict=True)
    }
    return {"whole": whole.seconds, **parts}
