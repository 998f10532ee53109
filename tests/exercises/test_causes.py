"""The message names the cause: a right answer with one mistake, what is said of it, and the line quoted."""

import pytest
from pool_answers import WRONG, changed, judged

from gpuguide.exercises import get
from gpuguide.exercises.reading import Answer
from gpuguide.exercises.verdict import Verdict

SUMS, MATMUL, PACK, HISTOGRAM = "block_reduction", "tiled_matmul", "pack_bits", "histogram"
ROWS = "row_sums"
ALONE = "if t == 0:\n        for k in range(40):\n            part[0] += 0\n"
DOWN = "partial += cuda.shfl_down_sync(0xFFFFFFFF, partial, 16)"
# The same lane's value, asked for twice: where the lane is there, nothing changes.
ASK = "cuda.shfl_xor_sync(0xFFFFFFFF, {}, 16)"

# Exercise; what stands in its solution and what replaces it; what is said; a piece of the line shown first.
CAUSES = {
    "a loop of one thread, beside one of all": (
        SUMS, "if t == 0:\n", ALONE, "makes 41 turns", "range(40)",
    ),
    "a loop of all threads, beside one of a single one": (
        SUMS, "if t == 0:\n", "for k in range(20):\n        pass\n    " + ALONE.replace("40", "3"),
        "makes 24 turns", "range(20)",
    ),
    "a shuffle that asks lanes which are not in the block": (
        SUMS, "    half = ", f"    part[t] = {ASK.format(ASK.format('part[t]'))}\n    half = ",
        "counts on lane 16 in shfl_xor_sync", "shfl_xor",
    ),
    "a vote that names lanes which have ended": (
        PACK, "= bits", "= bits if cuda.ballot_sync(0xFFFFFFFF, True) != 1 else 0",
        "counts on lane 1 in ballot_sync, but lane 1 does not come to it, because of the if in", "if w <",
    ),
    "a barrier of the warp": (
        SUMS, "cuda.syncthreads()", "cuda.syncwarp()", "with no barrier between but cuda.syncwarp()", "x[i]",
    ),
    "numbers of 16 bits": (
        SUMS, "array(256, float32)", "array(256, 'float16')", "whose type cannot hold", "sums[",
    ),
    "whole numbers": (
        SUMS, "array(256, float32)", "array(256, 'int32')", "whose type cannot hold", "sums[",
    ),
    "an element of each block, taken by thread": (
        SUMS, "sums[cuda.blockIdx.x]", "sums[i]", "What counts the blocks?", "sums[i]",
    ),
    "an element behind the last block's": (
        SUMS, "sums[cuda.blockIdx.x]", "sums[cuda.blockIdx.x + 1]", "not the thread's own place", "sums[",
    ),
    "a total of 64 bits": (
        MATMUL, "float32(0)\n    for", "0.0\n    for", "total begins as 0.0 in line 11", "total = 0.0",
    ),
    "a whole total": (
        MATMUL, "float32(0)\n    for", "0\n    for", "total begins as 0 in line 11", "total = 0",
    ),
    "a bin behind the last one, which is not the thread's place": (
        HISTOGRAM, "value < counts", "value <= counts",
        "The index 7, where counts has 7 elements, is in general not the thread's own place", "atomic.add",
    ),
    "how its drawing is read": (
        HISTOGRAM, "value < counts", "value <= counts",
        "counts[7] a! a! a! a reads and writes in one atomic step; ! no such element", "atomic.add",
    ),
    "a bin before the first one, by an amount": (
        HISTOGRAM, "counts, value,", "counts, value - 1,",
        "The index -1, where counts has 7 elements", "value - 1",
    ),
    "the neighbour of the first thread": (
        "prefix_sum", " if t >= distance else float32(0)", "",
        "What should the first threads do?", "- distance",
    ),
    "an element that another thread of the same round overwrites": (
        "shift_in_place", "        cuda.syncthreads()  # all have read before anybody writes\n", "",
        "with no barrier between, so the old value or the new one can be read", "value = x[",
    ),
    "a block that asks for too much": (
        SUMS, "array(256, float32)", "array((256, 64), float32)[0]",
        "How many elements does each array have that the kernel makes", "array(",
    ),
    "types that the arguments do not have": (
        "map", "@cuda.jit", "@cuda.jit('void(f8[:], f8[:])')", "leave the signature out", "@cuda.jit",
    ),
    "an assertion in the place of a guard": (
        "guard", "if i < out.size:", "assert i < out.size\n    if True:", "write an if", "assert",
    ),
    "a start that is overwritten": (
        "dot", "cuda.atomic.add(total, 0, partial)", "total[0] = partial",
        "at the start, which is lost: the kernel is to add to it.", "total[0] =",
    ),
    "a start that is added twice": (
        "dot", "cuda.atomic.add(total, 0, partial)", "cuda.atomic.add(total, 0, total[0] + partial)",
        "at the start, which is added twice.", "atomic.add",
    ),
    "elements that several threads add": (
        "dot", "cuda.gridsize(1)", "cuda.blockDim.x", "a[32] is read by 2 threads, and a[0] by 1.",
        "atomic.add",
    ),
    "elements that no thread adds": (
        "dot", "a.size, cuda.gridsize(1)", "min(a.size, cuda.gridsize(1)), cuda.gridsize(1)",
        "and a[32] by none.", "atomic.add",
    ),
    "a warp whose sum is dropped": (
        "dot", "cuda.laneid == 0", "cuda.threadIdx.x == 0", "no thread of its warp writes anything",
        "atomic.add",
    ),
    "a sum to which each lane adds": (
        "dot", "if cuda.laneid == 0", "if True", "is any left out or added twice?", "atomic.add",
    ),
    "a copy that is rounded": (
        "guard", "max(a[i], b[i])", "(a[i] + b[i] + abs(a[i] - b[i])) / 2", "Only the rounding differs",
        "out[i]",
    ),
    "zero in 64 bits": (
        "dot", "a[i] * b[i]", "(a[i] if i < a.size else float(0)) * b[i]", "which type should it",
        "float(0)",
    ),
    "a read and a write, each of them atomic": (
        HISTOGRAM, "cuda.atomic.add(counts, value, 1)",
        "cuda.atomic.exch(counts, value, cuda.atomic.add(counts, value, 0) + 1)",
        "comes between two operations of thread 0 of block 11 on counts[0], both atomic operations in line",
        "atomic.exch",
    ),
    "a read and a write in two lines": (
        HISTOGRAM, "cuda.atomic.add(counts, value, 1)",
        "n = cuda.atomic.max(counts, value, 0)\n            cuda.atomic.exch(counts, value, n + 1)",
        "on counts[0], the atomic operations in lines 12 and 13; each of them is one step, but not both",
        "n = cuda",
    ),
    "a swap behind the last bin": (
        HISTOGRAM, "cuda.atomic.add(counts, value, 1)", "cuda.atomic.cas(counts, value + 40, 0, 1)",
        "changes counts[", "atomic.cas",
    ),
    "a swap that is tried again with what was read once": (
        HISTOGRAM, "cuda.atomic.add(counts, value, 1)",
        "n = counts[value]\n            while cuda.atomic.cas(counts, value, n, n + 1) != n: pass",
        "The loop at line 13 does not end: it waits for what no other thread does.", "n = counts",
    ),
    "too few values for an atomic operation": (
        HISTOGRAM, "value, 1)", "value)",
        "cuda.atomic.add() missing 1 required positional argument", "atomic.add",
    ),
    "a read, and a compare-and-swap that is not repeated": (
        HISTOGRAM, "cuda.atomic.add(counts, value, 1)",
        "n = counts[value]\n            cuda.atomic.cas(counts, value, n, n + 1)",
        "on counts[0], the read in line 12 and the compare-and-swap in line 13;", "n = counts",
    ),
    "a tile that is overwritten in the next turn": (
        MATMUL, "        cuda.syncthreads()  # all have read before anybody overwrites\n", "",
        "in line 20 and thread (0, 0) writes it in line 13, in the next turn of the loop, with no barrier",
        "= tile_b[ty, tx] =",
    ),
    "tiles of 64 bits": (
        MATMUL, "(8, 8), float32", "(8, 8), 'float64'", "tile_a begins as cuda.shared.array(", "'float64'",
    ),
    "a total of another type": (
        ROWS, "total = float32(0)", "total = cuda.int32(0)", "total begins as cuda.int32(0) in line 8",
        "int32(0)",
    ),
    "a barrier that is not called": (
        "barrier", "cuda.syncthreads()", "cuda.syncthreads",
        "Line 13 names cuda.syncthreads, but does not call it", "value = x[i]",
    ),
    "a mask of half a warp": (
        ROWS, "0xFFFFFFFF", "0xFFFF", "0xFFFFFFFF names all 32 of a warp", "shfl_down",
    ),
    "a shuffle to which some lanes do not come": (
        ROWS, "distance > 0:", "distance > 0 and cuda.threadIdx.x < x.shape[1]:",
        "lane 16 has left the loop in line 13. 13 |", "while",
    ),
    "a shuffle inside of an if": (
        "dot", "        partial += cuda.shfl",
        "        if cuda.laneid < distance:\n            partial += cuda.shfl",
        "lane 16 does not come to it, because of the if in line 13. 13 | if cuda.laneid", "if cuda.laneid",
    ),
    "a shuffle inside of a loop that some lanes leave early": (
        "dot", "    if cuda.laneid == 0:\n",
        f"    for k in range(cuda.laneid // 16, 1):\n        {DOWN}\n    if cuda.laneid == 0:\n",
        "lane 16 has left the loop in line 15. 15 |", "for k in",
    ),
    "a shuffle in a part of an expression": (
        "dot", "partial, distance)", "partial, distance) if cuda.laneid < distance else float32(0)",
        "lane 16 has ended without it. 13 |", "shfl_down",
    ),
    "a shuffle after a return of some lanes": (
        "dot", "    distance = 16\n", "    if partial == 0:\n        return\n    distance = 16\n",
        "has returned in line 11. 11 | return", "return",
    ),
    "a mask without the lane that is asked": (
        "dot", "    if cuda.laneid == 0:\n",
        f"    if cuda.laneid < 16:\n        {DOWN.replace('FFFF', '', 1)}\n    if cuda.laneid == 0:\n",
        "counts on lane 16 in shfl_down_sync, but the mask omits it.", "shfl_down",
    ),
    "an atomic addition to what holds nothing": (
        ROWS, "sums[row] = total", "cuda.atomic.add(sums, row, total)",
        "sums held nothing, not even zero, before it was changed atomically", "atomic.add",
    ),
    "bits set in what holds nothing": (
        PACK, "words[w] = bits", "cuda.atomic.or_(words, w, bits)",
        "words held nothing, not even zero, before it was changed atomically", "atomic.or_",
    ),
    "a quotient as the start of a range": (
        "smallest_factor", "step * step // 2", "step * step / 2",
        "'float64' object cannot be interpreted as an integer; use // for an integer quotient", "range(",
    ),
    "a place that is taken whole": (
        "transpose", "tx, ty = cuda.threadIdx.x, cuda.threadIdx.y", "tx, ty = cuda.threadIdx",
        "are no numbers: take .x, .y or .z of each", "tx, ty",
    ),
    "another try, which is a turn": (
        "smallest_factor", "        cuda.atomic.min(factors, i, step)",
        "        seen = factors.size\n        while seen > step:\n"
        "            tried, seen = seen, cuda.atomic.cas(factors, i, seen, step)\n"
        "            if tried == seen:\n                break",
        "save some of it; a compare-and-swap that is tried again takes turns, too.", "while",
    ),
    "a loop around a shuffle that does not end": (
        ROWS, "distance //= 2", "distance -= distance % 2", "The loop at line 13 does not end", "while",
    ),
    "a loop of turns in one that does not end": (
        ROWS, "distance //= 2", "for k in range(3): pass", "The loop at line 13 does not end", "while",
    ),
    "a power that is written as an exclusive or": (
        "fusion", "difference * difference", "difference ^ 2", "a power is written **", "^",
    ),
    "the place in the block for that in the grid": (
        HISTOGRAM, "cuda.grid(1)", "cuda.threadIdx.x",
        "values[0] is read by 31 threads, and values[1] by none. ", "atomic.add",
    ),
    "the place in the block, in one of several blocks": (
        "carry_values", "cuda.grid(1)", "cuda.threadIdx.x",
        "x[0, 0] is read by 2 threads, and x[0, 32] by none. ", "out[",
    ),
    "what to look at, where an element is read by none": (
        HISTOGRAM, "cuda.grid(1)", "cuda.threadIdx.x", "Which index does a thread read", "atomic.add",
    ),
    "an element that is looked up again": (
        "halo_read", "    out[i] = max(left, x[i], right)",
        "    out[i] = left\n        if max(x[i], right) > out[i]:\n            out[i] = max(x[i], right)",
        "alone reads x[4] twice, in lines 13 and 14: each x[...] counts", "left = ",
    ),
    "which of two lines stored a wrong element": (
        "dot", "    if cuda.laneid == 0:\n",
        "    if cuda.grid(1) == 0:\n        total[0] = partial\n    elif cuda.laneid == 0:\n",
        "total[0] should be", "total[0] = partial",
    ),
    "all lines that store, where none stored the element": (
        "shift_in_place", "if i < x.size - 1:\n            x[i] = value",
        "if i < 3:\n            x[i] = value\n        elif 3 < i < 5:\n            x[i] = value",
        "13 | x[i] = value 15 | x[i] = value", "x[i] = value",
    ),
    "no layers": (
        "carry_values", "n_layers and i", "i", "The array has no elements here", "x[0, i]",
    ),
    "what a wrong element is made of": (
        "map_2d", ">=", ">", "Its thread reads image[0, 2], which is 2.5; level is 2.5.", "mask[",
    ),
    "a choice between a number and zero in 64 bits": (
        "prefix_sum", "t >= distance else float32(0)", "t >= distance else 0",
        "float32 with int64 makes float64 in Numba; before may be 0 in line", "before =",
    ),
    "whole numbers divided": (
        ROWS, "distance //= 2", "distance = int(distance / 2)",
        "int64 / int64 makes float64 in Numba, and // a whole number.", "distance / 2",
    ),
    "a block's sum in single precision": (
        "shared_sum", "array(1, int32)", "array(1, 'float32')", "whose type cannot hold", "atomic.add(total",
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", CAUSES)
def test_the_cause_is_named(title: str) -> None:
    name, right, wrong, said, code = CAUSES[title]
    exercise, source = get(name), changed(name, (right, wrong))
    report = judged(name, source)
    text = " ".join(str(Verdict(exercise, (report,), Answer(source, exercise.function_name))).split())
    assert said in text
    assert code in source.splitlines()[report.findings[0].lines[0] - 1]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("    total = float32(0)\n", "    total = float32(0)\n    if row >= c.shape[0]:\n        return\n"),
        (
            "        cuda.syncthreads()  # both",
            "        if row < c.shape[0]:\n            cuda.syncthreads()  # both",
        ),
    ],
)
def test_what_follows_from_a_missed_barrier_is_not_told(right: str, wrong: str) -> None:
    assert len(judged(MATMUL, changed(MATMUL, (right, wrong))).findings) == 1


