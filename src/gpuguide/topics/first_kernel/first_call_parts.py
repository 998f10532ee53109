"""The first call of a kernel in a fresh process, taken apart: context, compilation, launch, work."""

import json
import subprocess
from itertools import pairwise

from gpuguide.measure import cp
from gpuguide.measure.clocks import SystemClock
from gpuguide.measure.first_call import time_first_call
from gpuguide.topics.first_kernel.kernels import grid
from gpuguide.topics.first_kernel.study import BLOCK, blocks

PARTS = ("context", "compile", "launch", "work")


def first_call():
    """Do everything for the first time, and print how long each part took, in nanoseconds."""
    clock = SystemClock()
    marks = [clock.now_ns()]
    x = cp.ones(65_536)  # imports CuPy, and creates a context
    cp.cuda.Device().synchronize()
    marks.append(clock.now_ns())
    grid.compile("void(float64[::1])")
    marks.append(clock.now_ns())
    grid[blocks(x.size), BLOCK](x)
    marks.append(clock.now_ns())
    cp.cuda.Device().synchronize()
    marks.append(clock.now_ns())
    print(json.dumps([stop - start for start, stop in pairwise(marks)]))


def measure_first_call(n_processes=1):
    """Time the first call in fresh processes with empty kernel caches."""
    printed = []

    def run(command, environment, timeout_s):
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
