"""What is found besides races: indices, unset memory, barriers, endless loops, exceptions; in which order."""

import numpy as np
import pytest
from launching import findings, kinds, launch, poisoned, ramp

from gpuguide.errors import UnknownNameError
from gpuguide.exercises.simulator import machine
from gpuguide.exercises.simulator.findings import KINDS, Finding, ThreadId

MESSAGES = [
    (
        "behind the end",
        "def kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = x[i]\n",
        (2, 32, {"x": ramp(40), "out": poisoned(40)}),
        ["Thread 8 of block 1 reads x[40] in line 3, but x has 40 elements, the last of which is x[39]. The "
         "same "
         "happens in 23 more threads."],
    ),
    (
        "a store behind the end",
        "def kernel(out):\n    out[cuda.grid(1)] = 1\n",
        (1, 4, {"out": poisoned(3)}),
        ["Thread 3 of block 0 writes out[3] in line 2, but out has 3 elements, the last of which is out[2]."],
    ),
    (
        "an atomic operation behind the end",
        "def kernel(out):\n    cuda.atomic.add(out, 3, 1)\n",
        (1, 1, {"out": np.zeros(3)}),
        ["Thread 0 of block 0 changes out[3] in line 2, but out has 3 elements, the last of which is "
         "out[2]."],
    ),
    (
        "an index in parentheses, which Numba's atomic operations refuse",
        "def kernel(out):\n    cuda.atomic.add(out, (0,), 1)\n",
        (1, 1, {"out": np.zeros(3)}),
        ["Thread 0 of block 0 fails in line 2: Numba's atomic operations take the index of an array of one "
         "axis as a number, not as (i,)."],
    ),
    (
        "an addition to what is not zero at first",
        "def kernel(x, out):\n    cuda.atomic.add(out, 0, x[0])\n",
        (1, 1, {"x": ramp(1), "out": poisoned(1)}),
        ["Thread 0 of block 0 changes out[0] in line 2 before anything was written to it; out holds nothing "
         "yet, not even zero."],
    ),
    (
        "a barrier inside an if",
        "def kernel(x):\n    i = cuda.grid(1)\n    if i < x.size:\n        cuda.syncthreads()\n",
        (1, 4, {"x": ramp(3)}),
        ["Thread 3 of block 0 ended while thread 0 of the same block waits at the barrier in line 4: an if "
         "or a loop lets some threads miss it, and all threads of a block must reach it."],
    ),
    (
        "a return of a function that the kernel calls",
        "def zero(x):\n    x[0] = 0\n    return\ndef kernel(x):\n    i = cuda.grid(1)\n    if i > 0:\n"
        "        cuda.syncthreads()\n    else:\n        zero(x)\n",
        (1, 4, {"x": ramp(3)}),
        ["Thread 0 of block 0 ended while thread 1 of the same block waits at the barrier in line 7: an if "
         "or a loop lets some threads miss it, and all threads of a block must reach it."],
    ),
    (
        "an early return before a barrier inside an if",
        "def kernel(x):\n    i = cuda.grid(1)\n    if i >= x.size:\n        return\n    if i >= 0:\n"
        "        cuda.syncthreads()\n",
        (1, 4, {"x": ramp(3)}),
        ["Thread 3 of block 0 returned in line 4 while thread 0 of the same block waits at the barrier in "
         "line 6, and all threads of a block must reach it."],
    ),
    (
        "an empty array",
        "def kernel(x):\n    x[cuda.grid(1)] = 0\n",
        (1, 1, {"x": poisoned(0)}),
        ["Thread 0 of block 0 writes x[0] in line 2, but x has no elements."],
    ),
    (
        "two axes taken for one another",
        "def kernel(x, out):\n    j, i = cuda.grid(2)\n    if i < x.shape[0] and j < x.shape[1]:\n"
        "        out[j, i] = x[i, j]\n",
        ((2, 1), (4, 4), {"x": np.ones((3, 5)), "out": poisoned(3, 5)}),
        ["Thread (3, 0) of block (0, 0) writes out[3, 0] in line 4, but out has the shape (3, 5). The same "
         "happens "
         "in 5 more threads."],
    ),
    (
        "far below zero",
        "def kernel(x):\n    x[-4] = 0\n    x[cuda.grid(1) - 4] = 0\n",
        (1, 1, {"x": np.zeros(3)}),
        ["Thread 0 of block 0 writes x[-4] in line 2, but x has 3 elements, the last of which is x[2]."],
    ),
    (
        "a column left of the first",
        "def kernel(x, out):\n    i, j = cuda.grid(2)\n    out[i, j] = x[i, j - 1]\n",
        ((1, 1), (2, 2), {"x": np.ones((2, 2)), "out": poisoned(2, 2)}),
        ["Thread (0, 0) of block (0, 0) reads x[0, -1] in line 3; Numba silently counts a negative index "
         "from the "
         "end: this is x[0, 1]. The same happens in 1 more thread."],
    ),
    (
        "an element of a row that the row does not have",
        "def kernel(x, out):\n    row = x[1]\n    out[0] = row[4]\n",
        (1, 1, {"x": np.ones((2, 4)), "out": poisoned(1)}),
        ["Thread 0 of block 0 reads (a part of x)[4] in line 3, but (a part of x) has 4 elements, the last "
         "of "
         "which is (a part of x)[3]."],
    ),
    (
        "an output read before it is written",
        "def kernel(out):\n    i = cuda.grid(1)\n    out[i] += 1\n",
        (1, 2, {"out": poisoned(2)}),
        ["Thread 0 of block 0 reads out[0] in line 3 before anything was written to it; out holds nothing "
         "yet, not even zero. "
         "The same happens in 1 more thread."],
    ),
    (
        "a local array read before it is written",
        "def kernel(out):\n    window = cuda.local.array(3, float32)\n    window[0] = 1\n"
        "    out[cuda.grid(1)] = window[0] + window[1]\n",
        (1, 1, {"out": poisoned(1)}),
        ["Thread 0 of block 0 reads window[1] in line 4 before anything was written to it; window is local "
         "memory, "
         "which starts unset."],
    ),
    (
        "another barrier in another turn of a loop",
        "def kernel(x):\n    t = cuda.threadIdx.x\n    for k in range(2):\n        if t % 2 == k:\n"
        "            cuda.syncthreads()\n",
        (1, 4, {"x": ramp(1)}),
        ["Thread 0 of block 0 waits at the barrier in line 5 in another turn of its loop than thread 1 of "
         "the same "
         "block; all threads of a block must meet at the same barrier."],
    ),
    (
        "a shuffle that half of its warp never calls",
        "def kernel(x):\n    t = cuda.threadIdx.x\n    if t < 16:\n        x[t] = "
        "cuda.shfl_down_sync(0xffffffff, t, 1)\n"
        "    cuda.syncthreads()\n",
        (1, 32, {"x": poisoned(32)}),
        ["Thread 0 of block 0 waits in line 4 for all lanes that the mask of shfl_down_sync names, but "
         "thread 16 "
         "of the same warp, one of them, waits in line 5."],
    ),
    (
        "a mask without the own lane",
        "def kernel(x):\n    x[cuda.threadIdx.x] = cuda.shfl_sync(0xff, 1, 0)\n",
        (1, 9, {"x": poisoned(9)}),
        ["Thread 8 of block 0 calls shfl_sync in line 2 with a mask that does not name its lane, 8."],
    ),
    (
        "a mask of no lane",
        "def kernel(x):\n    x[cuda.threadIdx.x] = cuda.shfl_sync(2**32, 1, 0)\n",
        (1, 1, {"x": poisoned(1)}),
        ["Thread 0 of block 0 calls shfl_sync in line 2 with a mask that does not name its lane, 0."],
    ),
    (
        "an atomic addition to shared memory that nobody has set",
        "def kernel(x):\n    s = cuda.shared.array(1, int32)\n    cuda.atomic.add(s, 0, 1)\n"
        "    cuda.syncthreads()\n    x[cuda.threadIdx.x] = s[0]\n",
        (1, 2, {"x": poisoned(2, dtype="i4")}),
        [
            f"Thread 0 of block 0 {does} s[0] in line {line} before anything was written to it; s is shared "
            "memory, which starts unset. The same happens in 1 more thread."
            for does, line in (("changes", 3), ("reads", 5))
        ],
    ),
    (
        "an endless loop",
        "def kernel(x):\n    i = cuda.grid(1)\n    while i < x.size:\n        x[i] = i\n",
        (2, 32, {"x": ramp(40), "step_limit": 500}),
        ["The loop at line 3 does not end in time: one thread was stopped there after 500 steps."],
    ),
    (
        "an endless loop around a barrier",
        "def kernel(x):\n    while True:\n        cuda.syncthreads()\n",
        (1, 2, {"x": ramp(40), "step_limit": 500}),
        ["The loop at line 2 does not end in time: one thread was stopped there after 500 steps."],
    ),
    (
        "a loop of too many turns",
        "def kernel(x):\n    for k in range(4000):\n        x[0] = k\n",
        (1, 1, {"x": ramp(40), "step_limit": 500}),
        ["The loop at line 2 takes a thread more than 500 steps; a right answer needs far fewer."],
    ),
    (
        "a loop of too many barriers",
        "def kernel(x):\n    for k in range(4000):\n        cuda.syncthreads()\n",
        (1, 2, {"x": ramp(40), "step_limit": 500}),
        ["The loop at line 2 takes a thread more than 500 steps; a right answer needs far fewer."],
    ),
    (
        "a division by zero",
        "def kernel(x):\n    i = cuda.grid(1)\n    x[i] = 6 // i\n",
        (1, 3, {"x": np.zeros(3)}),
        ["Thread 0 of block 0 fails in line 3: ZeroDivisionError, integer division or modulo by zero; a GPU "
         "reports nothing and continues with a useless value."],
    ),
    (
        "a fraction as index",
        "def kernel(x):\n    x[x.size / 2] = 1\n",
        (1, 1, {"x": ramp(4)}),
        ["Thread 0 of block 0 fails in line 2: x is indexed by 2.0, which is no integer; use // for an "
         "integer "
         "quotient."],
    ),
    (
        "too many numbers in an index",
        "def kernel(x):\n    x[0, 1] = 1\n",
        (1, 1, {"x": ramp(4)}),
        ["Thread 0 of block 0 fails in line 2: x has 1 axis, and the index has 2 numbers."],
    ),
    (
        "whole arrays",
        "def kernel(x, y):\n    x[0] = (x + y)[0]\n",
        (1, 1, {"x": ramp(4), "y": ramp(4)}),
        ["Thread 0 of block 0 fails in line 2: x is a whole array; a kernel computes with single elements."],
    ),
    (
        "a whole array into an element",
        "def kernel(x, y):\n    x[0] = y\n",
        (1, 1, {"x": ramp(4), "y": ramp(4)}),
        ["Thread 0 of block 0 fails in line 2: one number of type float32 is expected here, not a whole "
         "array of "
         "shape (4,)."],
    ),
    (
        "a name that is not defined",
        "def kernel(x):\n    x[0] = scale\n",
        (1, 1, {"x": ramp(4)}),
        ["Thread 0 of block 0 fails in line 2: name 'scale' is not defined."],
    ),
    (
        "a number that is called",
        "def kernel(x):\n    lane = cuda.laneid\n    if lane() == 0:\n        x[0] = 1\n",
        (1, 1, {"x": ramp(4)}),
        [
            "Thread 0 of block 0 fails in line 3: 'int64' object is not callable: a number, such as "
            "cuda.laneid or cuda.threadIdx.x, stands without () behind it."
        ],
    ),
    (
        "a name of CUDA C",
        "def kernel(x):\n    x[threadIdx.x] = 1\n",
        (1, 1, {"x": ramp(4)}),
        [
            "Thread 0 of block 0 fails in line 2: name 'threadIdx' is not defined; Numba has it as "
            "cuda.threadIdx."
        ],
    ),
    (
        "a function of CUDA C",
        "def kernel(x):\n    atomicAdd(x, 0, 1)\n",
        (1, 1, {"x": ramp(4)}),
        [
            "Thread 0 of block 0 fails in line 2: name 'atomicAdd' is not defined; Numba has it as "
            "cuda.atomic.add."
        ],
    ),
    (
        "a function that kernels do not have",
        "def kernel(x):\n    x[0] = sorted((2, 1))[0]\n",
        (1, 1, {"x": ramp(4)}),
        ["Thread 0 of block 0 fails in line 2: sorted is not available in a kernel."],
    ),
    (
        "a function for an index",
        "def kernel(x):\n    x[cuda.grid] = 1\n",
        (1, 1, {"x": ramp(4)}),
        ["Thread 0 of block 0 fails in line 2: x is indexed by a function that is not called, which is no "
         "integer."],
    ),
    (
        "an operator that floats have not",
        "def kernel(x):\n    x[0] = x[0] ^ 2\n",
        (1, 1, {"x": np.ones(4, np.float32)}),
        ["Thread 0 of block 0 fails in line 2: unsupported operand type(s) for ^: 'float32' and 'int64'; ^ "
         "compares bits, and a power is written **."],
    ),
    (
        "a truth for a barrier that counts integers",
        "def kernel(x):\n    x[0] = cuda.syncthreads_count(x[0] > 0)\n",
        (1, 1, {"x": ramp(4)}),
        ["Thread 0 of block 0 fails in line 2: Numba's cuda.syncthreads_count takes an integer, not True or "
         "False; use int32()."],
    ),
    (
        "a device function without end",
        "def again(n):\n    return again(n + 1)\ndef kernel(x):\n    x[0] = again(0)\n",
        (1, 1, {"x": ramp(4)}),
        ["Line 2 calls again in again itself, which Numba cannot compile: write a loop.",
         "Thread 0 of block 0 fails in line 2: it calls itself endlessly."],
    ),
    (
        "an exception of the reader's own",
        "def kernel(x):\n    if x[0] == 0:\n        raise RuntimeError('zero')\n",
        (1, 1, {"x": ramp(4)}),
        ["Thread 0 of block 0 fails in line 3: RuntimeError, zero."],
    ),
    (
        "what the simulator lacks",
        "def kernel(x):\n    g = cuda.cg.this_grid()\n    g.sync()\n",
        (1, 2, {"x": ramp(4)}),
        ["Line 2 uses cuda.cg, which this simulator does not have; only a GPU can show whether the "
         "results are right."],
    ),
    (
        "an array's method that kernels seldom need",
        "def kernel(x):\n    x[0] = x.sum()\n",
        (1, 1, {"x": ramp(4)}),
        ["Line 2 uses x.sum, which this simulator does not have; only a GPU can show whether the "
         "results are right."],
    ),
    (
        "a value returned",
        "def kernel(x):\n    return x[0]\n",
        (1, 1, {"x": ramp(4)}),
        ["Line 2 returns a value, but a kernel cannot: it writes its results into an array."],
    ),
    (
        "a shape known at launch only",
        "def kernel(x):\n    s = cuda.shared.array(cuda.blockDim.x, float32)\n    s[cuda.threadIdx.x] = 0\n",
        (1, 4, {"x": ramp(4)}),
        ["Line 2 makes a shared array whose shape holds cuda.blockDim.x, where Numba takes a number or the "
         "name of one. That is known only when the kernel runs: write the most that is needed."],
    ),
    (
        "a shape to be worked out",
        "T = 8\ndef kernel(x):\n    s = cuda.local.array(T * T, float32)\n    s[0] = x[0]\n",
        (1, 4, {"x": ramp(4)}),
        ["Line 3 makes a local array whose shape holds T * T, where Numba takes a number or the name of one. "
         "It does no arithmetic there: set a name to T * T outside of the kernel."],
    ),
    (
        "a loop over a tuple of several types",
        "def kernel(x):\n    for v in (x[0], 1):\n        x[1] = v\n",
        (1, 1, {"x": ramp(4)}),
        ["Thread 0 of block 0 fails in line 2: Numba loops over a tuple only if all its elements are of one "
         "type, not of float32 and int64."],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "source", "launched", "expected"), MESSAGES, ids=[case[0] for case in MESSAGES]
)
def test_the_message_says_what_and_where(
    name: str, source: str, launched: tuple, expected: list[str]
) -> None:
    grid, block, arguments = launched
    assert [str(finding) for finding in findings(source, grid, block, **arguments)] == expected


