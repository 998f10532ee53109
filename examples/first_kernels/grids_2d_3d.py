"""
Grids in 2-D and 3-D
====================

Which axis of an array should threadIdx.x walk along?
"""
# %%
# The last one. With x along the rows of a large matrix, adding one to all of it takes
# :measured:`matrix[fast_32x8, 16384**2].time`. With x down the columns the same block of threads takes
# :measured:`matrix[slow_32x8, 16384**2].time`, for the same additions.

# %%
# .. rst-class:: part-idea
#
# Neighbours in a warp, neighbours in memory
# ------------------------------------------
#
# A :term:`grid` can have two or three axes, so that a :term:`thread` finds its row and its column without any
# division. But x, y and z are not equal. The :term:`block` counts its threads along x first. In this order
# every 32 of them are a :term:`warp`: neighbours in x sit in one warp, and run together.
#
# An array is not symmetric either. NumPy and CuPy store it row after row. Along the last axis, the
# :term:`fast axis`, the next element is the next in memory. Along the first it is a whole row away.
#
# Memory is served in :term:`sectors <sector>` of 32 bytes. When a warp reads, the hardware collects the
# sectors that its 32 threads want: this is one request. If the elements lie side by side, few sectors are
# enough, and every byte in them is wanted: a :term:`coalesced access`. If they lie a row apart, each thread
# wants a sector of its own.
#
# .. drawing:: grids_2d_3d
#
#     A matrix of four rows and eight columns, twice, with its memory under it. On the left, threads 0 to 3
#     take four neighbours in a row, which fill one sector. On the right they take the first element of each
#     row, and touch four sectors, with one element used of each.

# %%
# .. rst-class:: part-bare
#
# Columns along x, rows along y
# -----------------------------
#
# In a :term:`kernel`, ``cuda.grid(2)`` returns x first. So the column comes first, and the row second, the
# other way round than in ``x[row, col]``. At the :term:`launch` the grid is counted the same way: blocks for
# the columns, then blocks for the rows.

import math

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def add_one(x):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        x[row, col] += 1


x = cp.ones((256, 256))
threads_per_block = (16, 16)
blocks_per_grid = (math.ceil(x.shape[1] / 16), math.ceil(x.shape[0] / 16))
add_one[blocks_per_grid, threads_per_block](x)
print("grid: ", blocks_per_grid, "blocks of", threads_per_block, "threads")
print("GPU:  ", x[0, :4], "...", x[-1, -1])
print("NumPy:", np.ones(4) + 1)

# %%
# The ``if`` has two sides now, since a grid can reach beyond two edges. One of our source documents has a
# kernel in three dimensions without any. Its arrays are 256 long on each side and its blocks 8, so nothing
# happens. Take a part of 1000 by 1000 out of a larger matrix, and the same carelessness shows.


@cuda.jit
def add_one_unguarded(x):
    col, row = cuda.grid(2)
    x[row, col] += 1


larger = cp.zeros((1024, 1024))
part = larger[:1000, :1000]
add_one_unguarded[(63, 63), (16, 16)](part)
print("elements changed inside: ", int(part.sum()))
print("elements changed outside:", int(larger.sum() - part.sum()))

# %%
# The elements outside belong to the larger matrix here. In a matrix that is no part of another, what follows
# a row is the start of the next one, to which one is then added twice.

# %%
# .. rst-class:: part-predict
#
# Count the sectors
# -----------------
#
# The count needs no GPU, only the order of the threads. Take float64, which has four elements to a sector,
# and a block of 32 by 8 threads. With x along the row, a warp reads 32 neighbours: 8 sectors. With x down the
# column it reads from 32 rows: 32 sectors, of which it uses 8 bytes each. A block of 16 by 16 lies between.
# Its warp is 16 threads wide and two high. Down the columns that makes 16 rows with two neighbours in each:
# 16 sectors.
#
# If sectors decide, the time should grow with them. A function does the counting for all blocks of a grid:

import gpuguide as gg
from gpuguide.topics.grids_2d_3d.sectors import sectors_per_request

ALONG, DOWN = (1, 0), (0, 1)  # the axes of the matrix that x and y walk along
facts = {}
for name, block, axes in (
    ("fast_32x8", (32, 8), ALONG),
    ("fast_16x16", (16, 16), ALONG),
    ("slow_16x16", (16, 16), DOWN),
    ("slow_32x8", (32, 8), DOWN),
):
    counted = sectors_per_request((1024, 1024), block, axes, itemsize=8)
    facts[f"sectors_{name}"] = gg.fact(f"sectors_{name}", round(counted), unit="1")
    print(f"{name:12} {counted:4.0f} sectors a request")
