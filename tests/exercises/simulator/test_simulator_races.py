"""What is a race and what is not: blocks, barriers, warps, atomics, fences, overlapping arguments."""

import numpy as np
import pytest
from launching import findings, kinds, launch, poisoned, ramp

ONE_BLOCK = [
    ("each thread its own element", "x[t] = t", []),
    ("each thread its own element, twice", "x[t] = t; x[t] += 1", []),
    ("all read one element", "y[t] = x[0]", []),
    ("all write one element", "x[0] = t", ["race"]),
    ("all write the same value to one element", "x[0] = 1", []),
    ("one of many writes another value", "x[0] = 1 if t != 40 else 2", ["race"]),
    ("one thread writes two values", "x[0] = 1\n    if t == 0: x[0] = 2\n    x[0] = 1", ["race"] * 2),
    ("the same value, which another thread reads", "x[0] = 1\n    if t == 9: y[t] = x[0]", ["race"]),
    ("one thread writes, all change", "x[0] = 5 if t == 0 else x[0] + t", ["race"]),
    ("all add atomically", "cuda.atomic.add(x, 0, 1)", []),
    ("atomics beside a plain read", "cuda.atomic.add(x, 0, 1); y[t] = x[0]", ["race"]),
    ("atomics beside a plain write", "cuda.atomic.add(x, 0, 1)\n    if t == 3: x[0] = 0", ["race"]),
    ("atomics, a barrier, a plain read", "cuda.atomic.add(x, 0, 1); cuda.syncthreads(); y[t] = x[0]", []),
    ("the neighbour's element", "x[t] = t; y[t] = x[t ^ 1]", ["race"]),
    ("the neighbour's element after a barrier", "x[t] = t; cuda.syncthreads(); y[t] = x[t ^ 1]", []),
    ("read, a barrier, write the neighbour's", "v = x[t ^ 1]; cuda.syncthreads(); x[t] = v", []),
    (
        "the barrier of the second turn missing",
        "for k in range(2):\n        x[t] = k; cuda.syncthreads(); y[t] = x[t ^ 1]",
        ["race"],
    ),
    (
        "both barriers in the loop",
        "for k in range(2):\n        x[t] = k; cuda.syncthreads(); y[t] = x[t ^ 1]; cuda.syncthreads()",
        [],
    ),
    ("a barrier called without parentheses", "x[t] = t; cuda.syncthreads; y[t] = x[t ^ 1]", ["race"]),
    ("exchanges of one element", "cuda.atomic.exch(x, 0, t)", []),
]


@pytest.mark.parametrize(("name", "body", "expected"), ONE_BLOCK, ids=[case[0] for case in ONE_BLOCK])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_within_a_block(name: str, body: str, expected: list[str], space: str) -> None:
    """A rule holds for global and for shared memory alike."""
    if space == "shared":
        body = f"x = cuda.shared.array(64, int32); x[t] = 0; cuda.syncthreads()\n    {body}"
    source = f"def kernel(x, y):\n    t = cuda.threadIdx.x\n    {body}\n"
    assert kinds(source, 1, 64, x=np.zeros(64, np.int32), y=np.zeros(64, np.int32)) == expected


ACROSS_BLOCKS = [
    ("blocks write their own elements", "x[i] = i", []),
    ("all blocks read one element", "y[i] = x[0]", []),
    ("the first thread of each block writes one element", "if t == 0: x[0] = i", ["race"]),
    ("a block reads what another writes", "x[i] = i; y[i] = x[63 - i]", ["race"]),
    (
        "the same after a barrier, which holds for one block only",
        "x[i] = i; cuda.syncthreads(); y[i] = x[63 - i]",
        ["race"],
    ),
    ("atomics from all blocks", "cuda.atomic.max(x, 0, i)", []),
    (
        "shared memory of two blocks is not the same",
        "s = cuda.shared.array(1, int32)\n    if t == 0: s[0] = i; x[i] = s[0]",
        [],
    ),
]


@pytest.mark.parametrize(("name", "body", "expected"), ACROSS_BLOCKS, ids=[case[0] for case in ACROSS_BLOCKS])
def test_across_blocks(name: str, body: str, expected: list[str]) -> None:
    source = f"def kernel(x, y):\n    t = cuda.threadIdx.x\n    i = cuda.grid(1)\n    {body}\n"
    assert kinds(source, 2, 32, x=np.zeros(64, np.int32), y=np.zeros(64, np.int32)) == expected


WARPS = [
    ("syncwarp orders a warp", "s[t] = t; cuda.syncwarp(); y[t] = s[t ^ 1]", []),
    ("without it nothing does", "s[t] = t; y[t] = s[t ^ 1]", ["race"]),
    ("syncwarp does not order two warps", "s[t] = t; cuda.syncwarp(); y[t] = s[t ^ 32]", ["race"]),
    (
        "a shuffle is no barrier for memory",
        "s[t] = t; v = cuda.shfl_sync(-1, t, 0); y[t] = s[t ^ 1] + v",
        ["race"],
    ),
    ("a vote is none either", "s[t] = t; v = cuda.any_sync(-1, True); y[t] = s[t ^ 1] + v", ["race"]),
    (
        "syncwarp of half a warp orders that half",
        "s[t] = t\n    if t % 32 < 16:\n        cuda.syncwarp(0xffff)\n        y[t] = s[t ^ 1]",
        [],
    ),
    (
        "it does not order the other half",
        "s[t] = t\n    if t % 32 < 16:\n        cuda.syncwarp(0xffff)\n        y[t] = s[t ^ 16]",
        ["race"],
    ),
    (
        "one half after the other, handed on by a lane in both",
        "if t < 16:\n        s[t] = t\n        cuda.syncwarp(0xffff)\n"
        "    if t == 15 or 16 <= t < 32:\n        cuda.syncwarp(0xffff8000)\n"
        "    if 16 <= t < 32: y[t] = s[t - 16]",
        [],
    ),
    (
        "a tree in a warp, with syncwarp in each turn",
        "s[t] = t; cuda.syncwarp(); d = 16\n    while d:\n        v = s[t ^ d]; cuda.syncwarp(); s[t] += v\n"
        "        cuda.syncwarp(); d //= 2\n    y[t] = s[t]",
        [],
    ),
    (
        "the same with one syncwarp a turn",
        "s[t] = t; cuda.syncwarp(); d = 16\n    while d:\n        v = s[t ^ d]; s[t] += v\n"
        "        cuda.syncwarp(); d //= 2\n    y[t] = s[t]",
        ["race"],
    ),
    (
        "a lane that has returned takes no part in a later syncwarp",
        "s[t] = t\n    if t == 5: return\n    cuda.syncwarp(); y[t] = s[5]",
        ["race"],
    ),
]


