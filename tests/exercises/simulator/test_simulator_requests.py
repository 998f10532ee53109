"""Sectors, bank conflicts and divergent branches, against figures worked out by hand."""

import numpy as np
import pytest
from launching import launch, poisoned, ramp

from gpuguide.exercises.simulator.judge import bank_conflicts, uncoalesced
from gpuguide.exercises.simulator.trace import ArrayFigures


def worst(index: str, dtype: str = "f4", shape: object = (4096,), offset: int = 0, block: object = 32):
    """Sectors a request of one load, by every thread of a warp."""
    memory = np.zeros(int(np.prod(shape)) + offset, dtype)
    x = memory[offset:].reshape(shape)
    source = f"def kernel(x):\n    t = cuda.threadIdx.x\n    u = cuda.threadIdx.y\n    v = x[{index}]\n"
    trace = launch(source, 1, block, x=x)
    assert trace.findings == ()
    return trace.figures.sectors_per_request


SECTORS = [
    ("t", "f4", 4),  # 32 x 4 bytes in a row
    ("t", "f8", 8),
    ("t", "u1", 1),
    ("t", "f2", 2),
    ("31 - t", "f4", 4),
    ("2 * t", "f4", 8),
    ("3 * t", "f4", 12),
    ("8 * t", "f4", 32),  # one sector each
    ("64 * t", "f4", 32),
    ("t + 1", "f4", 5),  # shifted by one element: one sector more
    ("t + 8", "f4", 4),  # shifted by a whole sector
    ("0", "f4", 1),  # all the same
    ("t // 2", "f4", 2),
    ("t % 4", "f4", 1),
    ("t ^ 5", "f4", 4),
    ("t * t", "f4", 30),  # 0, 1 and 4 lie in one sector, every other square in one of its own
]


@pytest.mark.parametrize(("index", "dtype", "expected"), SECTORS)
def test_sectors_of_a_request(index: str, dtype: str, expected: int) -> None:
    assert worst(index, dtype) == expected == by_hand(index, dtype)