RIGHT = [
    ("a literal index from the end", "out[0] = x[-1]"),
    ("in two axes, the last row", "out[0] = y[-1, 1]"),
    ("a guard", "if i < x.size: out[i] = x[i]"),
    ("an output written, then read", "out[0] = 1; out[0] += 1"),
    (
        "a local array, set element by element",
        "w = cuda.local.array(2, int32); w[0] = 1; w[1] = 2; out[0] = w[0] + w[1]",
    ),
    ("NaN as a value of an input", "out[0] = x[0] + nan[0]"),
    (
        "a thread that returns after the last barrier",
        "cuda.syncthreads()\n    if i > 0: return\n    out[0] = 1",
    ),
    ("a float divided by zero", "out[0] = x[0] / (x[0] - x[0]); out[1] = x[0] / 0"),
    ("nothing at all", "pass"),
]


@pytest.mark.parametrize(("name", "body"), RIGHT, ids=[case[0] for case in RIGHT])
def test_what_is_right_is_not_found_wrong(name: str, body: str) -> None:
    source = f"def kernel(x, y, nan, out):\n    i = cuda.grid(1)\n    {body}\n"
    nan = np.array([np.nan, 1.0])
    assert kinds(source, 1, 1, x=ramp(4) + 1, y=np.ones((2, 2)), nan=nan, out=poisoned(4)) == []


