"""The stand-in for cuda: grids, warps, shuffles and votes, atomics, bits, memory spaces."""

import numpy as np
import pytest
from launching import launch, poisoned, ramp

LANES = np.arange(32)


def per_thread(
    body: str, n: int = 32, block: object = 32, dtype: object = np.int64, **arguments: object
) -> list:
    """What the threads of one block leave in out[t], after running a body that sets v."""
    parameters = ", ".join([*arguments, "out"])
    source = f"def kernel({parameters}):\n    t = cuda.threadIdx.x\n    {body}\n    out[t] = v\n"
    out = poisoned(n, dtype=dtype)
    trace = launch(source, 1, block, **arguments, out=out)
    assert trace.findings == (), [str(finding) for finding in trace.findings]
    return out.tolist()


def test_a_thread_knows_its_place_in_three_axes() -> None:
    source = """
def kernel(out):
    x, y, z = cuda.grid(3)
    sx, sy, sz = cuda.gridsize(3)
    i = x + sx * (y + sy * z)
    t, b, n, m = cuda.threadIdx, cuda.blockIdx, cuda.blockDim, cuda.gridDim
    out[i] = 100 * (b.x + m.x * (b.y + m.y * b.z)) + t.x + n.x * (t.y + n.y * t.z)
"""
    out = poisoned(2 * 3 * 2 * 4 * 3 * 2, dtype=np.int64)
    trace = launch(source, (2, 3, 2), (4, 3, 2), out=out)
    assert trace.findings == ()
    shape = (2, 2, 3, 3, 2, 4)  # blocks and threads along z, then y, then x
    block, thread = np.divmod(out.reshape(shape), 100)
    assert block[:, 0, :, 0, :, 0].ravel().tolist() == list(range(12))
    assert thread[0, :, 0, :, 0, :].ravel().tolist() == list(range(24))


def test_grid_and_gridsize_of_one_and_two_axes() -> None:
    source = "def kernel(out):\n    i = cuda.grid(1)\n    out[i, 0] = cuda.gridsize(1)\n"
    source += (
        "    out[i, 1] = cuda.grid(2)[1]\n    out[i, 2] = cuda.gridsize(2)[1]\n    out[i, 3] = cuda.laneid\n"
    )
    out = poisoned(66, 4, dtype=np.int64)
    assert launch(source, 2, 33, out=out).findings == ()
    assert out.tolist() == [[66, 0, 1, i % 33 % 32] for i in range(66)]


SHUFFLES = [
    ("cuda.shfl_sync(0xffffffff, t * t, 5)", [25] * 32),
    ("cuda.shfl_sync(0xffffffff, t, t + 1)", [*range(1, 32), 0]),
    ("cuda.shfl_up_sync(0xffffffff, t, 2)", [0, 1, *range(30)]),
    ("cuda.shfl_down_sync(0xffffffff, t, 2)", [*range(2, 32), 30, 31]),
    ("cuda.shfl_xor_sync(0xffffffff, t, 1)", [i ^ 1 for i in range(32)]),
    ("cuda.shfl_xor_sync(0xffffffff, t, lane_mask=1)", [i ^ 1 for i in range(32)]),
    ("cuda.shfl_sync(src_lane=5, value=t * t, mask=-1)", [25] * 32),
    ("cuda.all_sync(-1, t < 32)", [True] * 32),
    ("cuda.all_sync(-1, t < 31)", [False] * 32),
    ("cuda.any_sync(-1, t == 7)", [True] * 32),
    ("cuda.eq_sync(-1, t < 40)", [True] * 32),
    ("cuda.eq_sync(-1, t < 4)", [False] * 32),
    ("cuda.ballot_sync(-1, t % 2)", [-0x55555556] * 32),  # Numba's ballot is a signed integer of 32 bits
    ("cuda.popc(cuda.ballot_sync(-1, True))", [32] * 32),
    ("cuda.match_any_sync(-1, t // 16)", [0xFFFF] * 16 + [-0x10000] * 16),
    ("cuda.match_all_sync(-1, 5)[1]", [True] * 32),
    ("cuda.match_all_sync(-1, t)[0]", [0] * 32),
    ("cuda.activemask()", [2**32 - 1] * 32),
    ("cuda.lanemask_lt()", [2**i - 1 for i in range(32)]),
]


