"""
Matrices: walk along the rows
=============================

Which axis of an array should threadIdx.x walk along?
"""
# %%
# Let ``threadIdx.x`` walk along the last axis of an array, where the next element is the next in memory:
# write ``col, row = cuda.grid(2)``. To add one to a matrix of 16 384 by 16 384 then takes
# :measured:`matrix[fast_32x8, 16384**2].time`. With the two names exchanged, the result is the same, and it
# takes :measured:`matrix[slow_32x8, 16384**2].time`.
#
# .. headline:: Along the rows, the same additions are
#    :measured:`matrix[fast_32x8, 16384**2].speedup(slow_32x8)` as fast
#
# .. drawn:: grids_2d_3d
#
#    from gpuguide.charts.shapes import plot_values
#
#    bars = {
#        "threadIdx.x along the rows": "fast_32x8",
#        "threadIdx.x down the columns": "slow_32x8",
#    }
#    times = {label: results.time(name, 16384**2) for label, name in bars.items()}
#    plot_values(times, "time for a matrix of 16 384 by 16 384")

# %%
# cuda.grid(2) returns x first
# ----------------------------
#
# A grid can have two axes, x and y, so that a thread finds its row and its column without a division.
# ``cuda.grid(2)`` returns x first. From one thread to the next along a row, the column changes, so x has to
# be the number of the column: the order is ``col, row``, the reverse of the index ``[row, col]``. The launch
# has the order of the grid: first the blocks for the columns, then those for the rows.