worst = facts["sectors_slow_32x8"].value / facts["sectors_fast_32x8"].value
_ = gg.fact("predicted_ratio", worst, unit="ratio", note="sectors / sectors")

# %%
# .. rst-class:: part-code
#
# The same kernel, with its axes exchanged
# ----------------------------------------
#
# **Fast, 32x8** and **fast, 16x16** are one kernel with two blocks. The launcher works out the grid.
#
# .. kernel:: gpuguide.topics.grids_2d_3d.kernels
#    :names: increment_fast_kernel
#
# .. kernel:: gpuguide.topics.grids_2d_3d.study
#    :names: increment_fast
#
# **Slow, 16x16** and **slow, 32x8** differ in one line: row and column have changed places. The grid has to
# follow.
#
# .. kernel:: gpuguide.topics.grids_2d_3d.kernels
#    :names: increment_slow_kernel
#
# .. kernel:: gpuguide.topics.grids_2d_3d.study
#    :names: increment_slow
#
# In three dimensions there are six ways to hand out the axes. Two of them are compared, with blocks of
# 32x8x1 and of 8x8x8 threads, on the larger of two elements: x along the last axis, and x along the first.
#
# .. kernel:: gpuguide.topics.grids_2d_3d.kernels
#    :names: maximum_fast_kernel
#
# .. kernel:: gpuguide.topics.grids_2d_3d.boxes_3d
#    :names: maximum_fast
#
# Again one line makes the difference, and the grid that goes with it.
#
# .. kernel:: gpuguide.topics.grids_2d_3d.kernels
#    :names: maximum_slow_kernel
#
# .. kernel:: gpuguide.topics.grids_2d_3d.boxes_3d
#    :names: maximum_slow

# %%
# .. rst-class:: part-check
#
# Sizes that do not divide
# ------------------------
#
# All variants must equal the :term:`reference`, to the last bit. Before the study itself, they are checked on
# 61 rows of 67 elements. No block divides these numbers, so a missing guard would show.

from gpuguide.topics.grids_2d_3d import boxes_3d, study as grids_2d_3d

study = grids_2d_3d.study()
print(study.check_all([61 * 67]))
study

# %%
# .. rst-class:: part-measure
#
# Rows against columns
# --------------------
#
# The matrices run from 256 by 256 to 16 384 by 16 384.

results = study.run()

# %%

# draw
gg.claim(results, "fast_32x8", faster_than="slow_32x8", at=16_384**2)

# %%
# And the boxes, at two sizes.

boxes = boxes_3d.study().run()
for name, block, axes in (
    ("fast_32x8x1", (32, 8, 1), (2, 1, 0)),
    ("fast_8x8x8", (8, 8, 8), (2, 1, 0)),
    ("slow_8x8x8", (8, 8, 8), (0, 1, 2)),
    ("slow_32x8x1", (32, 8, 1), (0, 1, 2)),
):
    counted = sectors_per_request((64, 64, 64), block, axes, itemsize=4)
    facts[f"sectors_{name}"] = gg.fact(f"sectors_{name}", round(counted), unit="1")
    print(f"{name:12} {counted:4.0f} sectors a request")

# %%

# draw
gg.claim(boxes, "fast_8x8x8", faster_than="slow_8x8x8", at=256**3)

# %%
# .. checks:: matrix
#
# .. checks:: box
#
# How much of the copy rate of this memory is left, for matrices that do not fit into the :term:`L2 cache`:

# draw
gg.plot_share_of_ceiling(results)

# %%
# .. finding::
#
#    In a matrix of 16 384 by 16 384, blocks of 32x8 reach :measured:`matrix[fast_32x8, 16384**2].share` of
#    what the memory can do along the rows, and :measured:`matrix[slow_32x8, 16384**2].share` down the
#    columns. With 16x16 it is :measured:`matrix[fast_16x16, 16384**2].share` and
#    :measured:`matrix[slow_16x16, 16384**2].share`.
#
# Now the sectors beside the times, in the largest matrix and in the largest box, each as multiples of the
# least of its kind. Where the count is right, the square lies in the circle.

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.marks import draw_ranges
from gpuguide.charts.style import MUTED, SERIES, describe

rows, ranges = {}, []
for what, found, size in (("matrix", results, 16_384**2), ("box", boxes, 256**3)):
    names = [info.name for info in found.variants]
    best = min(names, key=lambda name: found.time(name, size).value)
    counts = [facts[f"sectors_{name}"].value for name in names]
    for name, count in zip(names, counts, strict=True):
        label = f"{what}: {found.variant(name).label}"
        time = found.speedup(best, name, size)
        ranges.append((len(rows), time, SERIES[1]))
        rows[label] = count / min(counts), time.value
