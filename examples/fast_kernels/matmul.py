"""
Matrix multiplication: tiles and tensor cores
=============================================

What makes matrix multiplication fast, and should you write it yourself?
"""
# %%
# Write ``a @ b``: CuPy calls cuBLAS, which beats every kernel on this page. If three digits are enough,
# start Python with ``CUPY_TF32=1``, and large products are :measured:`gain_tf32` as fast. A kernel of your
# own is for products that no library has. A lean loop, tiles in shared memory, and many sums in the
# registers of each thread take it from :measured:`product[one_element, 4096].flop_rate` to
# :measured:`product[tile_in_registers, 4096].flop_rate`.
#
# .. headline:: In four steps, a plain kernel comes close to cuBLAS
#
# .. drawn:: matmul
#
#     import matplotlib.pyplot as plt
#
#     from gpuguide.charts.style import CPU, CUPY, INK, KERNEL, describe, style
#
#     bars = {
#         "NumPy (CPU)": ("with_numpy", CPU),
#         "1: plain kernel": ("one_element", KERNEL),
#         "2: lean loop": ("one_element_unsigned", KERNEL),
#         "3: shared memory": ("tile_in_shared", KERNEL),
#         "4: registers": ("tile_in_registers", KERNEL),
#         "5: CUDA C++": ("in_cuda", KERNEL),
#         "a @ b in CuPy": ("with_cublas", CUPY),
#     }
#     rates = {label: results.quantity(name, 4096, "flop_rate") for label, (name, _) in bars.items()}
#     with style():
#         ax = plt.subplots(figsize=(7.2, 3.1))[1]
#         for row, (label, rate) in enumerate(rates.items()):
#             ax.barh(row, rate.value, height=0.6, color=bars[label][1])
#             number = str(rate).removesuffix(" TFLOP/s")
#             if "CPU" in label:  # the host's processor is shared: its rate is known to no more than this
#                 number = f"about {rate.value / 1e12:.0f}"
#             ax.text(rate.value, row, f"  {number}", va="center", color=INK, weight="bold")
#         ax.set_yticks(range(len(bars)), list(bars))
#         ax.set(xlim=(0, 1.2 * rate.value), xticks=[], xlabel="TFLOP/s, 4096 rows")
#         ax.invert_yaxis()
#         ax.grid(visible=False)
#         ax.spines["bottom"].set_visible(False)
#         words = "; ".join(f"{label} {rate}" for label, rate in rates.items())
#         describe(ax, f"Operations per second of a product of two matrices of 4096 rows. {words}.")

# %%
# Write a @ b
# -----------
#
# The operator is the same as in NumPy. ``float32`` holds these small whole numbers exactly, so both libraries
# must give the same product.

import cupy as cp
import numpy as np
from numba import cuda, float32, uint32

m, n, p = 2000, 777, 1513
random = np.random.default_rng(0)
a_host = random.integers(-3, 4, (m, n)).astype(np.float32)
b_host = random.integers(-3, 4, (n, p)).astype(np.float32)
expected = a_host @ b_host

a, b = cp.asarray(a_host), cp.asarray(b_host)
c = a @ b
print("CuPy: ", c[0, :4])
print("NumPy:", expected[0, :4])

# %%
# .. try-it::
#
#    Print ``(a.astype(cp.float64) @ b).dtype``: one factor in ``float64`` is enough to compute in
#    ``float64``.

# %%
# Tensor cores: speed for digits
# ------------------------------
#
# :term:`Tensor cores <tensor core>` multiply small matrices in one instruction, if the factors are short.
# ``float16`` and TF32 keep 10 bits after the point, and *bfloat16* keeps 7. ``float16`` ends at 65 504; the
# other two have the range of ``float32``. All three add up in ``float32``. CuPy uses the tensor cores for
# ``float16`` by itself, and for ``float32`` if you start Python with ``CUPY_TF32=1`` in the environment.

a_wide = cp.asarray(random.random((m, n)) - 0.5)  # in float64
b_wide = cp.asarray(random.random((n, p)) - 0.5)
right = a_wide @ b_wide
for kind in ("float32", "float16"):
    error = a_wide.astype(kind) @ b_wide.astype(kind) - right
    off = cp.linalg.norm(error) / cp.linalg.norm(right)
    print(kind, f"is off by {float(off):.0e}")

