"""How the open blocks of each lesson are run at another size, and when the answer of a block is right."""

from __future__ import annotations

from open_blocks import OtherSizes


def _each(check: str, *rungs: str) -> dict[str, str]:
    return dict.fromkeys(rungs, check)


_MAXIMUM = """
assert (out == cp.maximum(a, b)).all()
out[:] = -1
"""
_MAXIMUM_RUNGS = ("one_element", "larger_blocks", "grid_stride", "four_elements")
# The simulator compiles nothing, so there is no PTX.
_NO_PTX = {"(ptx,) = kernel.inspect_asm().values()": "ptx = ''"}

# What the doses come to by their formula, in float64.
_DOSES = """
x = 0.0
for _ in range(128):
    x = (x + 2.5) * kept.get().astype(float)
assert np.allclose(level.get(), x, rtol=1e-4)
level[:] = -1
"""
_DOSES_RUNGS = (
    *("python_floats", "rounded_steps", "float32_only"),
    *("range_int64", "own_counter"),
)

_PINNED = """
assert (x_host == np.sort(np.random.default_rng(0).random(x_host.size, dtype=np.float32))).all()
"""
_CONTRASTS = """
assert np.allclose(on_host, on_gpu.get(), atol=1e-5)
assert (with_frame(on_host, 3)[3:-3, 3:-3] == on_host).all()
"""
_AS_NUMPY = """
assert np.allclose(smooth.get(), expected)
assert cp.allclose(row_by_row(vectors), at_once(vectors))
"""
_SORTS = {
    "x.get(out=x_host)": _PINNED,
    "by_row = cp.sort": "assert (by_row.get() == np.sort(matrix_host, axis=1)).all()",
    "packed.sort()": "assert (again.get() == np.sort(matrix_host, axis=1)).all()",
}

_CHUNKED = _each("assert (out_host == x_host @ weights_host).all()", "make_buffers(1,", "make_buffers(3,")
_BLURRED = "assert np.allclose({result}, expected, atol=1e-5)"
_BLURS = {
    "again =": _BLURRED.format(result="again.get()"),
    "by_fft =": _BLURRED.format(result="by_fft.get()"),
    "twice =": _BLURRED.format(result="twice.get()"),
    "in_one =": _BLURRED.format(result="in_one.get()"),
    "out_pinned =": _BLURRED.format(result="out_pinned"),
}
_POINTS = {
    "philox": "assert 0 <= float(x.min()) <= float(x.max()) < 1",
    "": "assert 0 <= int(inside) <= n == x.size",
}
_CUT = {
    "": """
assert (block.get() == x_host[: block.size]).all()
assert (eighth.get() == x_host[::8]).all()
assert (picked_on_gpu.get() == x_host[places_host]).all()
"""
}
_TRIPLED = {"in_place": "assert (x.get() == (3 * x_host) ** 2).all()"}

_FOUND = """
words_of = dict(zip(keys_host.tolist(), keys_host.astype("S8").tolist(), strict=True))
assert found.get().view("S8").tolist() == [words_of.get(query, b"") for query in queries_host.tolist()]
found[:] = 99
"""
_LOOK_UPS = {
    "cupy": 'assert found.get().view("S8").tolist() == [b"fifteen", b"", b"cable"]',
    **_each(_FOUND, "branching", "bucket", "bucket_of_8", "hash_table", "direct"),
}

_LARGER = """
assert (out.get() == np.maximum(a_host, b_host)).all()
out[:] = -1
"""
_UFUNCS = {
    **_each(_LARGER, "ufunc", "own_kernel"),
    "from_numpy": "assert (result == np.maximum(a_host, b_host)).all()",
    "eight_steps": "assert float(cp.abs(missing).max()) < 4e-6",
    "row_ufunc": "assert cp.allclose(distance, ((points[:-1] - points[1:]) ** 2).sum(axis=1))",
}

# Each of these blocks adds a hundred.
_HUNDREDS = {
    rung: f"assert (x == {100 * number + 1}).all()"
    for number, rung in enumerate(
        ("cupy_arrays", "numba_views", "cached_launcher", "raw_kernel", "graph", "one_launch"), start=1
    )
}

