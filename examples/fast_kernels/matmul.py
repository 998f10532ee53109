"""
Matrix products: tiles, registers, tensor cores
===============================================

What makes a product of matrices fast, and should you write it yourself?
"""
# %%
# Call ``a @ b``: CuPy hands it to cuBLAS, whose kernels use the units of your GPU better than yours will. If
# you need a product that no library has, fetch tiles into shared memory, and let each thread keep many sums
# in registers. With 4096 rows that takes a Numba kernel from
# :measured:`product[one_element, 4096].flop_rate` to
# :measured:`product[tile_in_registers, 4096].flop_rate`, where cuBLAS reaches
# :measured:`product[with_cublas, 4096].flop_rate`.
#
# .. headline:: Own kernels climb step by step; cuBLAS is there already
#
# .. drawn:: matmul
#
#     import matplotlib.pyplot as plt
#
#     from gpuguide.charts.style import CPU, CUPY, INK, KERNEL, describe, style
#
#     bars = {
#         "NumPy, all threads": ("with_numpy", CPU),
#         "an element per thread": ("one_element", KERNEL),
#         "tiles in shared memory": ("tile_in_shared", KERNEL),
#         "tiles in registers": ("tile_in_registers", KERNEL),
#         "the same in CUDA C++": ("in_cuda", KERNEL),
#         "a @ b in CuPy (cuBLAS)": ("with_cublas", CUPY),
#     }
#     rates = {label: results.quantity(name, 4096, "flop_rate") for label, (name, _) in bars.items()}
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.7))[1]
#         for row, (label, rate) in enumerate(rates.items()):
#             ax.barh(row, rate.value, height=0.6, color=bars[label][1])
#             ax.text(rate.value, row, f"  {rate}", va="center", color=INK, weight="bold")
#         ax.set_yticks(range(len(bars)), list(bars))
#         ax.set(xlim=(0, 1.3 * max(rate.value for rate in rates.values())), xticks=[])
#         ax.invert_yaxis()
#         ax.grid(visible=False)
#         ax.spines["bottom"].set_visible(False)
#         words = "; ".join(f"{label} {rate}" for label, rate in rates.items())
#         describe(ax, f"Operations per second of a product of two matrices of 4096 rows. {words}.")

# %%
# Write a @ b
# -----------
#
# The operator is the same as in NumPy. These matrices hold small whole numbers, of which ``float32`` loses
# nothing, so both libraries must give the same product.

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
#    Write ``c = a @ b.T``. CuPy raises a ``ValueError``, like NumPy: a row of ``a`` has 777 elements, and a
#    column of ``b.T`` has 1513. Then print ``(a.astype(cp.float64) @ b).dtype``: one factor in ``float64`` is
#    enough to compute in ``float64``.

# %%

# record: The kernels, the ladder at five sizes, matrices that are not square, and short numbers
import gpuguide as gg
from gpuguide.topics.matmul import study as matmul
from gpuguide.topics.matmul.kernels import (
    one_barrier,
    one_element,
    product_source,
    tile_in_registers,
    tile_in_shared,
)

results = matmul.product.run()
odd = matmul.odd_product.run()
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
gg.claim(results, "tile_in_shared", faster_than="one_element", at=4096, by=4)
gg.claim(results, "tile_in_registers", faster_than="tile_in_shared", at=4096, by=2.5)
gg.claim(results, "in_cuda", faster_than="tile_in_registers", at=4096, by=1.15)
gg.claim(results, "with_cublas", faster_than="tile_in_registers", at=4096, by=1.2)
rate = results.quantity("with_cublas", 4096, "flop_rate").value
for name in ("tile_in_registers", "in_cuda"):
    of_cublas = results.quantity(name, 4096, "flop_rate").value / rate
    gg.fact(f"share_{name}", of_cublas, unit="share", note="of the rate of cuBLAS")

# %%
# Step 1: a thread for each element
# ---------------------------------
#
# Each element of the product is the sum of a row of ``a`` times a column of ``b``, and the first kernel says
# just that. The index along ``x`` is the column, so that neighbouring threads read neighbours in ``b``.
#
# .. rung:: one_element

