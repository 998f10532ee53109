"""What products sustain in each kind of number, and how far they are from right."""

import time
from functools import partial
from itertools import pairwise
from statistics import median

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.device import clocks
from gpuguide.measure import cp
from gpuguide.measure.turns import gpu_clock
from gpuguide.topics.matmul.study import (
    bits_of_bfloat16,
    operations,
    with_bfloat16,
    with_cublas,
    with_tf32,
)

ROWS = 8192
PARTS, PART_S, REST_S = 120, 0.01, 0.5
LINES = 32  # rows and columns of which errors are taken
LARGEST_ERROR = 0.01  # of a product of random numbers; what is beyond it is a mistake

#: Name -> the call, how a float64 matrix is shortened for it, and the type of its result.
KINDS = {
    "float64": (with_cublas, lambda x: x, np.float64),
    "float32": (with_cublas, lambda x: x.astype(np.float32), np.float32),
    "tf32": (with_tf32, lambda x: x.astype(np.float32), np.float32),
    "bfloat16": (with_bfloat16, lambda x: bits_of_bfloat16(x.astype(np.float32)), np.float32),
    "float16": (with_cublas, lambda x: x.astype(np.float16), np.float16),
}


def long_run(clock, call, work):
    """Call again and again after a rest; return the rates of its parts, and the clock in its second half."""
    call()
    begin = clock.record()
    for _ in range(4):
        call()
    n = max(1, round(PART_S / (clock.elapsed_ns(begin, clock.record()) / 4e9)))
    time.sleep(REST_S)
    clock.delay(1_000_000)  # the host must be ahead
    marks, readings = [clock.record()], []
    for part in range(PARTS):
        for _ in range(n):
            call()
        marks.append(clock.record())
        if part >= PARTS // 2:
            readings.append(clocks().sm_hz or 0)
        if part >= 3:
            marks[part - 2].synchronize()  # no more than three parts wait
    taken = [clock.elapsed_ns(*pair) / 1e9 for pair in pairwise(marks)]
    return n * work / np.array(taken), median(readings)


def sustained_products(n=ROWS):
    """Return for each kind burst and sustained rate, the clock, and the error of the product."""
    rng = np.random.default_rng(0)
    a_host, b_host = (2 * rng.random((n, n)) - 1 for _ in range(2))
    lines = slice(None, None, n // LINES)
    right = exact(a_host[lines], b_host[:, lines])
    clock, found = gpu_clock(), {}
    with clock.use():
        a, b = cp.asarray(a_host), cp.asarray(b_host)
        for name, (call, shorten, stored) in KINDS.items():
            short, c = (shorten(a), shorten(b)), cp.empty((n, n), stored)
            product = partial(call, *short, c)
            rates, sm_hz = long_run(clock, product, operations(n))
            error = float(norm(c[lines, lines].get() - right) / norm(right))
            if not error <= LARGEST_ERROR:
                raise MismatchError(f"The product in {name} is off by {error:.3g}.")
            half = float(np.median(rates[PARTS // 2 :]))
            found[name] = {
                "burst": float(rates[0]),
                "sustained": half,
                "clock": sm_hz,
                "error": error,
            }
    return found


def exact(a, b):
    """Multiply two matrices of few rows and columns in extended precision."""
    b = b.astype(np.longdouble)
    return np.stack([(row[:, None] * b).sum(axis=0) for row in a.astype(np.longdouble)])


def norm(x):
    return np.sqrt((x.astype(np.longdouble) ** 2).sum())