_TWOS = """
assert (x == 2).all()
x[:] = 9
"""
_INCREMENTS = {
    "grid": _TWOS,
    "": "assert (x == 2).all() and (x_host == 2).all()",
}
# On a GPU Numba would warn of so few blocks, and the second block of this lesson tells it not to.
_NO_WARNING = {
    "from numba import cuda\n": "from numba import config, cuda\nconfig.CUDA_LOW_OCCUPANCY_WARNINGS = 0\n"
}

_TRANSPOSED = """
assert (turned == a.T).all()
turned[:] = -1
"""
_TILES = {
    "np.convolve": "assert (out.get() == np.convolve(x.get(), np.ones(33), mode='same')).all()",
    **_each(_TRANSPOSED, "transpose_naive", "transpose_tile", "transpose_large"),
}
_COUNTED = """
assert (counts.get() == np.bincount(x_host, minlength=256)).all()
counts[:] = 0
"""
_COUNTS = _each(_COUNTED, "count_global[", "count_shared", "count_eight")

_POLYNOMIAL = {
    "cpu_threads": "assert np.allclose(out_host, polynomial(x_host))",
    "gpu_threads": "assert np.allclose(out_device.get(), polynomial(x_host))\nout_device[:] = 0",
    "with_copies_pinned": "assert np.allclose(out_pinned, polynomial(x_host))",
}
_PRODUCT = {"": "assert np.allclose((q_gpu @ r_gpu).get(), a)"}

# From the largest down, so that the smallest divisor of each number is written last.
_DIVISORS = """
numbers = np.arange(2, divisors.size + 2)
smallest = numbers.copy()
for d in range(int(numbers[-1] ** 0.5), 1, -1):
    smallest[numbers % d == 0] = d
assert (divisors.get() == smallest).all()
divisors[:] = 0
"""
_NO_DAMP_PTX = {"(ptx,) = damp.inspect_asm().values()": "ptx = ''"}
_DIVISORS_RUNGS = ("in_order", "by_cost", "regrouped")

# By division; an answer has a byte for each number, or for each odd one.
_PRIMES = """
step = {step}
numbers = range(step - 1, step * is_prime.size, step)
right = [n > 1 and all(n % j for j in range(2, int(n**0.5) + 1)) for n in numbers]
assert is_prime.get().tolist() == right
is_prime[:] = ~is_prime
"""
_SIEVES = {
    "thread_per_number": _PRIMES.format(step=1),
    **_each(
        _PRIMES.format(step=2),
        *("odd_numbers", "to_square_root", "sieve_global", "sieve_shared"),
    ),
}
_SHORT_SEGMENTS = {
    "32_768": "128",
    "SHORT = 128": "SHORT = 3",
    "+ 511) // 512, 512": "+ 31) // 32, 32",
    "[(16, n_steps), 512]": "[(2, n_steps), 32]",
    "// 2), 512]": "// 2), 32]",
    "// SEGMENT, 512]": "// SEGMENT, 32]",
}

_FACTORS = """
assert cp.allclose(q.T @ q, cp.eye(len(q)))
assert np.isclose(float(logarithm), np.linalg.slogdet(a_host)[1])
assert cp.allclose(c_single, c, atol=0.01)
"""
_DETERMINANT = "assert np.isclose(float(determinant), np.linalg.det(a_host), rtol=1e-3)"
_LONGEST = "assert (out == cp.arange(out.size) % 2**24).all()"
_ON_THEIR_WAY = {
    "x.set(x_pinned)": "assert (x == cp.asarray(y_host)).all()\nx[:] = 9",
    "hostRegister": "assert (x == cp.asarray(y_host)).all()",
    "stream=there": "assert (x == 0).all()\nassert (y_pinned == 1).all()",
}
_POWERS = "assert (large == 3**15).all() and back.data.ptr == x.data.ptr"
_PAIRS = {
    "": "assert np.isclose(float(product), np.dot(a_host, b_host))",
    "a.set(a_pinned)": "assert np.isclose(float(cp.dot(a, b)), np.dot(a_pinned, b_pinned))",
}
_ADDED = "assert (out == x + 1).all()\nassert corner == len(a)"
_TIMED = "assert (out == cp.maximum(a, b)).all()\nassert cp.allclose(guess, cp.sqrt(number))"
_SHORT = {"2**28": "2**26", "8192": "1024"}