def by_hand(index: str, dtype: str) -> int:
    """Count sectors the long way."""
    size = np.dtype(dtype).itemsize
    return len({eval(index, {"t": t}) * size // 32 for t in range(32)})


def test_a_view_keeps_its_place_in_its_allocation() -> None:
    """An allocation starts at a multiple of 256 bytes; a view of it may start anywhere."""
    assert worst("t", offset=0) == 4
    assert worst("t", offset=1) == 5
    assert worst("t", offset=8) == 4


def test_rows_and_columns() -> None:
    """Threads along x take neighbouring columns: 4 sectors. Along rows of 64 floats: 32."""
    shape, block = (64, 64), (32, 2)
    assert worst("u, t", shape=shape, block=block) == 4
    assert worst("t, u", shape=shape, block=block) == 32
    assert worst("t", shape=(4096,), block=(16, 2)) == 2  # a warp of two rows, both at the same elements


def test_fortran_order_turns_it_round() -> None:
    source = "def kernel(x):\n    t = cuda.threadIdx.x\n    a = x[t, 0]\n    b = x[0, t]\n"
    trace = launch(source, 1, 32, x=np.zeros((64, 64), np.float32, order="F"))
    assert [(each.line, each.mean) for each in trace.figures.plain] == [(3, 4), (4, 32)]


def test_each_line_has_its_own_average() -> None:
    """Half a warp is fewer sectors; two loads on one line are two instructions."""
    source = """
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + x[(8 * i) % x.size]
"""
    trace = launch(source, 2, 32, x=ramp(48), out=poisoned(48))
    costs = sorted((each.region.name, each.costs) for each in trace.figures.plain)
    # x[8 i mod 48]: 0, 8, 16, 24, 32, 40, over again
    assert costs == [("out", [4, 2]), ("x", [4, 2]), ("x", [6, 6])]
    assert trace.figures.sectors_per_request == 6


def test_turns_of_a_loop_are_requests_of_their_own() -> None:
    """Threads that leave a loop early do not shift the others' requests."""
    source = """
def kernel(x, out):
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(t + 1):
        for m in range(1 + (t + k) % 2):
            total += x[32 * k + t]
    out[t] = total
"""
    trace = launch(source, 1, 32, x=ramp(2048), out=poisoned(32))
    loads = [each for each in trace.figures.in_global if each.line == 7]
    per_turn = []
    for k in range(32):
        for m in range(2):
            lanes = [t for t in range(32) if k <= t and m < 1 + (t + k) % 2]
            per_turn.append(len({(32 * k + t) // 8 for t in lanes}))
    (load,) = loads
    assert sorted(load.costs) == sorted(cost for cost in per_turn if cost)


def test_a_device_function_called_twice_makes_two_requests() -> None:
    source = """
def load(x, i):
    return x[i]

def kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = load(x, t) + load(x, 32 * t)
"""
    trace = launch(source, 1, 32, x=ramp(1024), out=poisoned(32))
    load = next(each for each in trace.figures.in_global if each.line == 3)
    assert sorted(load.costs) == [4, 32]


def test_python_s_own_warming_up_does_not_split_requests() -> None:
    """An instruction that Python specialises while it runs stays one instruction."""
    source = "def kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = x[i]\n"
    trace = launch(source, 4, 32, x=ramp(128), out=poisoned(128))
    assert [each.costs for each in trace.figures.in_global] == [[4] * 4, [4] * 4]


def passes(index: str, dtype: str = "float32", shape: str = "2048", block: object = 32) -> int:
    """Passes of the worst request of one store to shared memory."""
    source = f"""
def kernel(out):
    s = cuda.shared.array({shape}, {dtype})
    t = cuda.threadIdx.x
    u = cuda.threadIdx.y
    s[{index}] = 1
"""
    return launch(source, 1, block, out=poisoned(1)).figures.bank_conflict_degree


BANKS = [
    ("t", "float32", 1),
    ("31 - t", "float32", 1),
    ("0 * t", "float32", 1),  # one word for all: a broadcast
    ("2 * t", "float32", 2),
    ("3 * t", "float32", 1),  # odd strides never conflict
    ("4 * t", "float32", 4),
    ("32 * t", "float32", 32),
    ("33 * t", "float32", 1),
    ("t // 2", "float32", 1),
    ("t", "float64", 1),  # in two halves, each without a conflict
    ("2 * t", "float64", 2),
    ("16 * t", "float64", 16),
    ("17 * t", "float64", 1),
    ("t", "int8", 1),  # four of them share a word
    ("4 * t", "int8", 1),
    ("8 * t", "int8", 2),
    ("t", "int16", 1),
    ("64 * t % 2048 + t // 32", "int16", 32),
]


@pytest.mark.parametrize(("index", "dtype", "expected"), BANKS)
def test_bank_conflicts(index: str, dtype: str, expected: int) -> None:
    assert passes(index, dtype) == expected


def test_the_padded_tile_of_a_transpose() -> None:
    assert passes("t, u", shape="(32, 32)", block=(32, 2)) == 32
    assert passes("t, u", shape="(32, 33)", block=(32, 2)) == 1
    assert passes("u, t", shape="(32, 32)", block=(32, 2)) == 1


BRANCHES = [
    ("if t < 32: x[t] = 1", 0),  # along the border of two warps
    ("if t < 16: x[t] = 1", 1 / 2),  # in the first warp of two
    ("if t % 2 == 0: x[t] = 1", 1),
    ("if t < 16: x[t] = 1\n    if t < 32: x[t] = 2", 1 / 4),
    ("if t % 2:\n        x[t] = 1\n    elif t % 4: x[t] = 2", 1),
    ("k = 0\n    while k < t: k += 1", 62 / 96),
    ("k = 0\n    while k < 4: k += 1", 0),
    ("for k in range(t): v = k", 1),
    ("for k in range(t // 32): v = k", 0),
    ("for k in range(9):\n        if k == t: break", 10 / 20),  # one leaves in each turn, of warp 0
    ("v = 1 if t % 2 else 2", 0),  # no branch worth the name: both values at hand
    (
        "v = 2 * t if t % 2 else max(t, 7) ** 2 + int32(t)",
        0,
    ),  # nor here: both are worked out, and one is picked
    ("v = t / 7 if t % 2 else 2", 1),  # a choice of which a part is dear
    ("v = (3 * t + 1) % 1000 if t % 2 else t", 1),
    ("v = t if t % 2 else x[t]", 1),
    ("v = 7 % 4 if t % 2 else 2", 0),  # Python knows it before the kernel runs
    ("v = plain(t) if t % 2 else 2", 0),
    ("v = around(t) if t % 2 else 2", 1 / 2),  # the loop in it is a branch, too
    ("v = (t & 1 and plain(t)) or plain(t)", 0),
    ("v = (t & 1 and looping(t)) or 2", 1 / 2),
    ("v = t & 1 == 0 or x[t] > 0", 1),
    ("if t < 16 and x[t] == 0: v = 1", 2 / 4),  # the element is loaded by a part of the warp
    ("x[t] = 1", 0),
]

FUNCTIONS = """
def plain(v):
    return 3 * v + 1
def looping(v):
    for k in range(1):
        v += k
    return v
def around(v):
    return looping(v)
"""


@pytest.mark.parametrize(("body", "branches"), BRANCHES, ids=range(len(BRANCHES)))
def test_divergent_branches(body: str, branches: float) -> None:
    source = f"{FUNCTIONS}\ndef kernel(x):\n    t = cuda.threadIdx.x\n    {body}\n"
    stats = launch(source, 1, 64, x=ramp(64)).figures
    assert stats.divergent_branches == pytest.approx(branches)


def test_figures_of_a_launch() -> None:
    source = """
def kernel(x, h, out):
    s = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = 0
    cuda.syncthreads()
    if i < x.size:
        s[t] = x[i] + x[0]
        cuda.atomic.add(h, t % 2, 1)
    cuda.syncthreads()
    if t < 2 and i < out.size:
        out[i] = s[t]
        out[i] += 1
"""
    trace = launch(source, 2, 32, x=ramp(40), h=np.zeros(3, np.int64), out=poisoned(34))
    stats = trace.figures
    assert (stats.threads, stats.working, stats.barriers) == (64, 40, 2)
    assert (stats.reads, stats.writes, stats.atomics) == (84, 8, 40)
    assert (stats.bytes_read, stats.bytes_written) == (84 * 4 + 40 * 8, 8 * 4 + 40 * 8)
    assert (stats.shared_bytes, stats.bank_conflict_degree) == (256, 1)
    x, h, out, s = stats.arrays
    assert (x.reads, x.reads_per_element, x.writes_per_element) == (80, 41, 0)
    assert (h.atomics, h.reads_per_element, h.writes_per_element) == (40, 20, 20)
    assert (out.reads, out.writes, out.writes_per_element) == (4, 8, 2)
    assert (s.name, s.space, s.writes) == ("s", "shared", 64 + 40)


def test_an_array_that_is_left_alone_has_figures_of_nothing() -> None:
    (array,) = launch("def kernel(x): pass\n", 1, 32, x=ramp(4)).figures.arrays
    assert array == ArrayFigures("x", "global")


def test_uncoalesced_access_is_reported_above_a_limit() -> None:
    source = "def kernel(x, out):\n    t = cuda.threadIdx.x\n    out[t] = x[16 * t]\n"
    trace = launch(source, 1, 32, x=ramp(512), out=poisoned(32))
    assert next(uncoalesced(trace, 32), None) is None
    finding = next(uncoalesced(trace, 4), None)
    assert finding is not None
    assert (finding.kind, finding.line, finding.array, finding.index) == ("uncoalesced", 3, "x", (0,))
    assert str(finding) == (
        "In line 3 a warp reads x in 32 sectors of 32 bytes per request, where 4 could hold all that it asks "
        "for: "
        "neighbouring threads take elements that lie 16 apart."
    )


def test_atomic_operations_go_where_the_data_says() -> None:
    """They count as no coalesced access, and so break no limit."""
    source = "def kernel(h):\n    cuda.atomic.add(h, 16 * cuda.threadIdx.x, 1)\n"
    trace = launch(source, 1, 32, h=np.zeros(512, np.int32))
    assert (trace.figures.sectors_per_request, next(uncoalesced(trace, 4), None)) == (0, None)


def test_bank_conflicts_are_reported_above_a_limit() -> None:
    source = """
def kernel(out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[2 * t] = 1
"""
    trace = launch(source, 1, 32, out=poisoned(32))
    assert next(bank_conflicts(trace, 2), None) is None
    assert str(next(bank_conflicts(trace), None)) == (
        "In line 5 up to 2 threads of a warp want different words of s from one bank of shared memory, so "
        "the "
        "request takes 2 passes instead of 1: neighbouring threads take elements that lie 2 apart."
    )