# %%
# .. csv-table:: Products of 8192 rows, and the digits that are right
#    :header: numbers | at first | in a long run | right digits
#    :delim: |
#
#    float64|:measured:`burst_float64`|:measured:`sustained_float64`|:measured:`digits_float64`
#    float32|:measured:`burst_float32`|:measured:`sustained_float32`|:measured:`digits_float32`
#    TF32|:measured:`burst_tf32`|:measured:`sustained_tf32`|:measured:`digits_tf32`
#    bfloat16|:measured:`burst_bfloat16`|:measured:`sustained_bfloat16`|:measured:`digits_bfloat16`
#    float16|:measured:`burst_float16`|:measured:`sustained_float16`|:measured:`digits_float16`
#
# Try TF32 first: it is as exact as ``float16``, and does not overflow sooner than ``float32``. If your
# numbers fit its range, ``float16`` gains another :measured:`gain_float16`. ``float64`` runs on tensor cores
# without losing anything, and is about as fast as ``float32`` on this GPU; on a graphics card it is many
# times slower.
#
# .. dropdown:: Why a long run is slower, and how bfloat16 is called
#
#    Under products in ``float16`` the driver lowers the clock to :measured:`clock_float16`, and in
#    ``float32`` it stays at :measured:`clock_float32`. :doc:`Know the limits of your GPU
#    </gallery/measuring/know_your_gpu>` shows that it is the power limit of the board. For bfloat16, of which
#    CuPy knows nothing without another package, we call cuBLAS through CuPy. Products of 4096 rows were
#    checked bit for bit on whole numbers in all three.
#
# .. kernel:: gpuguide.topics.matmul.study
#    :names: with_tf32, with_bfloat16, bits_of_bfloat16
#    :fold: How TF32 is allowed for one product, and how bfloat16 is multiplied

# %%

# record: The kernels, the ladder at five sizes, matrices that are not square, and short numbers
import gpuguide as gg
from gpuguide.topics.matmul import study as matmul
from gpuguide.topics.matmul.kernels import (
    one_barrier,
    one_element,
    one_element_unsigned,
    product_source,
    tile_in_registers,
    tile_in_shared,
)

results = matmul.product.run()
odd = matmul.odd_product.run()
loops = matmul.loops.run()
tf32, half, brain = matmul.tf32.run(), matmul.half.run(), matmul.brain.run()

# %%

# record: Long runs of products in five kinds of numbers, and their errors
from gpuguide.topics.matmul.long_runs import sustained_products

products = sustained_products()
gain = products["tf32"]["sustained"] / products["float32"]["sustained"]
gg.fact("gain_tf32", gain, unit="ratio", note="over float32, in long runs")
for kind, run in products.items():
    note = "the first of many equal parts of a long run, after a rest"
    gg.fact(f"burst_{kind}", run["burst"], unit="FLOP/s", note=note)
    note = "median of the second half of a long run"
    gg.fact(f"sustained_{kind}", run["sustained"], unit="FLOP/s", note=note)
    gg.fact(f"clock_{kind}", run["clock"], unit="Hz", note="as the driver gives it")
    digits = float(-np.log10(run["error"]))
    gg.fact(f"digits_{kind}", digits, unit="1", note="of random factors of 8192 rows")

# %%

# draw: What the page says of the steps
from gpuguide.statements import counted