c = cp.empty((m, p), cp.float32)
one_element[((p + 31) // 32, (m + 7) // 8), (32, 8)](a, b, c)
print("right:", bool((c.get() == expected).all()))

# %%
# There are two loads for every multiplication and addition, and the same element is loaded again by
# thousands of threads. The caches help, but they too deliver only so many numbers per cycle.
# :evidence:`count global_loads`

# %%
# Step 2: a tile in shared memory
# -------------------------------
#
# The 1024 threads of a block need only 32 rows of ``a`` and 32 columns of ``b``. They fetch them together, a
# tile of 32 by 32 of each at a time, into :term:`shared memory`, and 32 threads use each element of it.
#
# .. rung:: tile_in_shared

c = cp.empty((m, p), cp.float32)
tile_in_shared[((p + 31) // 32, (m + 31) // 32), (32, 32)](a, b, c)
print("right:", bool((c.get() == expected).all()))

# %%
# Tiles hang over the edges of most matrices. Threads there have no element to compute, but they still fetch
# for others and must come to both barriers, so the guards stand around the loads, not around the loop.
#
# Now it is shared memory that is busy: there are still two loads for every multiplication and addition.
# :evidence:`count shared_loads`

# %%
# Step 3: 64 sums in the registers of each thread
# -----------------------------------------------
#
# To load less, compute more with what is loaded. A thread that has 8 elements of a column of ``a`` and 8 of a
# row of ``b`` can do 64 multiplications with these 16 loads, if it has 64 sums, and it keeps those in
# registers. Three more things belong to this step:
#
# - There are :term:`two buffers <double buffer>` for each tile: while the threads multiply one pair, the
#   next is on its way.
# - *Indices are unsigned*, since Numba tests signed ones for being negative at each access.
# - *Loops have constant bounds*, or ``cuda.local.array`` would not stay in registers.
#
# .. rung:: tile_in_registers

c = cp.empty((m, p), cp.float32)
tile_in_registers[((p + 127) // 128, (m + 127) // 128), 256](a, b, c)
print("right:", bool((c.get() == expected).all()))

# %%
# This kernel reaches :measured:`share_tile_in_registers` of the rate of cuBLAS. At an edge it loads the
# nearest element that exists, and writes zero into the tile in its place, which costs no branch.

# %%
# Step 4: loads of 16 bytes, in CUDA C++
# --------------------------------------
#
# Numba cannot load four numbers by one instruction, and CUDA C++ can. With ``float4``, and 16 by 8 sums in
# each thread, the same idea comes to :measured:`share_in_cuda` of cuBLAS. A ``float4`` must lie at a multiple
# of 16 bytes, so matrices whose rows are no multiple of four numbers take another version of the loads.
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
# .. dropdown:: Other sizes, and how often elements are loaded
#
#    .. list-table:: Operations per second
#       :header-rows: 1
#
#       * - rows
#         - tiles in registers
#         - CUDA C++
#         - cuBLAS
#       * - 257
#         - :measured:`product[tile_in_registers, 257].flop_rate`
#         - :measured:`product[in_cuda, 257].flop_rate`
#         - :measured:`product[with_cublas, 257].flop_rate`
#       * - 1024
#         - :measured:`product[tile_in_registers, 1024].flop_rate`
#         - :measured:`product[in_cuda, 1024].flop_rate`
#         - :measured:`product[with_cublas, 1024].flop_rate`
#       * - 2048
#         - :measured:`product[tile_in_registers, 2048].flop_rate`
#         - :measured:`product[in_cuda, 2048].flop_rate`
#         - :measured:`product[with_cublas, 2048].flop_rate`
#       * - 4093
#         - :measured:`product[tile_in_registers, 4093].flop_rate`
#         - :measured:`product[in_cuda, 4093].flop_rate`
#         - :measured:`product[with_cublas, 4093].flop_rate`
#
#    A block makes 128 by 128 elements in Numba, and 256 by 128 in CUDA C++. A product of 257 rows then has
#    nine blocks or six, which leaves most of the GPU without work. For 1000 by 777 times 777 by 513 the
#    kernel in registers takes :measured:`odd_product[tile_in_registers, 1000].time`, and cuBLAS
#    :measured:`odd_product[with_cublas, 1000].time`: we think that it has other kernels for small products.
#    :evidence:`opinion`
#
#    Elements loaded for one multiplication and addition: from global memory 2, 1/16, 1/64 and 3/256 in the
#    four steps; from shared memory none, 2, 1/4 and 3/16.

# %%
# Tensor cores: speed for digits
# ------------------------------
#
# :term:`Tensor cores <tensor core>` multiply small matrices in one instruction, if the factors are short.
# ``float16`` has 10 bits after the point and ends at 65 504; TF32 has the same 10 bits, and the range of
# ``float32``; *bfloat16* has that range with 7 bits. All three add up in ``float32``. CuPy uses the tensor
# cores for ``float16`` by itself, and for ``float32`` if the environment has ``CUPY_TF32=1``.

a = cp.asarray(random.random((m, n)) - 0.5)
b = cp.asarray(random.random((n, p)) - 0.5)
right = a @ b  # in float64
for kind in ("float32", "float16"):
    off = cp.linalg.norm(a.astype(kind) @ b.astype(kind) - right) / cp.linalg.norm(right)
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
# TF32 keeps as many digits as ``float16``, and its numbers cannot overflow, so allow it first: in a long run
# it is :measured:`gain_tf32` as fast as ``float32``. Take ``float16`` if the data is stored in it
# anyway. ``float64`` runs on tensor cores without losing anything, and on this GPU it is about as fast
# as ``float32``; on a graphics card it is many times slower.
#
# .. dropdown:: Why a long run is slower, and single products
#
#    Under products in ``float16`` the driver lowers the clock to :measured:`clock_float16`, and in
#    ``float32`` it stays at :measured:`clock_float32`. :doc:`Know the limits of your GPU
#    </gallery/measuring/know_your_gpu>` shows that it is the power limit of the board. For bfloat16, of which
#    CuPy knows nothing without another package, we call cuBLAS through CuPy. Single products of 4096 rows,
#    each checked bit for bit on whole numbers, take :measured:`tf32[tf32, 4096].time` in TF32,
#    :measured:`brain[bfloat16, 4096].time` in bfloat16 and :measured:`half[float16, 4096].time` in
#    ``float16``.
#
# .. kernel:: gpuguide.topics.matmul.study
#    :names: with_tf32, with_bfloat16, bits_of_bfloat16
#    :fold: How TF32 is allowed for one product, and how bfloat16 is multiplied

# %%
# What goes wrong: one barrier too few
# ------------------------------------
#
# A tile needs two barriers: one when it is complete, and one before it is overwritten. Without the second,
# a fast warp writes the next tile while a slow one still reads this one. The result is often right, so tests
# may not show it. ``gg.trace`` runs the threads one by one, without a GPU, and does:
#
# .. kernel:: gpuguide.topics.matmul.kernels
#    :names: one_barrier

import gpuguide as gg
from numba import config

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba warns of a launch with a single block
a_small, b_small = np.ones((8, 16), np.float32), np.ones((16, 8), np.float32)
c_small = np.zeros((8, 8), np.float32)
trace = gg.trace(one_barrier[1, (8, 8)], a_small, b_small, c_small)
print(trace.findings[0])

# %%
# The cure is another ``cuda.syncthreads()`` at the end of the loop, or another buffer, as in step 3. There
# a thread writes into the buffer that nobody reads, and one barrier per tile is enough.

# %%
# .. remember::
#
#    - Write ``a @ b``. Your own kernel of 60 lines reaches :measured:`share_tile_in_registers` of cuBLAS, so
#      write one only for what no library computes.
#    - Load once and use often: a tile in shared memory for the block, then 8 by 8 sums in the registers of
#      each thread.
#    - Try TF32 if three digits are enough: ``CUPY_TF32=1``, and a long run is
#      :measured:`gain_tf32` as fast.

# %%
# Your turn: a product from tiles
# -------------------------------
#
# Write step 2 yourself, with tiles of 8 by 8. The check needs no GPU. It counts what a block loads, and finds
# a missing barrier and a forgotten guard.
#
# .. exercise:: tiled_matmul

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "tiles in shared memory": "tile_in_shared",
    "tiles in registers": "tile_in_registers",
    "CuPy": "with_cublas",
}
times = {label: results.time(name, 4096) for label, name in names.items()}
_ = thumbnail.bars(times, "time for 4096 rows")

# %%
# Next
# ----
#
# Next: :doc:`Precision: which sums go wrong </gallery/fast_kernels/precision>`, which shows where digits get
# lost, and what keeps them. See also: :doc:`Linear algebra: when CuPy wins </gallery/cupy/linear_algebra>`,
# for solving, factorising and judging an answer.