@pytest.mark.parametrize("wait", ["pass", "cuda.syncthreads()", "cuda.syncwarp()"])
def test_turns_of_loops_are_counted_for_the_busiest_thread(wait: str) -> None:
    """Thread 2 makes two turns of the outer loop, and two of the inner one in each; waits count nothing."""
    source = f"""
def kernel(x):
    t = cuda.threadIdx.x
    for i in range(t):
        for k in range(t):
            x[t] = k
    {wait}
"""
    assert launch(source, 1, 3, x=ramp(3)).figures.loop_turns == 2 + 2 * 2


def test_outputs_can_be_named() -> None:
    """Unsigned integers have no value that stands for nothing, so the judge names the outputs."""
    source = "def kernel(out):\n    out[cuda.grid(1)] += 1\n"
    assert kinds(source, 1, 4, out=np.zeros(4, np.uint8)) == []
    assert kinds(source, 1, 4, out=np.zeros(4, np.uint8), outputs=["out"]) == ["uninitialised"]
    assert kinds(source, 1, 4, out=poisoned(4), outputs=[]) == []


def test_a_failed_thread_hides_no_other_and_blames_none() -> None:
    """Threads go on when another one fails, and what it left undone is not held against them."""
    source = (
        "def kernel(x, out):\n    s = cuda.shared.array(4, float32)\n    t = cuda.threadIdx.x\n"
        "    s[t] = x[t]\n    cuda.syncthreads()\n    out[t] = s[3 - t]\n"
    )
    out = poisoned(4)
    (finding,) = launch(source, 1, 4, x=ramp(3), out=out).findings
    assert finding.kind == "out_of_range"
    assert out[1:3].tolist() == [2, 1]