@pytest.mark.parametrize(("call", "expected"), SHUFFLES, ids=[case[0] for case in SHUFFLES])
def test_lanes_of_a_warp_work_in_step(call: str, expected: list) -> None:
    assert per_thread(f"v = {call}") == expected


def test_a_tree_of_shuffles_in_a_loop_adds_a_warp_up() -> None:
    body = (
        "v = x[t]\n    d = 16\n    while d > 0:\n        v += cuda.shfl_down_sync(-1, v, d)\n        d //= 2"
    )
    result = per_thread(body, 64, 64, np.float32, x=ramp(64))
    assert (result[0], result[32]) == (ramp(32).sum(), ramp(64)[32:].sum())


def test_a_mask_lets_one_half_shuffle_alone() -> None:
    body = "v = -1\n    if t < 16:\n        v = cuda.shfl_xor_sync(0xffff, t, 15)"
    assert per_thread(body) == [*range(15, -1, -1), *[-1] * 16]


def test_the_active_lanes_are_those_of_the_same_branch() -> None:
    """Lanes beyond the end of the array, and those of the other branch, are not among them."""
    body = (
        "v = 0\n    if t < 16:\n        v = cuda.activemask()\n    elif t < 20:\n"
        "        v = cuda.popc(cuda.match_any_sync(cuda.activemask(), t // 18))"
    )
    assert per_thread(body) == [0xFFFF] * 16 + [2] * 4 + [0] * 12


def test_two_branches_may_meet_in_one_operation() -> None:
    """Lanes with the same operation and mask take part together, wherever they call it."""
    body = (
        "if t < 16:\n        v = cuda.shfl_sync(-1, t, 31)\n    else:\n        v = cuda.shfl_sync(-1, -t, 0)"
    )
    assert per_thread(body) == [-31] * 16 + [0] * 16


def test_a_lane_that_is_not_there_gives_what_is_of_no_use() -> None:
    """A shuffle reads such a lane without a finding: many right kernels do, and drop what they get."""
    assert per_thread("v = cuda.shfl_down_sync(-1, t, 1)", 3, 3) == [1, 2, 1 - 2**63]
    result = per_thread("v = cuda.shfl_down_sync(-1, float32(t), 1)", 3, 3, np.float32)
    assert np.isnan(result[2])


BARRIERS = [
    ("cuda.syncthreads_count(int32(t < 5))", [5] * 64),
    ("cuda.syncthreads_and(int32(t < 64))", [1] * 64),
    ("cuda.syncthreads_or(int32(t == 99))", [0] * 64),
]


@pytest.mark.parametrize(("call", "expected"), BARRIERS)
def test_barriers_that_count(call: str, expected: list[int]) -> None:
    assert per_thread(f"v = {call}", 64, 64) == expected


ATOMICS = [
    ("add(a, 0, t)", 10, 10 + 496, np.int32),
    ("add(a, 0, 0.5)", 1, 17, np.float32),
    ("sub(a, 0, 1)", 10, -22, np.int32),
    ("max(a, 0, t)", 10, 31, np.int32),
    ("min(a, 0, t)", 10, 0, np.int32),
    ("nanmax(a, 0, t)", np.nan, 31, np.float64),
    ("nanmin(a, 0, t)", np.nan, 0, np.float64),
    ("and_(a, 0, ~(1 << t % 4))", 255, 240, np.int32),
    ("or_(a, 0, 1 << t % 4)", 16, 31, np.int32),
    ("xor(a, 0, t)", 5, 5, np.int32),
    ("inc(a, 0, 5)", 0, 32 % 6, np.uint32),
    ("dec(a, 0, 5)", 0, 4, np.uint32),
    ("exch(a, 0, 7)", 1, 7, np.int32),
    ("cas(a, 0, 3, 9)", 3, 9, np.int32),
    ("cas(a, 0, 4, 9)", 3, 3, np.int32),
    ("compare_and_swap(a, 3, 9)", 3, 9, np.int32),
]


