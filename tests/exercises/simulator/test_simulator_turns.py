"""Threads take turns at atomic operations: locks get free, swaps come to an end, and lost counts show."""

from __future__ import annotations

import pytest

from gpuguide.exercises.model import Limits
from gpuguide.exercises.simulator.judge import Launch, judge_launch
from gpuguide.exercises.simulator.memory import View
from gpuguide.exercises.simulator.number_rules import NUMBER_TYPES
from gpuguide.exercises.simulator.source import prepare

LAST_BLOCK = """
def kernel(a, b, out):
    flag = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        a[cuda.blockIdx.x] = 1
        cuda.threadfence()
        flag[0] = cuda.atomic.add(b, 0, 1)
    cuda.syncthreads()
    if flag[0] == cuda.gridDim.x - 1 and cuda.threadIdx.x == 0:
        for block in range(cuda.gridDim.x):
            out[0] += 32 * a[block]
"""
LOCK_OF_BLOCKS = """
def kernel(a, b, out):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(a, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        out[0] += 32
        cuda.threadfence()
        cuda.atomic.exch(a, 0, 0)
"""
LOCK_OF_THREADS = """
def kernel(a, b, out):
    done = False
    while not done:
        if cuda.atomic.cas(a, 0, 0, 1) == 0:
            cuda.atomic.exch(out, 0, cuda.atomic.add(out, 0, 0) + 1)
            cuda.atomic.exch(a, 0, 0)
            done = True
"""
TICKETS = """
def kernel(a, b, out):
    mine = cuda.atomic.add(a, 0, 1)
    while cuda.atomic.add(b, 0, 0) != mine:
        pass
    cuda.atomic.exch(out, 0, cuda.atomic.add(out, 0, 0) + 1)
    cuda.atomic.add(b, 0, 1)
"""
SWAPS = """
def kernel(a, b, out):
    found = out[0]
    guess = found - 1
    while found != guess:
        guess = found
        found = cuda.atomic.cas(out, 0, guess, guess + 1)
"""
OF_A_BLOCK = """
def kernel(a, b, out):
    own = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        own[0] = 0
    cuda.syncthreads()
    first = cuda.atomic.add(own, 0, 1) == 0
    cuda.syncthreads()
    if first:
        cuda.atomic.add(out, 0, own[0])
"""
BLOCKS, THREADS = 20, 32
NUMBER, REST = BLOCKS * THREADS, [0] * (BLOCKS - 1)
# The source, and what it leaves in `a` and `b`.
RIGHT = {
    "the last block": (LAST_BLOCK, [1] * BLOCKS, [BLOCKS, *REST]),
    "a lock of the blocks": (LOCK_OF_BLOCKS, [0, *REST], [0, *REST]),
    "a lock of the threads": (LOCK_OF_THREADS, [0, *REST], [0, *REST]),
    "tickets": (TICKETS, [NUMBER, *REST], [NUMBER, *REST]),
    "swaps": (SWAPS, [0, *REST], [0, *REST]),
    "a total of each block": (OF_A_BLOCK, [0, *REST], [0, *REST]),
}


def found(source: str, a: list[int], b: list[int], order: str = "forward") -> list[str]:
    """What is found of a kernel that counts its threads in `out`, and leaves numbers in `a` and `b`."""
    views = {name: View.of(NUMBER_TYPES["int32"], [0] * BLOCKS, (BLOCKS,)) for name in ("a", "b", "out")}
    launch = Launch("", (BLOCKS,), (THREADS,), views, {"a": a, "b": b, "out": [NUMBER, *REST]})
    findings = judge_launch(prepare(source, usual_imports=True), launch, Limits(), order)[1]
    return [each.message for each in findings]


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("title", RIGHT)
def test_what_is_right_in_turns_passes(title: str, order: str) -> None:
    assert found(*RIGHT[title], order) == []


def test_what_nobody_waits_for_is_found() -> None:
    waits = "    while cuda.atomic.add(b, 0, 0) != mine:\n        pass\n"
    assert waits in TICKETS
    (message,) = found(TICKETS.replace(waits, ""), *RIGHT["tickets"][1:])
    assert "two operations of thread 1 of block 0 on out[0], both atomic operations in line 4;" in message
    assert found(SWAPS.replace("while", "if"), *RIGHT["swaps"][1:])


# Two operations where one is meant; the first is done by a function that the kernel knows as a value.
READS_APART = [
    "read = lambda i: cuda.atomic.add(out, i, 0)\n    cuda.atomic.exch(out, 0, read(0) + 1)",
    "cuda.atomic.exch(out, 0, (lambda i: cuda.atomic.add(out, i, 0))(0) + 1)",
    "first, read = (lambda i: 0), (lambda i: cuda.atomic.add(out, i, 0))\n"
    "    cuda.atomic.exch(out, first(0), read(0) + 1)",
    "def read(i): return cuda.atomic.add(out, i, 0)\n    again = read\n"
    "    cuda.atomic.exch(out, 0, again(0) + 1)",
    "def of(first, read): return read(first(0))\n"
    "    cuda.atomic.exch(out, 0, of(lambda i: i, lambda i: cuda.atomic.add(out, i, 0)) + 1)",
]


@pytest.mark.parametrize("body", READS_APART, ids=range(len(READS_APART)))
def test_an_operation_in_a_function_without_a_name_of_its_own_is_interrupted(body: str) -> None:
    source = f"def kernel(a, b, out):\n    {body}\n"
    (message,) = found(source, *RIGHT["swaps"][1:])
    assert "two operations of thread" in message
    once = source.replace("cuda.atomic.exch(out, 0, ", "(").replace("(out, i, 0)", "(out, i, 1)")
    assert found(once, *RIGHT["swaps"][1:]) == []