def test_a_kernel_that_does_not_end_is_judged_by_that_alone() -> None:
    source = "def kernel(x):\n    x[0] = 1\n    while True: pass\n"
    assert kinds(source, 1, 32, x=ramp(2), step_limit=100) == ["endless"]


def test_turns_are_counted_for_each_thread() -> None:
    source = "def kernel(x):\n    for k in range(10): x[cuda.grid(1)] += k\n"
    assert kinds(source, 4, 32, x=ramp(128), step_limit=10) == []
    assert kinds(source, 4, 32, x=ramp(128), step_limit=9) == ["endless"]
    slice_of_ten = "def kernel(x):\n    x[:] = 1\n"
    assert launch(slice_of_ten, 1, 1, x=ramp(10)).loop_turns == 10


def test_findings_come_in_the_order_of_reading() -> None:
    source = (
        "def kernel(x, out):\n    t = cuda.threadIdx.x\n    out[0] = x[t - 1]\n    if t == 7: out[9] = 0\n"
        "    if t == 5: return\n    cuda.syncthreads()\n"
    )
    assert kinds(source, 1, 8, x=ramp(8), out=poisoned(4)) == [
        "out_of_range",
        "missed_barrier",
        "race",
        "negative_index",
    ]


def test_a_finding_names_its_kind_and_lines() -> None:
    finding = Finding("race", "Two.", line=3)
    assert (str(finding), finding.lines) == ("Two.", (3,))
    assert Finding("race", "Two.", line=3, lines=(3, 5)).lines == (3, 5)
    with pytest.raises(UnknownNameError, match=r"Unknown kind of finding 'racing'. Did you mean 'race'\?"):
        Finding("racing", "Two.")
    assert len(set(KINDS)) == len(KINDS)