_SUMS_OF_PAIRS = """
assert (out.get() == a_host + b_host).all()
out[:] = -1
"""
_FAMILIES = {
    **_each(_SUMS_OF_PAIRS, "add_quads", "add_four", "add_pairs"),
    "sum_reduction": "assert np.isclose(float(total(a)), a_host.sum(dtype=float))",
    "sum_blocks": "assert np.isclose(float(result[0]), a_host.sum(dtype=float))",
}
_ADDED_UP = """
assert int(out[0]) == int(x.get().sum())
"""
_REDUCED = {
    **_each(_ADDED_UP, "tree", "one_atomic_each", "strided_tree", "many_per_thread"),
    "one_block[1": _ADDED_UP,
    "blocks_of_a_row =": "assert (out.get() == a.get().sum(axis=1)).all()",
}
_SMOOTHED = """
assert (smooth.get() == expected).all()
smooth[:], spare[:] = noisy, noisy
"""
_THROWN = """
assert abs(4 * int(counts.sum()) / (n_threads * points) - np.pi) < 10 / (n_threads * points) ** 0.5
counts[:] = 0
"""
_WALKED = "assert 700 < float(squares.mean()) < 1400"
_RUNNING = """
assert (out.get() == np.cumsum(x.get())).all()
out[:] = -1
"""
_SCANNED = {
    "block_totals": "assert all((out[k : k + 256] == x[k : k + 256].cumsum()).all() for k in (0, 256, 512))",
    **_each(_RUNNING, "totals_of_pieces", "look_back"),
    "count_positive[": "assert (positive == x[x > 0]).all()",
}
_SQUARES = {
    "two_steps": "assert (fused(x, y).get() == squared_difference(x.get(), y.get())).all()",
    "squared_four": "assert (out == fused(a, b)).all()",
    "sum_fused": "assert int(sum_of_squares(x, y)) == int(((x.get() - y.get()) ** 2).sum())",
}
_MULTIPLIED = """
assert np.allclose(out.get(), np.prod(x.get(), axis=0))
out[:] = -1
"""
# The simulator has no streams of others.
_ANY_STREAM = {"cuda.external_stream(one.ptr)": "0"}
_IN_STREAMS = """
assert cp.allclose(a @ c, cp.eye(len(a)), atol=0.01)
assert (x == 1).all() and (y == 10).all()
"""
_SHARED = """
assert abs(pi_on(gpus) - np.pi) < 1e-6
assert (arrays[-1] == sum(range(1, n_gpus + 1))).all()
"""
_BLOCKS = "assert np.isclose(float(pi.compute()), np.pi)"
_SUMMED = "assert (out.get() == expected).all()"
_LADDER = {
    **_each(_SUMMED, "from_global", "from_tile", "from_window", "constants", "in_a_block"),
    "correlated =": "assert (out.get() == correlated).all()",
}
_AFTER_24_STEPS = """
again = heat.get()
for _ in range(24):
    up_and_down = again[:-2, 1:-1] + again[2:, 1:-1]
    again[1:-1, 1:-1] = (up_and_down + (again[1:-1, :-2] + again[1:-1, 2:])) / 4
assert (right.get() == again).all()
"""
_FLOWED = {
    **_each("assert (now.get() == expected).all()", "one_cell", "heat_step =", "eight_rows", "six_steps ="),
    "blocks_at_once =": "assert (out.get() == expected).all()",
    "n_wrong =": _AFTER_24_STEPS,
}
_PRODUCTS = """
assert (c.get() == expected).all()
c[:] = 99
"""
_SUMS = """
assert np.isclose(float(out[0]), x_host.sum(dtype=float))
"""

_ROUGH = """
assert np.allclose(rough, expected, rtol=1e-4)
assert (again == rough).all()
"""

