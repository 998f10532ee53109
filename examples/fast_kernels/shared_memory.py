"""
Shared memory: load once, read in any order
===========================================

What are shared memory and a barrier, and when do they make a kernel faster?
"""
# %%
# Let the threads of a block copy what they need into shared memory, wait for one another, and then read
# it there in whatever order suits the work. Through such a tile, a matrix of 2\ :sup:`28` numbers is
# transposed in :measured:`transpose[transpose_large, 16384**2].time`; a plain kernel takes
# :measured:`transpose[transpose_naive, 16384**2].time`, and CuPy
# :measured:`transpose[transpose_cupy, 16384**2].time`. If a transpose is all that you need, call cuBLAS,
# which is about as fast. Where neighbouring threads read neighbouring numbers, the caches do nearly as well.
#
# .. headline:: Through shared memory, a transpose is nearly as fast as a copy
#
# .. drawn:: shared_memory
#
#     import matplotlib.pyplot as plt
#
#     from gpuguide.charts.style import CUPY, INK, KERNEL, LIBRARY, describe, style
#
#     names = {
#         "CuPy, copy a.T": "transpose_cupy",
#         "cuBLAS, geam": "transpose_cublas",
#         "plain kernel": "transpose_naive",
#         "a tile": "transpose_tile",
#         "+ spare column": "transpose_padded",
#         "+ unsigned indices": "transpose_unsigned",
#         "+ larger tile": "transpose_large",
#     }
#     times = {label: results.time(name, 16384**2) for label, name in names.items()}
#     colors = [CUPY, LIBRARY, *[KERNEL] * 5]
#     copy_s = 8 * 16384**2 / ceilings.get("copy").value
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.9))[1]
#         for row, time in enumerate(times.values()):
#             ax.barh(row, time.value, 0.6, color=colors[row])
#             ax.text(time.value, row, f"  {time}", va="center", weight="bold")
#         ax.axvline(copy_s, color=INK, linestyle="--", linewidth=1)
#         ax.text(copy_s, -0.75, " a copy of the matrix", color=INK, va="bottom")
#         ax.set_yticks(range(len(times)), list(times))
#         longest = max(time.value for time in times.values())
#         ax.set(xlim=(0, 1.25 * longest), xticks=[], ylim=(len(times) - 0.5, -0.7))
#         ax.grid(visible=False)
#         ax.spines["bottom"].set_visible(False)
#         words = "; ".join(f"{label} {time}" for label, time in times.items())
#         describe(ax, f"Time to transpose 16 384 by 16 384 numbers. {words}.")

# %%
# A sum over neighbours
# ---------------------
#
# Each thread of this kernel adds up an element and 16 on either side, so that every element is needed by 33
# threads. The block fetches its 256 elements, and 16 more at both ends, into *shared memory*: a small, fast
# memory on the multiprocessor, of which every block has a part of its own. Then its threads read from there.

import cupy as cp
import numpy as np
from numba import cuda, float32, uint32

RADIUS, BLOCK = 16, 256
WIDTH = BLOCK + 2 * RADIUS  # a block's elements, and their neighbours on both sides


@cuda.jit
def neighbours_shared(x, out):
    """Copy what the threads of a block need into shared memory once, and read it there."""
    near = cuda.shared.array(WIDTH, float32)
    thread = uint32(cuda.threadIdx.x)
    i = cuda.grid(1)
    j = i - RADIUS  # the element that this thread fetches
    near[thread] = x[j] if 0 <= j < x.size else float32(0)
    if thread < 2 * RADIUS:  # these fetch a second one
        j += BLOCK
        near[BLOCK + thread] = x[j] if j < x.size else float32(0)
    cuda.syncthreads()  # until all threads of the block are here
    if i < x.size:
        total = float32(0)
        for k in range(2 * RADIUS + 1):
            total += near[thread + k]  # mostly what other threads have written
        out[i] = total


