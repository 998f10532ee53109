"""The ten kernels that the first try at tracing judged: ten of ten, in either order."""

import numpy as np
import pytest
from launching import findings, poisoned, ramp

HISTOGRAM = """
def histogram(x, h):
    i = cuda.grid(1)
    if i < x.size:
        {}
"""
REDUCTION = """
def reduction(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    {first}
    stride = 32
    while stride > 0:
        if t < stride:
            s[t] += s[t + stride]
        {inner}
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]
"""
SHIFT = """
def shift(x):
    i = cuda.grid(1)
    if i < x.size - 1:
        x[i] = x[i + 1]
"""
NEIGHBOURS = """
def neighbours(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i - 1] + x[i]
"""
EARLY_RETURN = """
def early_return(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i >= x.size:
        return
    s[t] = x[i]
    cuda.syncthreads()
    out[i] = s[t]
"""
TWO_BARRIERS = """
def two_barriers(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 32:
        s[t] = x[t]
        cuda.syncthreads()
    else:
        s[t] = x[t]
        cuda.syncthreads()
    out[t] = s[63 - t]
"""
UNSET = """
def unset(out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] += 1
    out[cuda.grid(1)] = s[t]
"""


def reduction(first: bool, inner: bool) -> str:
    barrier = {True: "cuda.syncthreads()", False: "pass"}
    return REDUCTION.format(first=barrier[first], inner=barrier[inner])


def counted() -> dict[str, np.ndarray]:
    return {"x": np.arange(128) % 4, "h": np.zeros(4, np.int64)}


RIGHT = [
    ("histogram with atomics", HISTOGRAM.format("cuda.atomic.add(h, x[i], 1)"), 4, 32, counted()),
    ("reduction", reduction(True, True), 2, 64, {"x": ramp(128), "out": poisoned(2)}),
]
WRONG = [
    (
        "histogram without atomics", HISTOGRAM.format("h[x[i]] += 1"), 4, 32, counted(), "race",
        "Threads 0 and 4 of block 0 both change h[0] in line 5 with no barrier between, so one of the "
        "changes "
        "can be lost. The same holds for 3 more elements.",
    ),
    (
        "shift in place", SHIFT, 2, 32, {"x": ramp(64)}, "race",
        "Thread 0 of block 0 reads x[1] in line 5 and thread 1 writes it in the same line with no barrier "
        "between, so the old value or the new one can be read. The same holds for 61 more elements.",
    ),
    (
        "reduction without barriers", reduction(False, False), 2, 64, {"x": ramp(128), "out": poisoned(2)},
        "race",
        "Thread 1 of block 0 writes s[1] in line 5 and thread 0 reads it in line 10 with no barrier between, "
        "so the old value or the new one can be read. The same holds for 125 more elements.",
    ),
    (
        "reduction without one barrier", reduction(True, False), 2, 64, {"x": ramp(128), "out": poisoned(2)},
        "race",
        "Thread 0 of block 0 reads s[1] in line 10 and thread 1 writes it in the same line with no barrier "
        "between, so the old value or the new one can be read. The same holds for 61 more elements.",
    ),
    (
        "neighbour of the first element", NEIGHBOURS, 1, 32, {"x": ramp(20), "out": poisoned(20)},
        "negative_index",
        "Thread 0 of block 0 reads x[-1] in line 5; Numba silently counts a negative index from the end: "
        "this "
        "is x[19].",
    ),
    (
        "return before a barrier", EARLY_RETURN, 2, 64, {"x": ramp(100), "out": poisoned(100)},
        "missed_barrier",
        "Thread 36 of block 1 returned in line 7 while thread 0 of the same block waits at the barrier in "
        "line 9, and all threads of a block must reach it.",
    ),
    (
        "a barrier in both branches", TWO_BARRIERS, 1, 64, {"x": ramp(64), "out": poisoned(64)},
        "divergent_barrier",
        "Thread 0 of block 0 waits at the barrier in line 7 while thread 32 of the same block waits at the "
        "one "
        "in line 10; all threads of a block must meet at the same barrier.",
    ),
    (
        "shared memory not set", UNSET, 2, 32, {"out": poisoned(64)}, "uninitialised",
        "Thread 0 of block 0 reads s[0] in line 5 before anything was written to it; s is shared memory, "
        "which "
        "starts unset. The same happens in 63 more threads.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "source", "grid", "block", "arguments"), RIGHT, ids=[case[0] for case in RIGHT]
)
def test_a_right_kernel_has_no_finding(name, source, grid, block, arguments) -> None:
    assert findings(source, grid, block, **arguments) == ()


@pytest.mark.parametrize(
    ("name", "source", "grid", "block", "arguments", "kind", "message"),
    WRONG,
    ids=[case[0] for case in WRONG],
)
def test_a_wrong_kernel_has_its_finding_first(name, source, grid, block, arguments, kind, message) -> None:
    first, *more = findings(source, grid, block, **arguments)
    assert (first.kind, str(first)) == (kind, message)
    assert {finding.kind for finding in more} <= {kind}


def test_all_ten_are_here() -> None:
    assert len(RIGHT) + len(WRONG) == 10