#: Lesson -> another size. Add a lesson here when it is written.
OTHER_SIZES: dict[str, OtherSizes] = {
    "agnostic": OtherSizes({"(480, 640, 3)": "(33, 20, 3)"}, {"": _CONTRASTS}),
    "divergence": OtherSizes(
        {
            **_NO_DAMP_PTX,
            "65_536": "4_096",
            "65_538": "4_098",
            "[512, 128]": "[32, 128]",
            "[32, 128]": "[2, 128]",
        },
        _each(_DIVISORS, *_DIVISORS_RUNGS),
    ),
    "why_gpu": OtherSizes({"1_000_000": "1_003"}, _POLYNOMIAL),
    "five_minutes": OtherSizes({"(512, 512)": "(100, 33)"}, _PRODUCT),
    "first_kernel": OtherSizes({**_NO_WARNING, "50_000": "1_003"}, _INCREMENTS),
    "grids_2d_3d": OtherSizes({"cp.ones((256, 256))": "cp.ones((33, 100))"}, {"": "assert (x == 3).all()"}),
    "launch_overhead": OtherSizes({"ones(shape=(256, 256))": "ones(shape=(33, 100))"}, _HUNDREDS),
    "launch_sizes": OtherSizes({"2**26": "3_001"}, _each(_MAXIMUM, *_MAXIMUM_RUNGS)),
    # With fewer blocks than these Numba would warn.
    "how_to_time": OtherSizes({"2**26": "70_001", "65_536": "65_001", "2048": "65"}, {"": _ADDED}),
    "know_your_gpu": OtherSizes({"2**28": "200_003"}, {"": _LONGEST}),
    "benchmark_well": OtherSizes(
        {**_SHORT, "2**21": "40_001", "2**26": "50_001", "2**22": "33_025"}, {"": _TIMED}
    ),
    "interop": OtherSizes({"65_536": "40_000", "2**27": "2**24", "2**19": "2**16"}, {"": _POWERS}),
    "overlap": OtherSizes({"2048, 2048": "5, 7"}, _CHUNKED),
    "several_gpus": OtherSizes({"2**20": "1_000"}, {"": _SHARED}),
    "several_hosts": OtherSizes({"2**20": "1_000"}, {"": _BLOCKS}),
    "convolution": OtherSizes({"(512, 512)": "(100, 33)"}, _BLURS),
    "convolution_ladder": OtherSizes({"600, 800": "701, 513"}, _LADDER),
    "graphs": OtherSizes(
        {"100_000": "70_001"},
        _each(_SMOOTHED, "noisy_host = (", "graph_of_50", "graph_of_cupy"),
    ),
    "random_in_kernels": OtherSizes(
        {"65_536, 1000": "512, 1001"},
        {**_each(_THROWN, "own_state", "one_draw", "no_state"), "walk": _WALKED},
    ),
    "random_numbers": OtherSizes({"1_000_000": "1_003", "10_000_000": "1_009"}, _POINTS),
    "kernel_families": OtherSizes({"2**26": "10_002"}, _FAMILIES),
    "fusion": OtherSizes({"10_000": "1_003", "2**20": "1_003"}, _SQUARES),
    "linear_algebra": OtherSizes({"512": "33", "4096": "40"}, {"": _FACTORS}),
    "first_call": OtherSizes({"512": "33"}, {"": _DETERMINANT}),
    "transfers": OtherSizes({"1_000_000": "1_003"}, _ON_THEIR_WAY),
    "data_where_it_is": OtherSizes({"1_000_000": "1_003"}, _PAIRS),
    "numpy_to_cupy": OtherSizes(
        {"1_000_000": "1_003", "(1024, 1024)": "(33, 20)", "(100_000, 100)": "(33, 20)"}, {"": _AS_NUMPY}
    ),
    "shared_memory": OtherSizes({"32_768": "1_003", "200": "67", "300": "131"}, _TILES),
    "atomics": OtherSizes({"2**16": "5_003"}, _COUNTS),
    "reductions": OtherSizes({"2**22": "2**21 - 64"}, _REDUCED),
    "scan": OtherSizes({"2**22": "600_001"}, _SCANNED),
    "matmul": OtherSizes(
        {"m, n, p = 2000, 777, 1513": "m, n, p = 35, 19, 40"},
        _each(
            _PRODUCTS,
            "one_element",
            "one_element_unsigned",
            "tile_in_shared",
            "tile_in_registers",
            "in_cuda",
        ),
    ),
    # Fewer threads, as the simulator is slow; they come back for the rest.
    "precision": OtherSizes(
        {
            "10**8": "20_003",
            "4096, 256": "2, 256",
            "empty(4096": "empty(2",
            "1_000_000": "20_003",
            "100_000": "10",
        },
        {"sum_float64": _SUMS, "by_kahan(x_host": "assert np.isclose(one[0], x_host.sum(dtype=float))"},
    ),
    "registers": OtherSizes(
        {"(64, 512, 512)": "(5, 200, 170)", "(512, 512)": "(200, 170)", "512 // 32, 512 // 16": "6, 25"},
        _each(_MULTIPLIED, "as_is", "in_register", "one_index", "pairs"),
    ),
    "stencil": OtherSizes({"1000, 1200": "1001, 1503"}, _FLOWED),
    "streams": OtherSizes(
        {**_ANY_STREAM, "4096, 4096": "33, 33", "(2, 6000, 6000)": "(2, 100, 100)", "65_536": "33_000"},
        {"": _IN_STREAMS},
    ),
    "sort_search": OtherSizes({"4096": "33"}, _SORTS),
    "slicing": OtherSizes({"2**25": "2**12", "2**22": "100"}, _CUT),
    "memory_pools": OtherSizes({"else 256": "else 33", "20e9": "1e15", "1_000_000)": "1_003)"}, _TRIPLED),
    "sparse_lookup": OtherSizes({"10**7": "1_000", "10**6": "100", "500_000": "50"}, _LOOK_UPS),
    "ufuncs": OtherSizes({"256**3": "64**3", "2**20": "1_000"}, _UFUNCS),
    "primes": OtherSizes(
        {**_SHORT_SEGMENTS, "10_000": "200", "1_000_000_000": "1_370", "1_000_000": "300"}, _SIEVES
    ),
    "segmented_sieve": OtherSizes(
        {"1_000_000_000": "1_000_000"}, {"segmented": "assert int(words[-1]) == 78_498"}
    ),
    "debugging": OtherSizes(
        {"(100, 256)": "(3, 256)", "[100, 256]": "[3, 256]", "1, 1000": "1, 77"},
        {"": 'assert int(cp.isnan(steps["root"]).sum()) == 1'},
    ),
    "profiling": OtherSizes({"(8192, 8192)": "(1001, 1503)"}, {"turn_by_tiles[": _ROUGH}),
    "numba_types": OtherSizes(
        {**_NO_PTX, "65_536": "1_000", "[256, 256]": "[4, 256]", "16_384": "250"},
        _each(_DOSES, *_DOSES_RUNGS),
    ),
}