figure, ax = plt.subplots()
for row, (count, time) in enumerate(rows.values()):
    ax.plot([count, time], [row, row], color=MUTED, linewidth=1)
    ax.plot(count, row, "o", markersize=10, markerfacecolor="none", color=SERIES[0])
    ax.plot(time, row, "s", color=SERIES[1])
ax.set(xlabel="multiples of the least", xlim=(0, None), yticks=range(len(rows)))
ax.set_yticklabels(rows)
ax.invert_yaxis()
draw_ranges(ax, ranges, along="x")
names = ["sectors a request", "time, kernel only"]
ax.legend(ax.lines[1:3], names, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
words = (f"{name} {count:.0f} and {time:.1f}" for name, (count, time) in rows.items())
describe(
    ax, f"Sectors a request and time, as multiples of the least: {'; '.join(words)}."
)

# %%
# .. finding::
#
#    The box of 256 by 256 by 256 takes :measured:`box[slow_8x8x8, 256**3].time` with x along the first axis
#    and blocks of 8x8x8, and :measured:`box[fast_8x8x8, 256**3].time` with x along the last. The blocks are
#    the same; the sectors a request are :measured:`sectors_slow_8x8x8` and :measured:`sectors_fast_8x8x8`.
#
# .. results:: matrix
#
# .. results:: box

# %%
# .. rst-class:: part-reading
#
# What the count says, and what it does not
# -----------------------------------------
#
# Every one of these kernels asks for the same elements. What differs is how many sectors have to be looked up
# for one request.
#
# By the count, these shapes of the block are equal as long as x walks along the fast axis. A block of 16 by
# 16 needs as many sectors as one of 32 by 8, because 16 elements of eight bytes still fill whole sectors. The
# same holds for 8 floats of four bytes. In the largest matrix the times are close, though not equal:
# :measured:`matrix[fast_16x16, 16384**2].time` and :measured:`matrix[fast_32x8, 16384**2].time`.
#
# But a count is not a time. The part of a sector that one warp leaves unused may be wanted by another warp of
# the same block. If the sector is still in a cache then, the memory delivers it only once. In the box, blocks
# of 8x8x8 and of 32x8x1 both touch :measured:`sectors_slow_8x8x8` sectors a request when x is slow. The
# first are 8 deep along the fast axis, and together use up what they touch; the second are one deep. Their
# times are :measured:`box[slow_8x8x8, 256**3].time` and :measured:`box[slow_32x8x1, 256**3].time`.
#
# .. list-table:: Down the columns against along the rows, 32x8, 16 384 by 16 384
#    :header-rows: 1
#
#    * - predicted, by sectors alone
#      - measured
#    * - :measured:`predicted_ratio`
#      - :measured:`matrix[fast_32x8, 16384**2].speedup(slow_32x8)`
#
# Here the count errs the other way: the slow mapping loses more than its sectors say. In the table of results
# the loss grows with the matrix, while a request touches the same number of sectors. What grows is the way
# from row to row, and why that costs time is not measured here. Trust the count for which mapping loses, not
# for how much.
#
# NVIDIA's profiler, Nsight Compute, counts both in the hardware. Its counters for loads from :term:`global
# memory` begin with ``l1tex__t_sectors_`` and ``l1tex__t_requests_`` and end in
# ``pipe_lsu_mem_global_op_ld.sum``. The first divided by the second is the number of sectors a request. The
# tests of this guide hold the rule against the accesses of the kernels themselves, followed thread by thread
# in a :term:`simulator`.

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: the slow axis, and a clock that cannot see it
# ---------------------------------------------------------------
#
# Two of our source documents wrote ``x, y = cuda.grid(2)`` and then ``arr[x, y]``, or the same in three
# dimensions. That reads well. It is the slow mapping. The first of them timed it, too, and found
# :claimed:`s0_kernel_2d` for a matrix of 256 by 256. Its vector of the same size had taken
# :claimed:`s0_kernel_grid`, so nothing looked wrong. The second found :claimed:`s1_kernel_3d` for a box with
# edges of 256, on the GPU that it had, and no other mapping to hold it against.
#
# But the first one's clock did not wait for the GPU. Here is that clock, on a matrix that is large enough to
# tell, held against both mappings.

# wrong: x walks down a column, and the clock stops before the GPU does
from time import perf_counter

from gpuguide.measure.turns import beside_launches

matrix = gg.numba_view(cp.ones((8192, 8192)))
for name, launcher in (
    ("slow", grids_2d_3d.increment_slow),
    ("fast", grids_2d_3d.increment_fast),
):

    def stop_too_early(launcher=launcher):
        cp.cuda.Device().synchronize()
        start = perf_counter()
        for _ in range(100):
            launcher(matrix, (16, 16))
        return (perf_counter() - start) / 100

    samples, alone = beside_launches(
        stop_too_early, lambda launcher=launcher: launcher(matrix, (16, 16)), n_turns=20
    )
    wrong = gg.fact(f"wrong_{name}", float(np.median(samples)), unit="s", samples=samples)
    launched = gg.fact(f"launch_{name}", float(np.median(alone)), unit="s", samples=alone)
    facts |= {wrong.name: wrong, launched.name: launched}

# %%

# draw
for name in ("slow", "fast"):
    launched, wrong = facts[f"launch_{name}"], facts[f"wrong_{name}"]
    _ = gg.explained(f"{name}_clock", [launched.value], wrong.value)

# %%
# The right mapping exchanges the names, ``col, row = cuda.grid(2)``, and the right clock waits. Launch and
# work, each timed alone, are what the wrong clock mixes up:

# draw
gg.plot_decomposition(
    {
        f"{name}, {what}": {part: seconds}
        for name in ("slow", "fast")
        for what, part, seconds in (
            ("without waiting", "launch", facts[f"wrong_{name}"]),
            ("launch alone", "launch", facts[f"launch_{name}"]),
            ("work alone", "work", results.time(f"{name}_16x16", 8192**2)),
        )
    }
)

# %%
# .. finding::
#
#    Without waiting the clock says :measured:`wrong_slow` for the slow axis and :measured:`wrong_fast` for
#    the fast one. The launch alone takes :measured:`launch_slow` and :measured:`launch_fast`, the work
#    :measured:`matrix[slow_16x16, 8192**2].time` and :measured:`matrix[fast_16x16, 8192**2].time`.
#
# Such a clock follows the launch and not the work. If it shows a difference between the two mappings, that is
# a difference between launches.
# :doc:`How to time a GPU </gallery/measuring/how_to_time>` shows the clocks that see the work.

# %%
# .. rst-class:: part-when-not-to
#
# When one axis is enough
# -----------------------
#
# An operation that treats all elements alike does not need to know rows and columns. If the array is
# contiguous, ``x.ravel()`` is a view, and a grid with one axis covers it with a single guard. Two axes pay
# when the place matters: neighbours above and below, a value for each column, a border.
#
# For a small matrix none of this decides. At 256 by 256, the size of the source, the work takes
# :measured:`matrix[slow_16x16, 256**2].time` down the columns, and Python needs
# :measured:`matrix[slow_16x16, 256**2].launch` to ask for it.

# %%
# .. rst-class:: part-on-your-gpu
#
# Sectors are everywhere
# ----------------------
#
# Warps of 32 threads and sectors of 32 bytes are the same on all NVIDIA GPUs of the last years, so the counts
# carry over. What a wasted sector costs does not: it depends on the :term:`bandwidth` of the memory and of
# the caches, and on how much a cache can hold. Expect the order of the variants to stay, and the distances to
# change.
#
# ``gpuguide run grids_2d_3d`` measures yours.

# %%
# .. rst-class:: part-your-turn
#
# Two kernels with two axes
# -------------------------
#
# The first exercise asks for a kernel that covers a picture with a grid of two axes. The second gives you a
# kernel that is right and walks along the wrong axis. The check counts the sectors of each request.
#
# .. exercise:: map_2d
#
# .. exercise:: axis_order
#
# .. question:: An array in Fortran order has its columns in one piece. Which axis should x walk along there?
#
#    The first. What counts is not the name of an axis but where the next element lies in memory. In Fortran
#    order the first axis is the fast one, so ``row, col = cuda.grid(2)`` is right there.
#
# .. question:: A block of 32 by 32 threads has 1024 of them. How many sectors does a warp need for float32?
#
#    Four, if x walks along the fast axis: the warp is one row of the block, 32 neighbours of four bytes. The
#    other 31 rows are other warps and do not change the count.

# %%
# .. rst-class:: part-next
#
# From axes to launch sizes
# -------------------------
#
# Onward: :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` asks how many threads, and how much work
# for each. Sideways: :doc:`First kernel </gallery/first_kernels/first_kernel>` has the grid with one axis.
# Used here: :func:`gpuguide.machine.launch.grid_2d`, :func:`gpuguide.machine.launch.grid_3d`,
# :func:`gpuguide.topics.grids_2d_3d.sectors.sectors_per_request`.