gg.claim(results, "one_element_unsigned", faster_than="one_element", at=4096, by=3.4)
gg.claim(loops, "signed_while", faster_than="one_element", at=4096, by=1.95)
gg.claim(loops, "signed_while", faster_than="unsigned_range", at=4096, by=1.35)
gg.claim(loops, "unsigned_range", faster_than="one_element", at=4096, by=1.25)
gg.claim(loops, "one_element_unsigned", faster_than="signed_while", at=4096, by=1.5)
gg.claim(loops, "one_element_unsigned", faster_than="signed_while", at=2048, by=1.05)
gg.claim(results, "tile_in_shared", faster_than="one_element_unsigned", at=4096, by=1.5)
gg.claim(results, "tile_in_shared", faster_than="one_element", at=4096, by=5.5)
gg.claim(results, "tile_in_registers", faster_than="tile_in_shared", at=4096, by=3.2)
gg.claim(results, "in_cuda", faster_than="tile_in_registers", at=4096, by=1.3)
gg.claim(results, "with_cublas", faster_than="tile_in_registers", at=4096, by=1.45)
gg.claim(results, "with_cublas", faster_than="in_cuda", at=4096, by=1.03)
gg.claim(results, "with_cublas", faster_than="tile_in_registers", at=1024, by=2.5)
gg.claim(odd, "with_cublas", faster_than="tile_in_registers", at=1000, by=3)
large = ("tile_in_registers", "in_cuda")
gg.claim(results, "tile_in_shared", faster_than=large, at=257, by=3.6)
gg.claim(results, "with_cublas", faster_than="tile_in_shared", at=257, by=1.1)
recording = gg.load("matmul")
device = recording.provenance
for name, kernel in (
    ("shared_busy", "tile_in_shared"),
    ("shared_busy_registers", "tile_in_registers"),
):
    cycles = results.time(kernel, 4096).value * device.sm_clock_hz
    counted(
        name,
        recording.counters,
        ("product", kernel, 4096),
        "shared_wavefronts",
        per=device.sm_count * cycles,
        unit="share",
        note="turns of shared memory, of one per cycle and multiprocessor",
    )
gain = facts["sustained_float16"].value / facts["sustained_tf32"].value
gg.fact("gain_float16", gain, unit="ratio", note="over TF32, in long runs")
rate = results.quantity("with_cublas", 4096, "flop_rate").value
for name in ("tile_in_registers", "in_cuda"):
    of_cublas = results.quantity(name, 4096, "flop_rate").value / rate
    gg.fact(f"share_{name}", of_cublas, unit="share", note="of the rate of cuBLAS")
for study, name in (
    ("product", "one_element"),
    ("product", "one_element_unsigned"),
    ("product", "tile_in_shared"),
    ("loops", "signed_while"),
    ("loops", "unsigned_range"),
):
    cell, by_warps = (study, name, 4096), 4096**3 / 32
    note = "while it ran"
    counted(
        f"each_{name}", recording.counters, cell, "instructions", per=by_warps, note=note
    )

# %%
# Step 1: a thread for each element
# ---------------------------------
#
# For a product that no library has, write a kernel; this one, we can compare with cuBLAS. Each element of the
# product is the sum of a row of ``a`` times a column of ``b``, and the first kernel says just that. The index
# along ``x`` is the column, so that neighbouring threads read neighbours in ``b``.
#
# .. rung:: one_element

