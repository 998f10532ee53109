"""Each mistake gets its kind and its line, and the sentence names thread and element."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import pytest

from gpuguide import tracer

IMPORTS = "import math\nimport numpy as np\nfrom numba import cuda, float32, int32\n"
N_IMPORTS = 3


def floats(n: int) -> tracer.Array:
    return tracer.array(range(n), "float32")


def launched(source: str, grid: Any, block: Any, arguments: Any, **options: Any) -> tracer.Trace:
    """Trace the last function of a source that begins below the imports."""
    functions = tracer.load(IMPORTS + source).functions
    return tracer.launch([*functions.values()][-1], grid, block, arguments, **options)


@dataclass(frozen=True)
class Case:
    """A kernel with a mistake; `line` is counted from its decorator, 1."""

    name: str
    source: str
    grid: Any
    block: Any
    arguments: Any
    kind: str
    line: int
    text: str
    options: dict[str, Any] = field(default_factory=dict)


# Told by readers in public.
TOLD = [
    Case(
        "two threads add to one cell of shared memory without an atomic",
        """\
@cuda.jit
def total(x, out):
    s = cuda.shared.array(1, float32)
    i = cuda.threadIdx.x
    if i == 0:
        s[0] = 0
    cuda.syncthreads()
    s[0] += x[i]
    cuda.syncthreads()
    if i == 0:
        out[0] = s[0]
""",
        1, 32, lambda: [floats(32), floats(1)],
        "race", 8, "Threads 0 and 1 of block 0 both change s[0]",
    ),
    Case(
        "a barrier in both arms of an if",
        """\
@cuda.jit
def arms(x):
    i = cuda.grid(1)
    if i % 2 == 0:
        x[i] = 0
        cuda.syncthreads()
    else:
        x[i] = 1
        cuda.syncthreads()
""",
        1, 32, lambda: [floats(32)],
        "divergent_barrier", 6, "while thread 1 of the same block waits in line 9",
    ),
    Case(
        "a return before a barrier",
        """\
@cuda.jit
def leave(x):
    i = cuda.grid(1)
    if i >= x.size:
        return
    x[i] += 1
    cuda.syncthreads()
    x[i] += 1
""",
        2, 32, lambda: [floats(40)],
        "missed_barrier", 7, "thread 8 of the same block has returned in line 5",
    ),
    Case(
        "syncthreads taken for a barrier of all blocks",
        """\
@cuda.jit
def smooth(x, out):
    i = cuda.grid(1)
    x[i] *= float32(2)
    cuda.syncthreads()
    out[i] = x[(i + 1) % x.size]
""",
        2, 32, lambda: [floats(64), floats(64)],
        "race", 4, "blocks do not wait for each other: cuda.syncthreads() waits for the threads of one "
        "block only",
    ),
    Case(
        "a write far outside",
        """\
@cuda.jit
def far(x):
    i = cuda.grid(1)
    x[i * 1000] = 1
""",
        1, 4, lambda: [floats(10)],
        "out_of_range", 4, "Thread 1 of block 0 writes x[1000] in line 4, but x has 10 elements. The "
        "same holds for 2",
    ),
    Case(
        "row and column swapped in a guard of a non-square array",
        """\
@cuda.jit
def clear(a):
    col, row = cuda.grid(2)
    if row < a.shape[1] and col < a.shape[0]:
        a[row, col] = 0
""",
        (1, 1), (8, 8), lambda: [tracer.array([0] * 15, "float32", (3, 5))],
        "out_of_range", 5, "With row and column exchanged it would exist",
    ),
    Case(
        "an if guard missing in a last block",
        """\
@cuda.jit
def double(x):
    i = cuda.grid(1)
    x[i] = x[i] + x[i]