def test_threads_are_named_with_their_axes() -> None:
    assert str(ThreadId((0, 1), (2, 3))) == "thread (2, 3) of block (0, 1)"


def test_a_launch_ends_even_if_every_thread_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many threads that each stay below their limit would keep the simulator busy for minutes."""
    monkeypatch.setattr(machine, "MOST_STEPS", 1000)
    source = "def kernel(x):\n    for k in range(50):\n        x[cuda.grid(1)] = k\n"
    assert kinds(source, 1, 19, x=ramp(19)) == []
    (finding,) = findings(source, 1, 32, x=ramp(32))
    assert (finding.kind, finding.line) == ("endless", 2)
    assert "turns of loops and calls together; a right answer needs far fewer." in finding.message


HOGS = [
    ("v = (0,) * 10**12", "a kernel multiplies numbers, and repeats nothing"),
    ("v = tuple(range(10**12))", "a tuple of more than 1000 parts is more than a thread can hold"),
    ("v = cuda.local.array(10**12, float32)", "does not fit into local memory"),
    ("v = cuda.shared.array(10**12, float32)", "does not fit into shared memory"),
    ("v = 'a' * 10**12", "a kernel multiplies numbers, and repeats nothing"),
]


@pytest.mark.parametrize(("statement", "said"), HOGS)
def test_a_kernel_cannot_take_the_machine_s_memory(statement: str, said: str) -> None:
    (finding,) = launch(f"def kernel(x):\n    {statement}\n", 1, 1, x=ramp(1)).findings
    assert finding.kind == ("memory" if "fit" in said else "exception")
    assert finding.line == 2
    assert said in finding.message


def test_an_assertion_is_no_guard() -> None:
    (finding,) = launch("def kernel(x):\n    assert x.size > 1\n", 1, 1, x=ramp(1)).findings
    assert str(finding) == (
        "Thread 0 of block 0 fails in line 2: what it asserts is not so, and on a GPU nothing checks that; "
        "write an if."
    )


def test_functions_that_call_each_other_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "MOST_STEPS", 1000)
    source = "def many(n):\n    return n if n < 2 else fewer(n - 1) + fewer(n - 2)\n"
    source += "def fewer(n):\n    return many(n)\n"
    source += "def kernel(x):\n    x[0] = many(80)\n"
    (finding,) = findings(source, 1, 1, x=ramp(1))
    assert finding.kind == "endless"