@pytest.mark.parametrize(("call", "before", "after", "dtype"), ATOMICS, ids=[case[0] for case in ATOMICS])
def test_atomic_operations_change_an_element(call: str, before: float, after: float, dtype: type) -> None:
    a = np.array([before], dtype)
    per_thread(f"v = 0\n    cuda.atomic.{call}", a=a)
    assert a[0] == after


def test_atomic_operations_return_what_was_there() -> None:
    a = np.zeros(1, np.int32)
    assert sorted(per_thread("v = cuda.atomic.add(a, 0, 2)", a=a)) == list(range(0, 64, 2))


def test_atomic_operations_take_several_axes_and_shared_memory() -> None:
    a = np.zeros((2, 3), np.int32)
    per_thread("v = 0\n    cuda.atomic.add(a, (t % 2, 1), 1)", a=a)
    assert a.tolist() == [[0, 16, 0], [0, 16, 0]]
    body = "s = cuda.shared.array(2, int32)\n    if t < 2: s[t] = 0\n    cuda.syncthreads()\n"
    body += "    cuda.atomic.add(s, t % 2, t)\n    cuda.syncthreads()\n    v = s[t % 2]"
    assert per_thread(body) == [240, 256] * 16


def test_atomic_operations_need_memory_that_threads_share() -> None:
    source = "def kernel(a):\n    w = cuda.local.array(1, int32)\n    cuda.atomic.add(w, 0, 1)\n"
    (finding,) = launch(source, 1, 1, a=np.zeros(1)).findings
    assert str(finding) == (
        "Thread 0 of block 0 fails in line 3: atomic operations work on global and shared memory; w is "
        "neither."
    )


BITS = [
    ("cuda.popc(255)", 8),
    ("cuda.popc(uint32(-1))", 32),
    ("cuda.ffs(8)", 4),
    ("cuda.ffs(0)", 0),
    ("cuda.clz(uint32(1))", 31),
    ("cuda.clz(uint64(1))", 63),
    ("cuda.clz(int32(0))", 32),
    ("cuda.brev(uint32(1))", 2**31),
    ("cuda.brev(uint32(t)) >> 27", [int(f"{i:05b}"[::-1], 2) for i in range(32)]),
    ("cuda.selp(t > 3, 1, 2)", [2] * 4 + [1] * 28),
    ("cuda.fma(2.0, 3.0, 4.0)", 10),
    ("cuda.cbrt(27.0)", 3),
]


@pytest.mark.parametrize(("call", "expected"), BITS, ids=[case[0] for case in BITS])
def test_bits_and_small_functions(call: str, expected: object) -> None:
    wanted = expected if isinstance(expected, list) else [expected] * 32
    assert per_thread(f"v = {call}") == wanted


@pytest.mark.parametrize("call", ["cuda.clz(t)", "cuda.brev(t)", "cuda.popc(-1 - t)"])
def test_the_width_of_an_integer_is_never_guessed(call: str) -> None:
    (finding,) = launch(
        f"def kernel(out):\n    t = cuda.threadIdx.x\n    out[t] = {call}\n", 1, 1, out=ramp(1)
    ).findings
    assert str(finding) == (
        "Line 3 uses the width of an integer: write uint32(value) or uint64(value) around it, which this "
        "simulator "
        "does not have; only a GPU can show whether the results are right."
    )