""",
        2, 32, lambda: [floats(40)],
        "out_of_range", 4, "Thread 8 of block 1 reads x[40] in line 4, but x has 40 elements. The same "
        "holds for 23",
    ),
]  # fmt: skip

OTHERS = [
    Case(
        "a negative index",
        "@cuda.jit\ndef back(x, out):\n    i = cuda.grid(1)\n    out[i] = x[i - 1]\n",
        1, 4, lambda: [floats(4), floats(4)],
        "negative_index", 4, "Thread 0 of block 0 reads x[-1]",
    ),
    Case(
        "shared memory that nobody wrote",
        "@cuda.jit\ndef unset(out):\n    s = cuda.shared.array(32, int32)\n"
        "    out[cuda.threadIdx.x] = s[cuda.threadIdx.x]\n",
        1, 4, lambda: [floats(4)],
        "uninitialised", 4, "reads s[0] in line 4, where nothing was written before. The same holds for 3",
    ),
    Case(
        "an input that was changed",
        "@cuda.jit\ndef change(x, out):\n    i = cuda.grid(1)\n    x[i] = 7\n    out[i] = 7\n",
        1, 2, lambda: {"x": floats(2), "out": floats(2)},
        "input_changed", 4, "x[0] is an input and was changed, from 0.0 to 7.0", {"expected": {"out":
        [7, 7]}},
    ),
    Case(
        "a wrong result, which names who wrote it",
        "@cuda.jit\ndef wrong(out):\n    i = cuda.grid(1)\n    out[i] = i * i\n",
        1, 4, lambda: {"out": floats(4)},
        "wrong", 4, "out[2] should be 5.0 and is 4.0 (by thread 2 of block 0, in line 4); 1 of 4 "
        "elements is wrong.",
        {"expected": {"out": [0, 1, 5, 9]}},
    ),
    Case(
        "an element that nobody writes",
        "@cuda.jit\ndef few(out):\n    if cuda.grid(1) < 2:\n        out[cuda.grid(1)] = 1\n",
        1, 4, lambda: {"out": tracer.empty(3)},
        "wrong", 4, "out[2] should be 1.0, and no thread writes it", {"expected": {"out": [1, 1, 1]}},
    ),
    Case(
        "float64 by accident",
        "@cuda.jit\ndef scale(x):\n    i = cuda.grid(1)\n    x[i] = x[i] * 2.5\n",
        1, 2, lambda: [floats(2)],
        "float64", 4, "float32 with float64 gives float64", {"limits": tracer.Limits(float64=False)},
    ),
    Case(
        "a barrier inside a guard",
        "@cuda.jit\ndef guard(x):\n    i = cuda.grid(1)\n    if i < x.size:\n        x[i] += 1\n"
        "        cuda.syncthreads()\n",
        1, 32, lambda: [floats(20)],
        "divergent_barrier", 6, "thread 20 of the same block has come to its end, because an if or a loop",
    ),
    Case(
        "a shuffle that some lanes never reach",
        "@cuda.jit\ndef part(x):\n    i = cuda.grid(1)\n    if i < 16:\n"
        "        x[i] = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 1)\n    else:\n        cuda.syncthreads()\n",
        1, 32, lambda: [floats(32)],
        "missing_lane", 5, "waits in shfl_down_sync in line 5 for lanes of its warp that never come",
    ),
    Case(
        "the value of a lane that the block does not have",
        "@cuda.jit\ndef lanes(x):\n    i = cuda.grid(1)\n"
        "    x[i] = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 1)\n",
        1, 4, lambda: {"x": floats(4)},
        "missing_lane", 4, "the value of lane 4 of its warp", {"expected": {"x": [1, 2, 3, 3]}},
    ),
    Case(
        "a loop that does not end",
        "@cuda.jit\ndef loop(x):\n    while x[0] == 0:\n        x[1] = 1\n",
        1, 1, lambda: [floats(2)],
        "endless", 3, "again and again", {"most_turns": 100},
    ),
    Case(
        "a slip of the pen",
        "@cuda.jit\ndef slip(x):\n    x[cuda.gird(1)] = 1\n",
        1, 1, lambda: [floats(2)],
        "compile", 3, "cuda.gird, which does not exist. Did you mean cuda.grid?",
    ),
    Case(
        "what the tracer lacks",
        "@cuda.jit\ndef grid_sync(x):\n    cuda.cg.this_grid().sync()\n",
        1, 1, lambda: [floats(2)],
        "unsupported", 3, "cuda.cg, which is not known to the tracer",
    ),
    Case(
        "a shared array whose shape the compiler cannot know",
        "@cuda.jit\ndef dynamic(x):\n    s = cuda.shared.array(cuda.blockDim.x, float32)\n    s[0] = x[0]\n",
        1, 1, lambda: [floats(2)],
        "compile", 3, "Numba must know it",
    ),
    Case(
        "more shared memory than a block has",
        "@cuda.jit\ndef large(x):\n    s = cuda.shared.array(20000, float32)\n    s[0] = x[0]\n",
        1, 1, lambda: [floats(2)],
        "memory", 3, "80,000 bytes of shared memory",
    ),
    Case(
        "an error of Python",
        "@cuda.jit\ndef half(x):\n    x[x.size / 2] = 1\n",
        1, 1, lambda: [floats(2)],
        "exception", 3, "which is no integer",
    ),
    Case(
        "a kernel that returns a value",
        "@cuda.jit\ndef giving(x):\n    return x[0]\n",
        1, 1, lambda: [floats(2)],
        "compile", 3, "returns a value",
    ),
    Case(
        "a barrier without parentheses",
        "@cuda.jit\ndef named(x):\n    i = cuda.grid(1)\n    v = x[(i + 1) % 4]\n"
        "    cuda.syncthreads\n    x[i] = v\n",
        1, 4, lambda: [floats(4)],
        "race", 4, "Line 5 names cuda.syncthreads, but does not call it",
    ),
    Case(
        "columns where rows would be coalesced",
        "@cuda.jit\ndef columns(a):\n    i = cuda.threadIdx.x\n    a[i, 0] = 1\n",
        1, 32, lambda: {"a": tracer.empty((32, 8))},
        "uncoalesced", 4, "touches 32 sectors of 32 bytes on average, where 4 are enough: neighbouring "
        "threads take elements that lie 8 apart",
        {"limits": tracer.Limits(sectors_per_request=4)},
    ),
    Case(
        "a bank conflict",
        "@cuda.jit\ndef banks(x):\n    s = cuda.shared.array((32, 32), float32)\n"
        "    s[cuda.threadIdx.x, 0] = 1\n",
        1, 32, lambda: [floats(1)],
        "bank_conflict", 4, "up to 32 threads of a warp want different words of s",
        {"limits": tracer.Limits(bank_conflicts=1)},
    ),
]  # fmt: skip


def shifted(finding: tracer.Finding) -> str:
    """Return the text with lines counted from the decorator."""
    return re.sub(r"(?<=ine )\d+", lambda line: str(int(line[0]) - N_IMPORTS), finding.text)


@pytest.mark.parametrize("case", [*TOLD, *OTHERS], ids=lambda case: case.name)
def test_the_first_finding_is_the_cause(case: Case) -> None:
    trace = launched(case.source, case.grid, case.block, case.arguments(), **case.options)
    assert trace.findings, "nothing was found"
    first = trace.findings[0]
    assert (first.kind, first.line - N_IMPORTS) == (case.kind, case.line)
    assert case.text in shifted(first)
    assert first.question
    assert str(first.line) in str(trace)  # it is quoted
    if svg := trace.svg(first):
        title = ElementTree.fromstring(svg)[0].text
        assert title == " ".join(trace.drawing(first).split("\n")[0 : 1 + (len(title) > 78)])


SHUFFLED = """\
@cuda.jit(device=True)
def warp_sum(value):
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, distance)
    return value