x = cp.arange(32_768, dtype=cp.float32) % 7
out = cp.empty_like(x)
neighbours_shared[(x.size + BLOCK - 1) // BLOCK, BLOCK](x, out)
print("GPU:  ", out[:5])
print("NumPy:", np.convolve(x.get(), np.ones(2 * RADIUS + 1), mode="same")[:5])

# %%
# Four things are new:
#
# - ``cuda.shared.array(WIDTH, float32)`` is one array for each block. Its size must be a constant.
# - The 256 threads fetch 288 elements, each once: every thread fetches one, and the first 32 another one.
# - ``cuda.syncthreads()`` is a *barrier*: no thread goes on until all threads of its block have arrived. A
#   thread reads what others have written, so it must wait for them.
# - ``uint32(...)`` makes a number that has no sign. A negative index counts from the end, as in Python, so
#   Numba tests every index that may be negative, which would be 35 tests here.
#
# .. try-it::
#
#    Set ``BLOCK = 64`` and ``RADIUS = 2``: GPU and NumPy still agree, as every size in the kernel follows
#    from these two.

# %%
# Is it faster? Hardly: the caches help, too
# ------------------------------------------
#
# Compare it with a good kernel without shared memory. A plain one reads all 33 numbers from global memory, in
# a ``range`` whose length the compiler does not know, as fewer numbers remain at both ends. Give the ends a
# loop of their own: all other threads then loop over ``range(33)``, which the compiler writes out. That alone
# makes the kernel :measured:`neighbours[neighbours_constant, 2**26].speedup(neighbours_direct)` as fast.
# :evidence:`variant neighbours_constant`
#
# .. list-table:: The sum for 2\ :sup:`26` numbers
#    :header-rows: 1
#
#    * - kernel
#      - instructions
#      - time
#    * - global memory, unknown length
#      - :measured:`neighbours[neighbours_direct, 2**26].counter(instructions)`
#      - :measured:`neighbours[neighbours_direct, 2**26].time`
#    * - global memory, constant length
#      - :measured:`neighbours[neighbours_constant, 2**26].counter(instructions)`
#      - :measured:`neighbours[neighbours_constant, 2**26].time`
#    * - shared memory, constant length
#      - :measured:`neighbours[neighbours_shared, 2**26].counter(instructions)`
#      - :measured:`neighbours[neighbours_shared, 2**26].time`
#
# Shared memory gains far less than the loop, as it saves no traffic here: all three kernels move
# :measured:`neighbours[neighbours_shared, 2**26].counter(dram_bytes)` from and to the GPU's memory. The
# threads of a warp read side by side, so the caches, too, load once what many threads need.
# :evidence:`counter dram_bytes` Shared memory pays where threads cannot read side by side, as in the
# transpose below. CuPy's ``convolve1d`` takes :measured:`neighbours[cupy_neighbours, 2**26].time`.
#
# .. dropdown:: What limits the kernels
#
#    A warp executes :measured:`executed_neighbours_direct` instructions with the unknown length,
#    :measured:`executed_neighbours_constant` with the constant one, and
#    :measured:`executed_neighbours_shared` with shared memory. With the unknown length, the integer units,
#    which compute indices, are busy in
#    :measured:`neighbours[neighbours_direct, 2**26].counter(alu_active)` of all cycles.
#    :evidence:`counter alu_active` If a length is not constant, at least write :doc:`while instead of range
#    </gallery/first_kernels/numba_types>`.
#
#    With a constant length, the instructions are no longer the limit: the schedulers issue one in
#    :measured:`neighbours[neighbours_constant, 2**26].counter(issue_active)` of all cycles without shared
#    memory, and in :measured:`neighbours[neighbours_shared, 2**26].counter(issue_active)` with it, where
#    shared memory is busy in :measured:`shared_busy`. :evidence:`counter issue_active` Shared memory and the
#    first cache are the same memory on the chip. We think that reading 33 numbers from it takes most of the
#    time in both. :evidence:`opinion` Several results per thread need fewer loads for each, as in
#    :doc:`/gallery/fast_kernels/convolution_ladder`.
#
# .. kernel:: gpuguide.topics.shared_memory.kernels
#    :names: neighbours_direct, neighbours_constant
#    :fold: The kernels without shared memory

# %%
# What goes wrong: a missing barrier
# ----------------------------------
#
# Without the barrier, a thread may read before another has written. There is no error, and the result is
# often right. ``gg.trace`` runs a kernel thread by thread, without a GPU, and says which threads are in each
# other's way. In the kernel above it finds nothing:

from numba import config

import gpuguide as gg

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba would warn of launches of few blocks
trace = gg.trace(neighbours_shared[2, BLOCK], x[:300], out[:300])
print("findings:", len(trace.findings))

# %%
# The same kernel without its barrier gets this verdict:

# wrong: nothing makes the threads wait


@cuda.jit
def no_barrier(x, out):
    near = cuda.shared.array(WIDTH, float32)
    thread = uint32(cuda.threadIdx.x)
    i = cuda.grid(1)
    j = i - RADIUS
    near[thread] = x[j] if 0 <= j < x.size else float32(0)
    if thread < 2 * RADIUS:
        j += BLOCK
        near[BLOCK + thread] = x[j] if j < x.size else float32(0)
    if i < x.size:
        total = float32(0)
        for k in range(2 * RADIUS + 1):
            total += near[thread + k]
        out[i] = total


print(gg.trace(no_barrier[2, BLOCK], x[:300], out[:300]))

# %%
# Two rules follow. Every thread of the block must reach the barrier, so put it neither inside an ``if`` that
# only some threads enter nor behind a ``return``. And in a loop you need two: one after writing, and one
# after reading, before the next round overwrites what somebody may still want to read. On a GPU, NVIDIA's
# ``compute-sanitizer --tool racecheck`` finds such races, too.

# %%

# record: The studies: a sum over neighbours, and a transpose, every result checked
from gpuguide.topics.shared_memory.kernels import (
    transpose_large,
    transpose_naive,
    transpose_tile,
)
from gpuguide.topics.shared_memory.study import neighbours, transpose

results = transpose.run()
sums = neighbours.run()

# %%
# A transpose: one of two directions is slow
# ------------------------------------------
#
# In a transpose, a row of one matrix is a column of the other. Neighbouring threads of this kernel read
# neighbours in a row, which is fast, and write a whole row apart, which is not.
#
# .. rung:: transpose_naive

a = cp.arange(200 * 300, dtype=cp.float32).reshape(200, 300)
turned = cp.empty((300, 200), dtype=cp.float32)
by_element = (300 + 31) // 32, (200 + 7) // 8  # blocks along the columns and the rows
transpose_naive[by_element, (32, 8)](a, turned)
print("as a.T:", bool((turned == a.T).all()))

# %%
# Memory is written in pieces of 32 bytes, and each write of a warp touches
# :measured:`transpose[transpose_naive, 16384**2].counter(store_sectors_per_request)` of them, where four
# would be enough. In blocks of 16 by 16 threads, a warp writes two numbers into each of
# :measured:`square_sectors` pieces, and the kernel takes
# :measured:`transpose[transpose_square_blocks, 16384**2].time`. :evidence:`count square_sectors`

# %%
# A tile in shared memory turns the matrix
# ----------------------------------------
#
# Let a block read a tile of 32 by 32 along its rows, wait, and write it along the rows of the result. The
# turning itself happens in shared memory, where a jump costs far less.
#
# .. rung:: transpose_tile

by_tile = (300 + 31) // 32, (200 + 31) // 32  # a block for each tile of 32 by 32
transpose_tile[by_tile, (32, 8)](a, turned)
print("as a.T:", bool((turned == a.T).all()))

# %%
# Now a write touches
# :measured:`transpose[transpose_tile, 16384**2].counter(store_sectors_per_request)` pieces.
# :evidence:`counter store_sectors_per_request`

# %%
# A spare column avoids bank conflicts
# ------------------------------------
#
# Shared memory consists of 32 banks. Element after element goes into bank after bank, and each bank serves
# one element at a time. In a tile that is 32 wide, a column lies in a single bank, so the 32 threads that
# read it wait in line: a *bank conflict*. One more column, which nobody uses, moves each row on by one bank.
#
# .. headline:: 32 wide, a column lies in one bank; 33 wide, it lies in all 32

# draw
import matplotlib.pyplot as plt
import numpy as np

from gpuguide.charts.style import INK, describe

ax = plt.subplots(figsize=(7.2, 3.7))[1]
marked = 5  # any column
for left, width in ((0, 32), (36, 33)):
    banks = np.arange(32 * width).reshape(32, width) % 32
    ax.imshow(
        banks, cmap="twilight", interpolation="none", extent=(left, left + width, 0, 32)
    )
    ax.add_patch(
        plt.Rectangle((left + marked, 0), 1, 32, fill=False, edgecolor=INK, lw=2)
    )
ax.set(xlim=(-0.5, 69.5), ylim=(-0.5, 32.5), yticks=(), frame_on=False)
ax.set_xticks((16, 52.5), ("32 wide", "33 wide"))
ax.tick_params(length=0)
ax.grid(visible=False)
describe(
    ax,
    "Two tiles, coloured by bank. In the tile 32 wide, all elements of a column have the same colour. In the "
    "tile 33 wide, the colours run diagonally, and a column has all 32.",
)

# %%
# Each square is an element, and its colour is its bank: the marked column has one colour on the left, and all
# on the right. In the kernel, one number changes:
# ``tile = cuda.shared.array((32, 33), float32)``.
#
# .. kernel:: gpuguide.topics.shared_memory.kernels
#    :names: transpose_padded
#    :fold: The kernel with the spare column
#
# The time goes down to :measured:`transpose[transpose_padded, 16384**2].time`. The GPU counts its bank
# conflicts: :measured:`transpose[transpose_tile, 16384**2].counter(bank_conflicts)` with the narrow tile, and
# :measured:`transpose[transpose_padded, 16384**2].counter(bank_conflicts)` with the spare column.
# :evidence:`counter bank_conflicts` The verdict of ``gg.trace`` names them, too, as *bank conflicts of
# degree 32*.

# %%
# Indices without a sign, and a larger tile
# -----------------------------------------
#
# With ``uint32``, no index is tested for a sign. The warps execute
# :measured:`transpose[transpose_unsigned, 16384**2].counter(instructions)` instructions instead of
# :measured:`transpose[transpose_padded, 16384**2].counter(instructions)`, and the kernel takes
# :measured:`transpose[transpose_unsigned, 16384**2].time`. :evidence:`variant transpose_unsigned`
#
# .. kernel:: gpuguide.topics.shared_memory.kernels
#    :names: transpose_unsigned
#    :fold: The small tile with indices that have no sign
#
# .. dropdown:: Convert the shapes as well
#
#    The sum of two ``uint32`` is a ``uint64``, and ``a.shape[0]`` has a sign. Numba would compare the two in
#    ``float64``, for which graphics cards have few units. With ``uint32(a.shape[0])``, none of that is left.
#
# Three things bring the rest: each thread loads eight elements before the barrier, only the blocks at the
# edge look where the matrix ends, and the blocks are numbered down the rows, so that those that run
# together write side by side. We think that the first helps most, as more bytes are on their way.
# :evidence:`opinion`
#
# .. rung:: transpose_large

by_large_tile = (200 + 63) // 64, (300 + 63) // 64  # down the rows, along the columns
transpose_large[by_large_tile, 512](a, turned)
print("as a.T:", bool((turned == a.T).all()))

# %%
# This reaches :measured:`transpose[transpose_large, 16384**2].share` of the speed of a copy, and a RawKernel
# in CUDA C++ is no faster.
#
# .. kernel:: gpuguide.topics.shared_memory.kernels
#    :names: transpose_source
#    :fold: The transpose in CUDA C++
#
# .. dropdown:: Rows that begin anywhere: 8191 by 16 381 numbers
#
#    Memory is written in pieces of 32 bytes. If the rows of the result have 8191 numbers, most of them begin
#    in the middle of a piece, and so do the writes of a block: they touch
#    :measured:`transpose[transpose_large, 8191*16381].counter(store_sectors_per_request)` pieces on average.
#    Then the large tile reaches :measured:`transpose[transpose_large, 8191*16381].share` of the speed of a
#    copy. A variant that shifts each write to the beginning of a piece reaches
#    :measured:`transpose[transpose_aligned, 8191*16381].share`, :evidence:`counter store_sectors_per_request`
#    and cuBLAS :measured:`transpose[transpose_cublas, 8191*16381].share`. If you may choose the shape, make
#    both sides multiples of eight.
#
#    .. kernel:: gpuguide.topics.shared_memory.kernels
#       :names: transpose_aligned

# %%

# draw
from gpuguide.statements import counted
from gpuguide.topics.grids_2d_3d.study import sectors_per_request

recording = gg.load("shared_memory")
for name in ("neighbours_direct", "neighbours_constant", "neighbours_shared"):
    cell, warps = ("neighbours", name, 2**26), 2**26 / 32
    note = "while it ran"
    counted(
        f"executed_{name}", recording.counters, cell, "instructions", per=warps, note=note
    )
device = recording.provenance
cycles = sums.time("neighbours_shared", 2**26).value * device.sm_clock_hz
counted(
    "shared_busy",
    recording.counters,
    ("neighbours", "neighbours_shared", 2**26),
    "shared_wavefronts",
    per=device.sm_count * cycles,
    unit="share",
    note="turns of shared memory, of one per cycle and multiprocessor",
)
square = round(sectors_per_request((16, 16), (4 * 16384, 4)))  # bytes along x and y
gg.fact("square_sectors", square, unit="1", note="16 by 16 threads, each write of a warp")

side, odd = 16384**2, 8191 * 16381
gg.claim(results, "transpose_large", share_at_least=0.87, at=side)
gg.claim(results, "transpose_cpp", share_at_least=0.87, at=side)
gg.claim(results, "transpose_large", faster_than="transpose_cupy", at=side, by=3.1)
gg.claim(results, "transpose_large", faster_than="transpose_naive", at=side, by=7.2)
gg.claim(results, "transpose_large", faster_than="transpose_unsigned", at=side, by=1.05)
gg.claim(
    results, "transpose_square_blocks", faster_than="transpose_naive", at=side, by=1.8
)
gg.claim(results, "transpose_tile", faster_than="transpose_naive", at=side, by=2.6)
gg.claim(results, "transpose_padded", faster_than="transpose_tile", at=side, by=1.45)
gg.claim(results, "transpose_unsigned", faster_than="transpose_padded", at=side, by=1.3)
gg.claim(results, "transpose_cublas", share_at_least=0.83, at=side)
gg.claim(results, "transpose_cublas", faster_than="transpose_cupy", at=side, by=3)
gg.claim(results, "transpose_aligned", share_at_least=0.8, at=odd)
gg.claim(results, "transpose_aligned", faster_than="transpose_large", at=odd, by=1.07)
gg.claim(sums, "neighbours_constant", faster_than="neighbours_direct", at=2**26, by=4.1)
gg.claim(sums, "neighbours_shared", faster_than="neighbours_direct", at=2**26, by=4.75)
gg.claim(sums, "neighbours_shared", faster_than="neighbours_constant", at=2**26, by=1.02)
gg.claim(sums, "neighbours_constant", faster_than="cupy_neighbours", at=2**26, by=2.8)
_ = gg.claim(sums, "neighbours_shared", faster_than="cupy_neighbours", at=2**26, by=3.2)

# %%
# When shared memory does not help
# --------------------------------
#
# - **Each number is read once, or by threads side by side.** An addition of two arrays gains nothing from a
#   detour, and in the sum above the caches do the work.
# - **The data can stay as it is.** ``a.T`` copies nothing, and matrix products take it as it is. Transpose in
#   memory only if several kernels would have to go through it across the rows.
# - **A library does it.** For ``float32`` and ``float64``, call ``cublas.geam("T", "N", 1.0, a, 0.0, out,
#   out=out)`` after ``from cupy import cublas``: a transpose takes
#   :measured:`transpose[transpose_cublas, 16384**2].time`. For other types, ``cp.copyto(out, a.T)`` is one
#   line.
# - **A block needs more than fits.** The shared arrays of a kernel have at most 48 KiB together, and the more
#   of it a block takes, the fewer blocks fit on a multiprocessor.

# %%
# .. remember::
#
#    - Copy what a block needs into shared memory, call ``cuda.syncthreads()``, then read it in any order:
#      that makes a transpose
#      :measured:`transpose[transpose_tile, 16384**2].speedup(transpose_naive)` as fast.
#    - Every thread of the block must reach the barrier; in a loop, wait after writing and after reading.
#    - If threads read down the columns of a tile, make it one column wider, ``(32, 33)``, which gains another
#      :measured:`transpose[transpose_padded, 16384**2].speedup(transpose_tile)`. Indices without a sign gain
#      :measured:`transpose[transpose_unsigned, 16384**2].speedup(transpose_padded)` more.

# %%
# Your turn: find the bug
# -----------------------
#
# A kernel is right on one GPU and wrong on another, once in a thousand launches. The check tells you which
# two threads are in each other's way; find out what they should wait for.
#
# .. exercise:: find_the_bug
#
# Then write the transpose yourself, with a tile and without bank conflicts:
#
# .. exercise:: transpose

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "plain kernel": "transpose_naive",
    "a tile": "transpose_tile",
    "the best tile": "transpose_large",
}
times = {label: results.time(name, 16384**2) for label, name in names.items()}
_ = thumbnail.bars(times, "time of a transpose")

# %%
# Next
# ----
#
# Next: :doc:`Reductions: one sum from many threads </gallery/fast_kernels/reductions>`, where a block adds up
# in shared memory. See also: :doc:`Matrices: walk along the rows </gallery/first_kernels/grids_2d_3d>`, on
# reads and writes along the rows.