c = cp.empty((m, p), cp.float32)
one_element[((p + 31) // 32, (m + 7) // 8), (32, 8)](a, b, c)
print("right:", bool((c.get() == expected).all()))

# %%
# For 4096 rows, the multiplications and additions take about 2.1 billion instructions, each of them for the
# 32 threads of a warp. This kernel executes :measured:`product[one_element, 4096].counter(instructions)`.
# :evidence:`counter instructions` Each multiplication needs two loads as well, but most of the rest is
# overhead, and step 2 does without it. :evidence:`variant one_element_unsigned`

# %%
# Step 2: a while loop, and indices without a sign
# ------------------------------------------------
#
# Two things fill this loop with instructions. Where the compiler does not know the length of a ``range``,
# it counts in a roundabout way and works out every address anew, as :doc:`Types: keep kernels in 32 bits
# </gallery/first_kernels/numba_types>` explains. And as a negative index counts from the end, as in Python,
# Numba tests every index that has a sign. With ``while`` the addresses only move on, and ``uint32`` has no
# sign.
#
# .. rung:: one_element_unsigned

c = cp.empty((m, p), cp.float32)
one_element_unsigned[((p + 31) // 32, (m + 7) // 8), (32, 8)](a, b, c)
print("right:", bool((c.get() == expected).all()))

# %%
# That leaves :measured:`product[one_element_unsigned, 4096].counter(instructions)` instructions, and the
# kernel is :measured:`product[one_element_unsigned, 4096].speedup(one_element)` as fast.
# :evidence:`counter instructions` Change the loop first: ``while`` alone gains
# :measured:`loops[signed_while, 4096].speedup(one_element)`. :evidence:`variant signed_while`
#
# .. dropdown:: Is it the loop, or the sign?
#
#    .. list-table:: Instructions per turn, and times for 2048 and 4096 rows
#       :header-rows: 1
#
#       * - loop, indices
#         - per turn
#         - 2048
#         - 4096
#       * - ``range``, signed
#         - :measured:`each_one_element`
#         - :measured:`loops[one_element, 2048].time`
#         - :measured:`loops[one_element, 4096].time`
#       * - ``range``, unsigned
#         - :measured:`each_unsigned_range`
#         - :measured:`loops[unsigned_range, 2048].time`
#         - :measured:`loops[unsigned_range, 4096].time`
#       * - ``while``, signed
#         - :measured:`each_signed_while`
#         - :measured:`loops[signed_while, 2048].time`
#         - :measured:`loops[signed_while, 4096].time`
#       * - ``while``, unsigned
#         - :measured:`each_one_element_unsigned`
#         - :measured:`loops[one_element_unsigned, 2048].time`
#         - :measured:`loops[one_element_unsigned, 4096].time`
#
#    Both matter, and the loop matters more. With ``range``, the sign costs instructions in each turn. With
#    ``while`` it costs none, as the compiler tests before the loop, and yet it costs time. With 4096 rows, a
#    scheduler issues an instruction in :measured:`loops[signed_while, 4096].counter(issue_active)` of all
#    cycles with signed indices, and in
#    :measured:`product[one_element_unsigned, 4096].counter(issue_active)` without. Either kernel moves
#    :measured:`loops[signed_while, 4096].counter(dram_bytes)` from and to the GPU's memory, so the signed one
#    waits longer for the same bytes. :evidence:`counter issue_active`
#
#    The compiled code hints at the reason: the unsigned loop requests the numbers of several turns before it
#    multiplies the first of them, and the signed one mixes loads and multiplications. We think that it has
#    fewer loads on their way at a time. :evidence:`opinion`
#
#    If you make indices unsigned, convert the shapes as well: the sum of two ``uint32`` is a ``uint64``, and
#    Numba compares that with a signed number in ``float64``.
#
# .. kernel:: gpuguide.topics.matmul.kernels
#    :names: signed_while, unsigned_range
#    :fold: The kernels in between

# %%
# Step 3: a tile in shared memory
# -------------------------------
#
# The 1024 threads of a block need only 32 rows of ``a`` and 32 columns of ``b``. They fetch them together
# into :term:`shared memory`, a tile of 32 by 32 of each at a time, and 32 threads use each element.
#
# .. rung:: tile_in_shared

c = cp.empty((m, p), cp.float32)
tile_in_shared[((p + 31) // 32, (m + 31) // 32), (32, 32)](a, b, c)
print("right:", bool((c.get() == expected).all()))

# %%
# Tiles hang over the edges of most matrices. Threads there have no element to compute, but they still fetch
# for others and must come to both barriers, so the guards stand around the loads, not around the loop.
#
# The kernel is :measured:`product[tile_in_shared, 4096].speedup(one_element_unsigned)` as fast as step 2. Had
# you put the tile into step 1, it would seem to be worth
# :measured:`product[tile_in_shared, 4096].speedup(one_element)`, so mend the loop before you judge shared
# memory.
#
# ``range(32)`` does no harm, as the compiler knows its length. That leaves
# :measured:`each_tile_in_shared` instructions for each multiplication, :evidence:`counter instructions` but
# each still takes two numbers from shared memory, which is busy in :measured:`shared_busy` of all cycles.
# :evidence:`counter shared_wavefronts`

# %%
# Step 4: 64 sums in the registers of each thread
# -----------------------------------------------
#
# Compute more with what is loaded. A thread that has 8 elements of a column of ``a`` and 8 of a row of ``b``
# can do 64 multiplications with these 16 loads, if it keeps 64 sums in registers. For that, *inner loops must
# have constant bounds*, or ``cuda.local.array`` would not stay in registers. And there are :term:`two buffers
# <double buffer>` for each tile: while the threads multiply one pair, the next is on its way.
#
# .. rung:: tile_in_registers

c = cp.empty((m, p), cp.float32)
tile_in_registers[((p + 127) // 128, (m + 127) // 128), 256](a, b, c)
print("right:", bool((c.get() == expected).all()))

# %%
# This kernel reaches :measured:`share_tile_in_registers` of the rate of cuBLAS. Shared memory is no longer
# the limit: it is busy in :measured:`shared_busy_registers` of all cycles.
# :evidence:`counter shared_wavefronts`

# %%
# Step 5: loads of 16 bytes, in CUDA C++
# --------------------------------------
#
# CUDA C++ can load four numbers by one instruction, as a ``float4``; Numba has no way to say so. With that,
# and 16 by 8 sums in each thread, hardly more is left than the multiplications, and the kernel reaches
# :measured:`share_in_cuda` of cuBLAS. :evidence:`counter instructions` A ``float4`` must lie at a multiple of
# 16 bytes, so matrices whose rows are no multiple of four numbers take another version of the loads.
#
# .. kernel:: gpuguide.topics.matmul.kernels
#    :names: product_source
#    :fold: The kernel in CUDA C++
#
# .. rung:: in_cuda

name = "product_quads" if n % 4 == p % 4 == 0 else "product_singles"
product = cp.RawKernel(product_source, name)
sizes = np.int32(m), np.int32(n), np.int32(p)
c = cp.empty((m, p), cp.float32)
product(((p + 127) // 128, (m + 255) // 256), (256,), (a, b, c, *sizes))
print("right:", bool((c.get() == expected).all()))

# %%
# .. list-table:: Where the time goes, with 4096 rows
#    :header-rows: 1
#
#    * - kernel
#      - instructions
#      - cycles in use
#    * - 2: lean loop
#      - :measured:`product[one_element_unsigned, 4096].counter(instructions)`
#      - :measured:`product[one_element_unsigned, 4096].counter(issue_active)`
#    * - 3: shared memory
#      - :measured:`product[tile_in_shared, 4096].counter(instructions)`
#      - :measured:`product[tile_in_shared, 4096].counter(issue_active)`
#    * - 4: registers
#      - :measured:`product[tile_in_registers, 4096].counter(instructions)`
#      - :measured:`product[tile_in_registers, 4096].counter(issue_active)`
#    * - 5: CUDA C++
#      - :measured:`product[in_cuda, 4096].counter(instructions)`
#      - :measured:`product[in_cuda, 4096].counter(issue_active)`
#    * - cuBLAS
#      - :measured:`product[with_cublas, 4096].counter(instructions)`
#      - :measured:`product[with_cublas, 4096].counter(issue_active)`
#
# A scheduler can start an instruction in every cycle, and the last column says how often it does. cuBLAS
# needs about as many instructions as our last kernel, but waits less. :evidence:`counter issue_active`
#
# Large tiles are for large matrices. With 1024 rows they leave at least half of the GPU without work, and
# cuBLAS is :measured:`product[with_cublas, 1024].speedup(tile_in_registers)` as fast as step 4. With 257
# rows, even step 3 is :measured:`product[tile_in_shared, 257].speedup(tile_in_registers)` as fast as step 4.
#
# .. dropdown:: Other sizes, and how often elements are loaded
#
#    .. list-table:: Operations per second
#       :header-rows: 1
#
#       * - rows
#         - lean loop
#         - shared memory
#         - registers
#         - CUDA C++
#         - cuBLAS
#       * - 257
#         - :measured:`product[one_element_unsigned, 257].flop_rate`
#         - :measured:`product[tile_in_shared, 257].flop_rate`
#         - :measured:`product[tile_in_registers, 257].flop_rate`
#         - :measured:`product[in_cuda, 257].flop_rate`
#         - :measured:`product[with_cublas, 257].flop_rate`
#       * - 1024
#         - :measured:`product[one_element_unsigned, 1024].flop_rate`
#         - :measured:`product[tile_in_shared, 1024].flop_rate`
#         - :measured:`product[tile_in_registers, 1024].flop_rate`
#         - :measured:`product[in_cuda, 1024].flop_rate`
#         - :measured:`product[with_cublas, 1024].flop_rate`
#       * - 2048
#         - :measured:`product[one_element_unsigned, 2048].flop_rate`
#         - :measured:`product[tile_in_shared, 2048].flop_rate`
#         - :measured:`product[tile_in_registers, 2048].flop_rate`
#         - :measured:`product[in_cuda, 2048].flop_rate`
#         - :measured:`product[with_cublas, 2048].flop_rate`
#       * - 4093
#         - :measured:`product[one_element_unsigned, 4093].flop_rate`
#         - :measured:`product[tile_in_shared, 4093].flop_rate`
#         - :measured:`product[tile_in_registers, 4093].flop_rate`
#         - :measured:`product[in_cuda, 4093].flop_rate`
#         - :measured:`product[with_cublas, 4093].flop_rate`
#
#    A block makes 128 by 128 elements in step 4, and 256 by 128 in step 5. A product of 1024 rows then has 64
#    blocks or 32, and one of 257 rows nine or six, for the 132 multiprocessors of this GPU. For 1000 by 777
#    times 777 by 513, step 4 takes :measured:`odd_product[tile_in_registers, 1000].time`, and cuBLAS
#    :measured:`odd_product[with_cublas, 1000].time`.
#
#    Elements loaded for one multiplication and addition: from global memory 2 in steps 1 and 2, then 1/16,
#    1/64 and 3/256; from shared memory 2, 1/4 and 3/16 in steps 3 to 5. In step 1 the loads are not the
#    limit, as step 2 makes the same loads in less time. At an edge, step 4 loads the nearest element that
#    exists, and writes zero into the tile in its place, which costs no branch.

# %%
# What goes wrong: one barrier too few
# ------------------------------------
#
# A tile needs two barriers: one when it is complete, and one before it is overwritten. Without the second,
# a fast warp writes the next tile while a slow one still reads this one, and the result is often right.
# ``gg.trace`` runs the threads one by one, without a GPU, and finds it:
#
# .. kernel:: gpuguide.topics.matmul.kernels
#    :names: one_barrier

import gpuguide as gg
from numba import config

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba warns of a launch with a single block
a_small, b_small = np.ones((8, 16), np.float32), np.ones((16, 8), np.float32)
c_small = np.zeros((8, 8), np.float32)
trace = gg.trace(one_barrier[1, (8, 8)], a_small, b_small, c_small)
print(trace)

# %%
# The cure is another ``cuda.syncthreads()`` at the end of the loop, or another buffer, as in step 4. There
# a thread writes into the buffer that nobody reads, and one barrier per tile is enough.

# %%
# .. remember::
#
#    - Write ``a @ b``. A Numba kernel of 50 lines reaches :measured:`share_tile_in_registers` of cuBLAS for
#      large matrices, and less for small ones, so write one only for what no library computes.
#    - Where the compiler does not know how long a loop is, write ``while`` and unsigned indices: here that is
#      :measured:`product[one_element_unsigned, 4096].speedup(one_element)` as fast. Then keep tiles in shared
#      memory, and 8 by 8 sums in the registers of each thread.
#    - Try TF32 if three digits are enough: with ``CUPY_TF32=1``, a product in ``float32`` is
#      :measured:`gain_tf32` as fast.

# %%
# Your turn: a product from tiles
# -------------------------------
#
# Write step 3 yourself, with tiles of 8 by 8. The check needs no GPU. It counts what a block loads, and finds
# a missing barrier and a forgotten guard.
#
# .. exercise:: tiled_matmul

# thumbnail
from gpuguide.charts import thumbnail
from gpuguide.charts.style import CUPY, KERNEL

names = {
    "tiles in shared memory": "tile_in_shared",
    "tiles in registers": "tile_in_registers",
    "a @ b in CuPy": "with_cublas",
}
times = {label: results.time(name, 4096) for label, name in names.items()}
_ = thumbnail.bars(times, "time for 4096 rows", (KERNEL, KERNEL, CUPY))

# %%
# Next
# ----
#
# Next: :doc:`A fast convolution, step by step </gallery/fast_kernels/convolution_ladder>`, which keeps pixels
# and many sums in registers in the same way. See also: :doc:`Precision: which sums go wrong
# </gallery/fast_kernels/precision>`, on the digits that shorter numbers lose, and :doc:`Linear algebra: when
# CuPy wins </gallery/cupy/linear_algebra>`, for solving and factorising.