@cuda.jit
def total(x, out):
    sums = cuda.shared.array(2, int32)
    i = cuda.threadIdx.x
    value = warp_sum(x[i])
    if cuda.laneid == 0:
        sums[i // 32] = value
    cuda.syncthreads()
    if i == 0:
        cuda.atomic.add(out, 0, sums[0] + sums[1])
"""
TILED = """\
N, WIDE = 4, 4 + 1
@cuda.jit("void(float32[:, :], float32[:, :])")
def transpose(a, out):
    tile = cuda.shared.array((N, WIDE), dtype=a.dtype)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[x, y]
"""
GUESSED = """\
@cuda.jit
def total(x, out):
    i = cuda.grid(1)
    while True:
        held = out[0]
        if cuda.atomic.cas(out, 0, held, held + x[i]) == held:
            break
"""
CLOSED = """\
def made(factor):
    @cuda.jit
    def scaled(x):
        i = cuda.grid(1)
        x[i] = math.sqrt(factor * x[i]) + np.float32(0)
    return scaled
scaled = made(float32(4))
"""
PASSED_ON = """\
@cuda.jit
def wait_by_name(x):
    meet = cuda.syncthreads
    below = lambda v: cuda.shfl_down_sync(0xFFFFFFFF, v, 1)
    i = cuda.threadIdx.x
    x[i] = below(x[i])
    meet()
    if i == 0:
        x[31] = x[0]
"""


@pytest.mark.parametrize(
    ("source", "block", "arguments", "expected"),
    [
        (SHUFFLED, 64, {"x": tracer.array(range(64), "int32"), "out": tracer.array([1], "int32")},
        {"out": [2017]}),
        (TILED, (4, 4), {"a": tracer.array(range(16), "float32", (4, 4)), "out": tracer.empty((4, 4))},
         {"out": [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]}),
        (GUESSED, 8, {"x": tracer.array(range(8), "int32"), "out": tracer.array([3], "int32")}, {"out":
        [31]}),
        (CLOSED, 3, {"x": tracer.array([1, 4, 9], "float32")}, {"x": [2, 4, 6]}),
        (PASSED_ON, 32, {"x": tracer.array(range(32), "int32")}, {"x": [*range(1, 32), 1]}),
    ],
    ids=["shuffles", "tile", "compare-and-swap", "closure", "waiting by other names"],
)  # fmt: skip
def test_right_kernels_pass(source: str, block: Any, arguments: Any, expected: Any) -> None:
    for reverse in (False, True):
        own = {name: tracer.array(value, value.dtype) if value.memory.written is None else value
               for name, value in arguments.items()}  # fmt: skip
        trace = launched(
            source, 1, block, own, expected=expected, reverse=reverse, limits=tracer.Limits(float64=False)
        )
        assert trace.passed, trace


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("x[i] = 255 - x", "x is an array here"),
        ("x[i] = max(x, 0)", "x is an array here"),
        ("i = cuda.threadIdx + 1", "cuda.threadIdx is no number; it has .x, .y and .z"),
        ("i = cuda.threadIdx.X", "cuda.threadIdx has no .X"),
        ("x[x.length - 1] = 0", "x is an array, which has no .length"),
        ("x[i] = x.max()", "x.max is not known to the tracer"),
        ("s = cuda.shared.array(4)", "cuda.shared.array needs a dtype"),
        ("assert i < 0", "cannot go on in line 4: AssertionError."),
        ("exit()", "uses exit, which a kernel cannot call"),
        ("s = np.zeros(4)", "makes an array with np.zeros"),
        ("x[i] = np.max(x[i], 0)", "uses np.max, which a kernel cannot call"),
        ("x[i] = math.max(x[i], 0)", "uses math.max, which does not exist"),
        ("s = cuda.to_device(x)", "uses cuda.to_device, which is for the host"),
        ("s = cuda.shared_array(4, float32)", "uses cuda.shared_array, which is not known"),
    ],
)
def test_a_line_that_no_kernel_can_hold_is_explained(line: str, text: str) -> None:
    source = f"@cuda.jit\ndef slip(x):\n    i = cuda.grid(1)\n    {line}\n"
    finding = launched(source, 1, 4, [floats(4)]).findings[0]
    assert finding.line == N_IMPORTS + 4
    assert text in shifted(finding)


def test_a_local_array_is_drawn_as_its_thread_has_it() -> None:
    source = """@cuda.jit
def neighbour(x, out):
    s = cuda.local.array(4, float32)
    i = cuda.grid(1)
    s[i] = x[i]
    cuda.syncthreads()
    if i > 0:
        out[i] = s[i - 1]
"""
    trace = launched(source, 1, 4, [floats(4), floats(4)])
    finding = trace.findings[0]
    assert finding.kind == "uninitialised"
    assert "each thread has one of its own" in finding.text
    assert "r!" in trace.drawing(finding)


def test_what_a_stopped_thread_left_unwritten_is_no_finding() -> None:
    source = """@cuda.jit
def right(x):
    s = cuda.shared.array(32, float32)
    i = cuda.grid(1)
    s[i] = x[i]
    cuda.syncthreads()
    x[0] = s[5]
"""
    assert [finding.kind for finding in launched(source, 1, 8, [floats(4)]).findings] == ["out_of_range"]


def test_sums_of_numpy_read_each_element() -> None:
    trace = launched("@cuda.jit\ndef total(x, out):\n    out[0] = np.sum(x)\n", 1, 1, [floats(4), floats(1)])
    assert trace.passed, trace
    assert trace.arrays["out"].tolist() == [6]


def test_findings_come_in_order_of_their_weight() -> None:
    source = "@cuda.jit\ndef both(x):\n    i = cuda.grid(1)\n    x[0] = i\n    x[i + 1] = i * x[i]\n"
    kinds = [finding.kind for finding in launched(source, 1, 4, [floats(4)]).findings]
    assert kinds == sorted(kinds, key=tracer.KINDS.index)
    assert kinds[0] == "out_of_range"


def test_arrays_that_share_memory_race_under_both_names() -> None:
    x = floats(5)
    source = "@cuda.jit\ndef shift(a, b):\n    i = cuda.grid(1)\n    a[i] = b[i]\n"
    finding = launched(source, 1, 4, [x[:4], x[1:]]).findings[0]
    assert finding.kind == "race"
    assert "the same memory" in finding.text