#: Lesson -> why its open blocks do not run in the simulator.
NOT_SIMULATED: dict[str, str] = {
    "convolution": "the simulator has no cupyx.scipy",
    "graphs": "the simulator has no graphs",
    "random_in_kernels": "in the simulator, NumPy warns of what overflows in Numba's generator",
    "image": "the simulator has no cupyx.scipy",
    "random_numbers": "the simulator has no generators of random numbers",
    "how_to_time": "the simulator has no CUDA C++",
    "benchmark_well": "the simulator has no CUDA C++",
    "linear_algebra": "NumPy, which stands in for CuPy, raises for a singular matrix",
    "launch_overhead": "the simulator has no CUDA C++, no graphs and no launchers of one type",
    "reductions": "the simulator has no shuffles",
    "scan": "the simulator has no shuffles and no CUDA C++",
    "matmul": "the simulator has no CUDA C++",
    "registers": "the simulator has no CUDA C++",
    "segmented_sieve": "the simulator has no CUDA C++",
    "interop": "in the simulator no array has an address on a GPU",
    "several_gpus": "the simulator has no CUDA C++",
    "several_hosts": "the simulator has no CUDA C++",
    "memory_pools": "the simulator has no memory pool",
    "convolution_ladder": "the simulator has no CUDA C++",
    "stencil": "the simulator has no CUDA C++, and grids of one block only wait for each other",
    "kernel_families": "the simulator has no CUDA C++",
    "fusion": "the simulator has no cp.fuse",
    "numpy_to_cupy": "the simulator lets NumPy's arrays mix with CuPy's",
    "ufuncs": "the simulator has no ufuncs",
    "debugging": "the simulator knows neither lineinfo nor debug",
    "profiling": "the simulator has no events, and no ranges of profilers",
    # With fewer than 128 blocks Numba warns.
    "know_your_gpu": "its 140 000 threads take the simulator ten seconds",
    "streams": "its 33 000 threads take the simulator ten seconds",
}