@pytest.mark.parametrize(("name", "body", "expected"), WARPS, ids=[case[0] for case in WARPS])
def test_within_a_warp(name: str, body: str, expected: list[str]) -> None:
    source = f"def kernel(y):\n    s = cuda.shared.array(64, int32); t = cuda.threadIdx.x\n    {body}\n"
    assert kinds(source, 1, 64, y=np.zeros(64, np.int32)) == expected


LAST_BLOCK = """
def total(x, partial, count, out):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        partial[cuda.blockIdx.x] = x[cuda.grid(1)]
        {fence}
        s[0] = cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if s[0] == cuda.gridDim.x - 1 and t < cuda.gridDim.x:
        cuda.atomic.add(out, 0, partial[t])
"""


def test_a_fence_and_an_atomic_hand_memory_over_to_another_block() -> None:
    """The last block to finish may read what the others wrote: the pattern of the one-pass sum."""
    arguments = {"x": np.ones(96, np.int32), "partial": poisoned(3, dtype=np.int32)}
    counters = {"count": np.zeros(1, np.int32), "out": np.zeros(1, np.int32)}
    right = LAST_BLOCK.format(fence="cuda.threadfence()")
    assert findings(right, 3, 32, **arguments, **counters) == ()
    trace = launch(right, 3, 32, **arguments, **counters)
    assert trace.findings == ()
    assert counters["out"].tolist() == [3]


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_without_the_fence_it_is_a_race(order: str) -> None:
    """Which block comes last is a matter of order, so the message names other blocks; no more differs."""
    source = LAST_BLOCK.format(fence="pass")
    arguments = {"x": np.ones(96, np.int32), "partial": poisoned(3, dtype=np.int32)}
    counters = {"count": np.zeros(1, np.int32), "out": np.zeros(1, np.int32)}
    (finding,) = launch(source, 3, 32, order, **arguments, **counters).findings
    assert (finding.kind, finding.array, finding.lines) == ("race", "partial", (6, 11))


def test_the_same_memory_as_input_and_output() -> None:
    """Overlapping arguments are one memory: a copy by one element races, in place it does not."""
    source = "def kernel(x, out):\n    i = cuda.grid(1)\n    if i < out.size: out[i] = x[i]\n"
    memory = ramp(33)
    assert launch(source, 1, 32, x=memory[:32], out=memory[:32]).findings == ()
    (finding,) = launch(source, 1, 32, x=memory[1:], out=memory[:32]).findings
    assert str(finding) == (
        "Thread 0 of block 0 reads x[0] in line 3 and thread 1 writes out[1], the same memory, in the same "
        "line "
        "with no barrier between, so the old value or the new one can be read. The same holds for 30 more "
        "elements."
    )


def test_both_threads_and_lines_are_named() -> None:
    source = "def kernel(x):\n    t = cuda.threadIdx.x\n    x[t] = t\n    x[0] = x[31] + t\n"
    found = findings(source, 1, 32, x=np.zeros(32, np.int32))
    assert [(finding.line, finding.lines, finding.array, finding.index) for finding in found] == [
        (3, (3, 4), "x", (0,)),
        (4, (4,), "x", (0,)),
    ]
    assert [[thread.thread for thread in finding.threads] for finding in found] == [
        [(0,), (1,)],
        [(0,), (1,)],
    ]


def test_a_race_of_two_axes_names_rows_and_columns() -> None:
    source = "def kernel(x):\n    i, j = cuda.grid(2)\n    x[0, j] = i\n"
    (finding,) = findings(source, (1, 2), (4, 2), x=np.zeros((4, 4), np.int32))
    assert str(finding) == (
        "Threads (0, 0) and (1, 0) of block (0, 0) both write x[0, 0] in line 3 with no barrier between, so "
        "either value can stay. The same holds for 3 more elements."
    )


def test_a_race_of_blocks_says_that_blocks_do_not_wait() -> None:
    source = "def kernel(x):\n    if cuda.threadIdx.x == 0: x[0] = cuda.blockIdx.x\n"
    (finding,) = findings(source, 3, 32, x=np.zeros(1, np.int32))
    assert str(finding) == (
        "Thread 0 of block 0 and thread 0 of block 1 both write x[0] in line 2, and blocks do not wait for "
        "each "
        "other, so either value can stay."
    )


def test_many_accesses_do_not_make_it_slow_or_blind() -> None:
    """A cell that thousands of threads fight for is one finding, found from two threads a line."""
    source = "def kernel(x):\n    for k in range(8): x[0] += k\n"
    (finding,) = findings(source, 8, 256, x=np.zeros(1, np.int32))
    assert (finding.kind, [str(thread) for thread in finding.threads]) == (
        "race",
        ["thread 0 of block 0", "thread 1 of block 0"],
    )