def test_shared_memory_belongs_to_a_block_and_local_memory_to_a_thread() -> None:
    source = """
def kernel(out):
    s = cuda.shared.array(shape=4, dtype=int32)
    w = cuda.local.array((2, 2), float32)
    t = cuda.threadIdx.x
    s[t] = cuda.blockIdx.x * 10 + t
    w[1, 0] = t
    cuda.syncthreads()
    out[cuda.grid(1)] = s[3 - t] + w[1, 0] / 10
"""
    out = poisoned(8)
    assert launch(source, 2, 4, out=out).findings == ()
    np.testing.assert_allclose(out, [3, 2.1, 1.2, 0.3, 13, 12.1, 11.2, 10.3], rtol=1e-6)


def test_dynamic_shared_memory_is_one_piece() -> None:
    source = """
def kernel(out):
    whole = cuda.shared.array(0, float32)
    first, second = whole[:4], whole[4:]
    t = cuda.threadIdx.x
    first[t] = t
    second[t] = 10 * t
    cuda.syncthreads()
    again = cuda.shared.array(0, float32)
    out[t] = again[3 - t] + again[7 - t]
"""
    out = poisoned(4)
    trace = launch(source, 1, 4, out=out, shared_bytes=32)
    assert (trace.findings, trace.figures.shared_bytes) == ((), 32)
    assert out.tolist() == [33, 22, 11, 0]
    found = launch(source, 1, 4, out=poisoned(4), shared_bytes=28).findings
    assert [(finding.kind, finding.line) for finding in found] == [("out_of_range", 7), ("out_of_range", 10)]


def test_a_block_has_so_much_shared_memory_and_no_more() -> None:
    source = "def kernel(out):\n    s = cuda.shared.array(20000, float32)\n    s[0] = 0\n"
    (finding,) = launch(source, 1, 1, out=poisoned(1)).findings
    assert str(finding) == (
        "Thread 0 of block 0 fails in line 2: the shared arrays take 80000 bytes, and a block has 49152."
    )


def test_constants_can_be_read_and_not_written() -> None:
    source = "import numpy as np\nfrom numba import cuda\nTABLE = np.array([1, 2, 3], np.int32)\n"
    read = (
        source
        + "def kernel(out):\n    table = cuda.const.array_like(TABLE)\n    out[0] = table[1] + TABLE[2]\n"
    )
    out = np.zeros(1)
    assert launch(read, 1, 1, out=out).findings == ()
    assert out[0] == 5
    (finding,) = launch(source + "def kernel(out):\n    TABLE[0] = 1\n", 1, 1, out=out).findings
    assert str(finding) == "Thread 0 of block 0 fails in line 5: TABLE cannot be written to."


def test_printing_kernels_keep_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert launch("def kernel(out):\n    print('hello', out[0])\n", 1, 32, out=ramp(1)).findings == ()
    assert capsys.readouterr().out == ""


def test_warnings_stay_inside() -> None:
    """Overflow, division by zero and what Python itself warns of are the kernel's business."""
    source = "def kernel(out):\n    out[0] = float32(1e38) * float32(1e38) + ~(out[1] > 0)\n"
    assert launch(source, 1, 1, out=ramp(2)).findings == ()


@pytest.mark.parametrize(
    ("operation", "dtype", "kinds"),
    [
        ("inc", np.int32, "uint32 and uint64"),
        ("xor", np.float32, "int32, int64, uint32 and uint64"),
        ("add", np.uint8, "int32, int64, uint32, uint64, float32 and float64"),
    ],
)
def test_atomic_operations_take_the_types_that_numba_gives_them(
    operation: str, dtype: type, kinds: str
) -> None:
    source = f"def kernel(a):\n    cuda.atomic.{operation}(a, 0, 1)\n"
    (finding,) = launch(source, 1, 1, a=np.ones(1, dtype)).findings
    name = np.dtype(dtype).name
    assert str(finding) == (
        f"Thread 0 of block 0 fails in line 2: cuda.atomic.{operation} works on arrays of {kinds}, "
        f"not of {name}."
    )