def test_what_stopped_threads_leave_out_is_no_cause() -> None:
    path = WRONG / "histogram_32_bins.py"
    first, *others = judged(HISTOGRAM, path.read_text(encoding="utf-8")).findings
    assert "mine has 32 elements" in first.message
    assert others
    assert not any("by none" in each.message or "No thread" in each.message for each in others)


def test_the_class_of_a_dtype_makes_numbers() -> None:
    assert judged(MATMUL, changed(MATMUL, ("total = float32(0)", "total = a.dtype.type(0)"))).passed


LOCKED = """
from numba import cuda

@cuda.jit
def histogram_kernel(values, counts):
    lock = cuda.shared.array(40, "int32")
    part = cuda.shared.array(40, "int32")
    i, t = cuda.grid(1), cuda.threadIdx.x
    for b in range(t, 40, cuda.blockDim.x):
        lock[b] = part[b] = 0
    cuda.syncthreads()
    v = values[i] if i < values.size else -1
    if 0 <= v < counts.size:
        while cuda.atomic.cas(lock, v, 0, 1) != 0:
            pass
        part[v] += 1
        cuda.atomic.exch(lock, v, 0)
    cuda.syncthreads()
    for b in range(t, counts.size, cuda.blockDim.x):
        cuda.atomic.add(counts, b, part[b])
"""


def test_a_lock_within_a_block_is_not_followed() -> None:
    (found, *_) = judged(HISTOGRAM, LOCKED).findings
    assert found.kind == "race"
    assert found.message.endswith("is not followed here: use an atomic operation instead.")
