"""The broken kernels as gg.trace sees them, on small inputs."""

from importlib import import_module
from time import perf_counter

import numpy as np

from gpuguide.topics.debugging.tools import PROGRAMS, kernel_lines
from gpuguide.tracer.trace import trace

WHERE = "gpuguide.topics.debugging.programs"


def signs(n):
    """Return numbers of both signs."""
    return np.where(np.arange(n) % 3, 1, -1).astype(np.float32)


def floats(n):
    return np.zeros(n, np.float32)


def keys_and_table():
    keys = np.arange(8)
    keys[5] = 1_000_000_000
    return keys, floats(20), floats(8)


#: Kernel, blocks, threads, and what makes its arguments.
LAUNCHES = {
    "later": ("look_up", 1, 8, keys_and_table),
    "no_guard": ("negate", 2, 8, lambda: (signs(10), floats(10))),
    "no_barrier": ("mirror", 1, 256, lambda: (signs(256), floats(256))),
    "no_atomic": ("count_positive", 1, 16, lambda: (signs(16), np.zeros(1, np.int64))),
    "two_barriers": ("steps", 1, 64, lambda: (signs(40), floats(40))),
    "never": ("move", 1, 64, lambda: (signs(64), floats(64))),
    "not_cleared": ("counts_of_blocks", 2, 32, lambda: (signs(64), np.zeros(2, np.int32))),
}


def traced(program):
    """Trace the launch of a program's kernel."""
    name, blocks, threads, arguments = LAUNCHES[program]
    kernel = getattr(import_module(f"{WHERE}.{program}"), name)
    return trace(kernel[blocks, threads], *arguments())


def levels():
    """Return 2 for each program of whose kernel a line is named, else 0."""
    return [
        2 * any(finding.line in kernel_lines(program) for finding in traced(program).findings)
        for program in PROGRAMS
    ]


def seconds(n_blocks=4):
    """Return how long it takes to trace so many blocks of 256 threads of the kernel without a barrier."""
    kernel = import_module(f"{WHERE}.no_barrier").mirror[n_blocks, 256]
    n = 256 * n_blocks
    start = perf_counter()
    trace(kernel, signs(n), floats(n))
    return perf_counter() - start