import math

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def fast_axis(x):
    """Threads that are neighbours in x take neighbours in a row, and in memory."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        x[row, col] += 1


x = cp.ones((256, 256))
threads_per_block = (16, 16)
blocks_per_grid = (math.ceil(x.shape[1] / 16), math.ceil(x.shape[0] / 16))
fast_axis[blocks_per_grid, threads_per_block](x)
print("GPU:  ", x[0, :4], "...", x[-1, -1])
print("NumPy:", np.ones(4) + 1)

# %%
# .. try-it::
#
#    Take a part of a larger matrix, ``x = cp.ones((1024, 1024))[:250, :250]``, and leave out the ``if``.
#    The part is still right, but the last blocks reach beyond two of its edges.
#    ``print(x.base[0, 250:256])`` shows elements outside the part that have changed.

# %%

# record: Matrices from 256 by 256 to 16 416 by 16 416, two boxes, and the sectors counted
import gpuguide as gg
from gpuguide.topics.grids_2d_3d import boxes_3d, study as grids_2d_3d
from gpuguide.topics.grids_2d_3d.kernels import slow_axis
from gpuguide.topics.grids_2d_3d.study import sectors_per_request

results = grids_2d_3d.matrix.run()
boxes = boxes_3d.box.run()
row = 8 * 16_384  # bytes from one row of 16 384 numbers to the next
plane, line = 4 * 256**2, 4 * 256
for name, block, strides in (
    ("fast_32x8", (32, 8), (8, row)),
    ("fast_16x16", (16, 16), (8, row)),
    ("slow_16x16", (16, 16), (row, 8)),
    ("slow_32x8", (32, 8), (row, 8)),
    ("fast_8x8x8", (8, 8, 8), (4, line, plane)),
    ("slow_8x8x8", (8, 8, 8), (plane, line, 4)),
    ("slow_32x8x1", (32, 8, 1), (plane, line, 4)),
):
    gg.fact(f"sectors_{name}", round(sectors_per_request(block, strides)), unit="1")

# %%

# draw
gg.claim(results, "fast_32x8", faster_than="slow_32x8", at=16_384**2, by=4)
gg.claim(results, "fast_32x8", faster_than="slow_32x8", at=16_416**2, by=4)
gg.claim(results, "blocks_along_rows", faster_than="slow_32x8", at=16_384**2)
gg.claim(boxes, "fast_8x8x8", faster_than="slow_8x8x8", at=256**3, by=2)
more = facts["sectors_slow_32x8"].value / facts["sectors_fast_32x8"].value
gg.fact(
    "predicted",
    more,
    unit="ratio",
    note="sectors per request, down the columns / along the rows",
)
floor_ns = results.measurement("fast_16x16", 256**2).floor_ns or 0
_ = gg.fact("floor", floor_ns / 1e9, unit="s", note="an empty kernel")

# %%
# What goes wrong: x down the columns
# -----------------------------------
#
# Only one line of the kernel is different. It looks natural, since an index has the row first, and its result
# is right, so this mistake is easily made.
#
# .. kernel:: gpuguide.topics.grids_2d_3d.kernels
#    :names: slow_axis

# %%
# The grid has to follow: blocks for the rows come first now.

blocks_per_grid = (math.ceil(x.shape[0] / 16), math.ceil(x.shape[1] / 16))
slow_axis[blocks_per_grid, threads_per_block](x)
print(x[0, :4], "...", x[-1, -1])  # one more

# %%
# Why: threads of a warp share sectors
# ------------------------------------
#
# A block numbers its threads along x first, and every 32 of them are a warp. A load or a store of a warp is
# one request, and memory serves it in sectors of 32 bytes. Threads that take neighbours in a row share
# sectors: such an access is *coalesced*. Neighbours in a column lie a whole row apart, so each needs a sector
# of its own.
#
# .. drawing:: grids_2d_3d
#
#     A matrix of four rows and eight columns, twice, with its memory under it. On the left, threads 0 to 3
#     take four neighbours in a row, which fill one sector. On the right they take the first element of each
#     row, and touch four sectors, with one element used of each.
#
# You can count the sectors without a GPU, from the order of the threads and from how many bytes apart the
# elements of neighbouring threads are. The fewer there are, the shorter the time:
#
# .. list-table:: A matrix of 16 384 by 16 384 numbers of eight bytes
#    :header-rows: 1
#
#    * - x walks
#      - threads per block
#      - sectors per request
#      - time
#    * - along the rows
#      - 32 by 8
#      - :measured:`sectors_fast_32x8`
#      - :measured:`matrix[fast_32x8, 16384**2].time`
#    * - along the rows
#      - 16 by 16
#      - :measured:`sectors_fast_16x16`
#      - :measured:`matrix[fast_16x16, 16384**2].time`
#    * - down the columns
#      - 16 by 16
#      - :measured:`sectors_slow_16x16`
#      - :measured:`matrix[slow_16x16, 16384**2].time`
#    * - down the columns
#      - 32 by 8
#      - :measured:`sectors_slow_32x8`
#      - :measured:`matrix[slow_32x8, 16384**2].time`
#
# In a block of 16 by 16, a warp has 16 threads along x and two along y. Down the columns it touches 16 rows,
# and a sector in each; along the rows, half as many sectors are enough. :evidence:`count sectors_per_request`
#
# .. kernel:: gpuguide.topics.grids_2d_3d.study
#    :names: sectors_per_request
#    :fold: How sectors are counted

# %%
# How much the wrong axis costs
# -----------------------------
#
# In a small matrix the axis hardly matters, since the launch takes longer than the work. In a large one, the
# shape of the blocks matters as well. The chart divides each time down the columns by that along the rows, in
# blocks of 32 by 8.
#
# .. headline:: The wrong axis costs most in large matrices, and least in blocks of 16 by 16

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.marks import draw_ranges, label_ends, size_axis
from gpuguide.charts.style import KERNELS, describe

labels = {
    "slow_16x16": "blocks of 16 by 16",
    "slow_32x8": "blocks of 32 by 8",
    "slow_32x32": "blocks of 32 by 32",
}
powers = [size for size in results.sizes if size.bit_count() == 1]
longer = [size for size in results.sizes if size not in powers]
unjoined = {"linestyle": "none", "markerfacecolor": "none"}
figure, ax = plt.subplots()
ends, ranges, words = [], [], []
for (name, label), colour, marker in zip(labels.items(), KERNELS, "os^", strict=False):
    times = {size: results.speedup("fast_32x8", name, size) for size in results.sizes}
    style = {"marker": marker, "color": colour}
    ax.plot(powers, [times[size].value for size in powers], **style)
    ax.plot(longer, [times[size].value for size in longer], **style, **unjoined)
    ends.append((powers[-1], times[powers[-1]].value, label, colour))
    ranges += [(size, time, colour) for size, time in times.items()]
    words.append(
        f"{label} from {times[powers[0]]} to {times[powers[-1]]}, {times[longer[-1]]} with longer rows"
    )
size_axis(ax, results)
ax.set(ylabel="times as long as along the rows", ylim=(0, None))
draw_ranges(ax, ranges)
label_ends(ax, ends)
describe(ax, f"Time down the columns over time along the rows. {'; '.join(words)}.")

# %%
# Open marks are matrices whose rows are 32 numbers longer: they cost as much, so this is about the axis, and
# not about powers of two.
#
# If you cannot change the axis, launch blocks of 16 by 16. On the largest matrix they are
# :measured:`matrix[slow_16x16, 16384**2].speedup(slow_32x8)` as fast as blocks of 32 by 8, without a change
# to the kernel.
#
# .. dropdown:: Another order of the blocks helps, too
#
#    Let neighbouring blocks lie side by side along the rows. In this kernel the threads still go down the
#    columns, and in blocks of 32 by 8 it is
#    :measured:`matrix[blocks_along_rows, 16384**2].speedup(slow_32x8)` as fast as the plain mistake.
#    :evidence:`variant blocks_along_rows`
#
#    .. kernel:: gpuguide.topics.grids_2d_3d.kernels
#       :names: blocks_along_rows
#
# .. dropdown:: Why it costs more than the sectors say
#
#    In a block of 32 by 8, a warp touches 32 rows. If only the sectors counted, x along the rows would be
#    :measured:`predicted` as fast. It is :measured:`matrix[fast_32x8, 16384**2].speedup(slow_32x8)` as fast.
#    The count looks at one request, and many are under way at a time. Two changes leave each request at 32
#    sectors, and gain: other blocks, and another order of them. Against blocks of 32 by 32, which use more of
#    each row that they touch, along the rows is
#    :measured:`matrix[fast_32x8, 16384**2].speedup(slow_32x32)` as fast, about what the sectors say.
#
#    At 16 384 by 16 384 the rows lie 2\ :sup:`17` bytes apart, and requests at such distances might fall on
#    the same part of memory again and again. Rows that are 32 numbers longer are no power of two apart, and
#    have as many sectors per request. They save nothing: at 4128 by 4128 along the rows is
#    :measured:`matrix[fast_32x8, 4128**2].speedup(slow_32x8)` as fast, against
#    :measured:`matrix[fast_32x8, 4096**2].speedup(slow_32x8)` at 4096.
#
#    Do sectors leave the caches before all of their bytes are used, so that memory has to deliver them again?
#    They do not: down the columns, as along the rows, memory moves
#    :measured:`matrix[slow_32x8, 16384**2].counter(dram_bytes)`. But it moves them at
#    :measured:`matrix[slow_32x8, 16384**2].counter(dram_throughput)` instead of
#    :measured:`matrix[fast_32x8, 16384**2].counter(dram_throughput)`. We think that memory is slow where each
#    row gives few bytes: a block of 32 by 8 takes 64 of each row that it touches, and one of 32 by 32 takes
#    256. :evidence:`opinion`
#
# .. dropdown:: What the GPU's counters say
#
#    .. list-table:: A matrix of 16 384 by 16 384 numbers
#       :header-rows: 1
#
#       * - x walks
#         - threads per block
#         - sectors per load
#         - bytes to and from memory
#         - rate
#       * - along the rows
#         - 32 by 8
#         - :measured:`matrix[fast_32x8, 16384**2].counter(load_sectors_per_request)`
#         - :measured:`matrix[fast_32x8, 16384**2].counter(dram_bytes)`
#         - :measured:`matrix[fast_32x8, 16384**2].counter(dram_throughput)`
#       * - down the columns
#         - 32 by 8
#         - :measured:`matrix[slow_32x8, 16384**2].counter(load_sectors_per_request)`
#         - :measured:`matrix[slow_32x8, 16384**2].counter(dram_bytes)`
#         - :measured:`matrix[slow_32x8, 16384**2].counter(dram_throughput)`
#       * - down the columns, blocks along the rows
#         - 32 by 8
#         - :measured:`matrix[blocks_along_rows, 16384**2].counter(load_sectors_per_request)`
#         - :measured:`matrix[blocks_along_rows, 16384**2].counter(dram_bytes)`
#         - :measured:`matrix[blocks_along_rows, 16384**2].counter(dram_throughput)`
#       * - down the columns
#         - 32 by 32
#         - :measured:`matrix[slow_32x32, 16384**2].counter(load_sectors_per_request)`
#         - :measured:`matrix[slow_32x32, 16384**2].counter(dram_bytes)`
#         - :measured:`matrix[slow_32x32, 16384**2].counter(dram_throughput)`
#

# %%
# Three axes: cuda.grid(3)
# ------------------------
#
# ``cuda.grid(3)`` returns x, y and z. The rule is the same: x belongs to the last axis of the array. Here
# each thread writes the larger of two ``float32``.
#
# .. kernel:: gpuguide.topics.grids_2d_3d.kernels
#    :names: maximum_fast_kernel

# %%
# In a box of 256 by 256 by 256, with 8 by 8 by 8 threads per block, this takes
# :measured:`box[fast_8x8x8, 256**3].time`. With ``i, j, k = cuda.grid(3)`` it takes
# :measured:`box[slow_8x8x8, 256**3].time`.
#
# .. dropdown:: Why it costs less than the sectors say
#
#    A request touches :measured:`sectors_slow_8x8x8` sectors instead of :measured:`sectors_fast_8x8x8`, but
#    such a block is 8 threads deep along the last axis. Eight numbers of four bytes are one sector, and the
#    warps of the block use all of it. Blocks of 32 by 8 by 1 touch as many sectors per request, but no two
#    elements of a block share one. They take :measured:`box[slow_32x8x1, 256**3].time`.
#    :evidence:`variant slow_32x8x1`

# %%
# When one axis is enough
# -----------------------
#
# An operation that treats all elements alike needs no rows and columns. If the array is contiguous,
# ``x.ravel()`` is a view, and a grid with one axis covers it with a single guard. Two axes are worth having
# where the place matters: a border, a value for each column, neighbours above and below.
#
# All of this is for arrays in C order, as NumPy and CuPy make them. In Fortran order, neighbours in memory
# lie along the first axis.

# %%
# .. remember::
#
#    - Write ``col, row = cuda.grid(2)``, index with ``[row, col]``, and guard both edges. With the two names
#      exchanged, a large matrix takes :measured:`matrix[slow_32x8, 16384**2].time` instead of
#      :measured:`matrix[fast_32x8, 16384**2].time`.
#    - If a kernel has to walk down the columns, launch blocks of 16 by 16:
#      :measured:`matrix[slow_16x16, 16384**2].speedup(slow_32x8)` as fast as blocks of 32 by 8.

# %%
# Your turn: find the axis
# ------------------------
#
# This kernel gives the right result, but walks along the wrong axis. The check counts the sectors of each
# request.
#
# .. exercise:: axis_order

# thumbnail
from gpuguide.charts import thumbnail

names = {"x down the columns": "slow_32x8", "x along the rows": "fast_32x8"}
times = {label: results.time(name, 16384**2) for label, name in names.items()}
_ = thumbnail.bars(times, "time of the same additions")

# %%
# Next
# ----
#
# Next: :doc:`How many threads, how many blocks </gallery/first_kernels/launch_sizes>`, and how much work for
# each. See also: :doc:`How a GPU works, in eight drawings </start/how_a_gpu_works>`, on warps and memory.
