"""
Slice before or after the copy
==============================

You need a part of an array on the GPU: when do you cut it?
"""
# %%
# Slice neighbours before the copy, so that only what you want has to travel. If the numbers have gaps between
# them, or an index picks them, copy the whole array and slice on the GPU. For every second number of 128 MiB
# this takes :measured:`strided[strided_copy_first_pinned, 2**24].time`, and slicing first, in NumPy, takes
# :measured:`strided[strided_slice_first_pinned, 2**24].time`.
#
# .. headline:: Neighbours: slice first. Numbers with gaps: copy everything
#
# .. drawn:: slicing
#
#     import matplotlib.pyplot as plt
#     from gpuguide.charts.style import CPU, CUPY, INK, NUMPY, describe, style
#
#     rows = {
#         "an eighth, side by side": (),
#         "slice first": (block, "block_slice_first_pinned", 2**22, NUMPY),
#         "copy all first": (block, "block_copy_first_pinned", 2**22, CUPY),
#         "every second number": (),
#         "slice, 1 thread": (strided, "strided_slice_first_pinned", 2**24, NUMPY),
#         "slice, 16 threads": (strided, "strided_slice_first_threads", 2**24, CPU),
#         "copy all first ": (strided, "strided_copy_first_pinned", 2**24, CUPY),
#     }
#     words = []
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.2))[1]
#         for row, (label, cell) in enumerate(rows.items()):
#             if not cell:
#                 ax.text(0, row, label, color=INK, va="center", weight="bold")
#                 words.append(label)
#                 continue
#             study, name, size, colour = cell
#             time = study.time(name, size)
#             ax.barh(row, time.value, height=0.7, color=colour)
#             end = {"textcoords": "offset points", "va": "center", "weight": "bold"}
#             ax.annotate(str(time), (time.value, row), (6, 0), **end)
#             words.append(f"{label.strip()} {time}")
#         bars = {row: label for row, (label, cell) in enumerate(rows.items()) if cell}
#         ax.set_yticks(list(bars), [label.strip() for label in bars.values()])
#         ax.invert_yaxis()
#         ax.set_xticks([])
#         ax.set_xlim(0, 1.2 * ax.dataLim.x1)
#         ax.spines["bottom"].set_visible(False)
#         ax.grid(visible=False)
#         describe(ax, f"Bars of the time until the numbers are on the GPU. {'; '.join(words)}.")

# %%
# A slice is a view, an index makes a copy
# ----------------------------------------
#
# CuPy slices as NumPy does. A slice with colons is a *view*: it moves no data and shares the memory of the
# array. An index, which is a list or an array of places, picks the elements and makes a copy of them.

import cupy as cp
import numpy as np

x_host = np.arange(12, dtype=np.float32)
x = cp.asarray(x_host)
places = [7, 1, 4]

block = x[3:6]  # a view: neighbours
third = x[::3]  # a view: a step apart
picked = x[places]  # a copy
x[3] = 99
x[7] = 99
print("block: ", block, " NumPy:", x_host[3:6], "before the change")
print("third: ", third, " NumPy:", x_host[::3], "before the change")
print("picked:", picked, " NumPy:", x_host[places], "before the change")

# %%
# .. try-it::
#
#    Put 20 in place of the 4 in ``places``. NumPy raises an ``IndexError``. Take NumPy out of the last line,
#    and CuPy gives you 8, which is ``x[20 - 12]``. An index that is too large starts again from the front,
#    and nothing warns you.
#
# The two views show that ``x`` has changed, and the copy does not.

# %%
# Neighbours: slice first
# -----------------------
#
# Neighbours in the array are neighbours in memory, so NumPy's view of them can be copied to the GPU as it is.
# The arrays on the host are in :term:`pinned memory`, from which the GPU copies by itself.

import cupyx

x_host = cupyx.empty_pinned(2**25, dtype=np.float32)  # once, for many copies
x_host[:] = np.random.default_rng(0).random(x_host.size, dtype=np.float32)

block = cp.empty(2**22, dtype=np.float32)
block.set(x_host[: block.size])
print("equal:", bool((block.get() == x_host[: block.size]).all()))

# %%

# record: Four studies: both orders for three kinds of slices, and slices where the numbers are already
import gpuguide as gg
from gpuguide.topics.slicing import study as slicing
from gpuguide.topics.slicing import views

free, n_bytes = cp.cuda.Device().mem_info
print(f"{free / 1e9:.0f} GB of the GPU's {n_bytes / 1e9:.0f} GB are free.")
if slicing.longest() < slicing.TOTAL:
    print(f"That is enough for an array of {slicing.longest():,} numbers.")
strided = slicing.strided.run()
alone = slicing.alone.run()
picked = slicing.picked.run()
block = slicing.block.run()
for what, seconds in {**views.views(), **views.waits()}.items():
    gg.fact(what, float(np.median(seconds)), unit="s", samples=seconds)

# %%
# Only the bytes that you want travel, and the time falls with them: this eighth of the array takes
# :measured:`block[block_slice_first_pinned, 2**22].time`, and all of it takes
# :measured:`block[block_copy_first_pinned, 2**22].time`. The same holds for :term:`pageable memory`.

# %%
# Gaps: copy everything, slice on the GPU
# ---------------------------------------
#
# CuPy copies only what lies side by side, so that numbers with gaps between them have to be gathered first or
# last. Let the GPU do it, after a copy of everything.

x = cp.empty(x_host.size, dtype=np.float32)
x.set(x_host)
eighth = x[::8].copy()  # without copy, a view, which keeps all of x alive
print("equal:", bool((eighth.get() == x_host[::8]).all()))

# %%
# The other way round, NumPy gathers them, and you need one more array on the host to hold them.

part = cupyx.empty_pinned(x_host.size // 8, dtype=np.float32)
np.copyto(part, x_host[::8])  # NumPy gathers, on one thread
eighth = cp.empty(part.size, dtype=np.float32)
eighth.set(part)
print("equal:", bool((eighth.get() == x_host[::8]).all()))

# %%
# .. headline:: Either the CPU gathers the numbers, or the GPU does
#
# .. drawing:: slicing
#
#     The same row of numbers twice, every fourth one coloured. Above, the host gathers the coloured ones, and
#     only they cross to the GPU. Below, the whole row crosses, and the GPU gathers.
#
# What takes long is the gathering on the host. :evidence:`variant strided_numpy` Every eighth number takes
# NumPy :measured:`alone[strided_numpy, 2**22].time` on one thread, and the GPU
# :measured:`alone[strided_cupy, 2**22].time`.

# %%
# Fewer than one in a hundred: slice first
# ----------------------------------------
#
# If you want hardly any of the numbers, the copy of everything is the larger cost. From pinned memory, slice
# first if you want fewer than about one in a hundred. If you slice with all threads of the CPU, which takes
# code of your own, that holds up to about one in eight; for every second number copying everything is still
# :measured:`strided[strided_copy_first_pinned, 2**24].speedup(strided_slice_first_threads)` as fast.
#
# .. headline:: A copy of everything always takes the same; slicing first grows with what you want

# draw
ax = gg.plot_time(
    strided,
    variants=[
        "strided_copy_first_pinned",
        "strided_slice_first_pinned",
        "strided_slice_first_threads",
    ],
)
shares = {2**k: f"1 in {2 ** (25 - k)}" for k in range(14, 25, 2)}
ax.set(xlabel="numbers wanted", ylabel="time, copies included")
_ = ax.xaxis.set_major_formatter(lambda n, _: shares.get(round(n), ""))

# %%
# .. dropdown:: Where the lines cross
#
#     From pinned memory, copying all overtakes slicing on one thread
#     :measured:`strided.crossover(strided_slice_first_pinned, strided_copy_first_pinned)`, and from pageable
#     memory, where the long copy takes longer,
#     :measured:`strided.crossover(strided_slice_first, strided_copy_first)`. On all threads, NumPy gathers
#     every eighth number in :measured:`alone[strided_numpy_threads, 2**22].time`.
#
# .. kernel:: gpuguide.topics.slicing.study
#    :names: every, copy_first, slice_first, copy_in_threads
#    :fold: Both orders, and the gathering on all threads

# draw: Seven claims
gg.claim(
    block,
    "block_slice_first_pinned",
    faster_than="block_copy_first_pinned",
    at=2**22,
    by=3,
)
gg.claim(
    strided,
    "strided_copy_first_pinned",
    faster_than="strided_slice_first_pinned",
    at=2**22,
    by=2,
)
gg.claim(
    strided,
    "strided_slice_first_pinned",
    faster_than="strided_copy_first_pinned",
    at=2**14,
    by=3,
)
gg.claim(
    picked,
    "picked_copy_first_pinned",
    faster_than="picked_slice_first_pinned",
    at=2**22,
    by=3,
)
gg.claim(
    strided,
    "strided_copy_first_pinned",
    faster_than="strided_slice_first_threads",
    at=2**24,
    by=1.3,
)
gg.claim(
    picked,
    "picked_copy_first_pinned",
    faster_than="picked_slice_first_threads",
    at=2**22,
    by=1.2,
)
gg.claim(alone, "strided_cupy", faster_than="strided_numpy_threads", at=2**22, by=5)

# %%
# An index: copy everything, and the index too
# --------------------------------------------
#
# An index is made of 64-bit integers, and so has twice the bytes of the ``float32`` numbers that it picks. If
# the GPU picks, the index has to be copied as well.

places_host = cupyx.empty_pinned(2**22, dtype=np.int64)
places_host[:] = np.random.default_rng(1).integers(0, x_host.size, places_host.size)

places = cp.empty(places_host.size, dtype=np.int64)
x.set(x_host)
places.set(places_host)
picked_on_gpu = x[places]
print("equal:", bool((picked_on_gpu.get() == x_host[places_host]).all()))

# %%
# It pays all the same. With both copies, four million places in random order take
# :measured:`picked[picked_copy_first_pinned, 2**22].time`. If NumPy picks first, they take
# :measured:`picked[picked_slice_first_pinned, 2**22].time` on one thread, and
# :measured:`picked[picked_slice_first_threads, 2**22].time` on 16 virtual CPUs. Keep an index that you use
# again on the GPU: CuPy accepts a list or a NumPy array, too, but copies it there each time.
#
# .. kernel:: gpuguide.topics.slicing.study
#    :names: copy_then_pick, pick_then_copy, pick_in_threads
#    :fold: Both orders for an index

# %%
# What goes wrong: mixed arrays, gaps and masks
# ---------------------------------------------
#
# A NumPy array with an index on the GPU raises an error, for CuPy copies nothing back unless you ask for it.
# And ``set`` does not write into a slice with gaps.

try:
    x_host[places]
except TypeError as error:
    print(error)
try:
    x[::8].set(part)
except RuntimeError as error:
    print(error)

# %%
# Write ``x_host[places.get()]`` for the first, and ``x[::8] = cp.asarray(part)`` for the second.
#
# Two more things raise no error, but cost time. Avoid a *mask* of booleans where Python should not wait: to
# know how long ``x[x > 0.5]`` is, it has to wait until the GPU has counted. With 2\ :sup:`24` numbers Python
# goes on after :measured:`by_mask`, and with an index for the same numbers after :measured:`by_index`. And
# avoid many small slices in a loop, for one view takes :measured:`view_cupy` in CuPy, and
# :measured:`view_numpy` in NumPy.
#
# .. dropdown:: What gaps cost on the GPU itself
#
#     Data that are on the GPU already should be sliced there, but gaps have a price there as well. Its memory
#     moves pieces of 32 bytes, :term:`sectors <sector>`, and eight ``float32`` numbers fit into one. For
#     every eighth number and for every second one the GPU reads all
#     :measured:`alone[strided_cupy, 2**22].work(sectors)`. :evidence:`count sectors` Every second number,
#     four times as many, takes :measured:`alone[strided_cupy, 2**24].time`.
#
# .. kernel:: gpuguide.topics.slicing.study
#    :names: every_cupy, sectors
#    :fold: The slice on the GPU, and how its sectors are counted

# %%
# .. remember::
#
#    - Slice neighbours before the copy. With gaps or an index, copy everything and slice on the GPU: for
#      every second number this is
#      :measured:`strided[strided_copy_first_pinned, 2**24].speedup(strided_slice_first_pinned)` as fast as
#      slicing with NumPy on one thread.
#    - Check an index yourself: CuPy wraps one that is too large, and does not warn you.

# %%
# Your turn: one copy or two
# --------------------------
#
# If you want several slices, add up their bytes. Slices that overlap, or that together make up most of the
# array, should cross in one copy and be cut on the GPU. How many bytes more may a copy have and still be
# faster than two? That depends on the latency of a copy and on its rate. Find both in a table of times.
#
# .. exercise:: latency_and_rate

# thumbnail
from gpuguide.charts import thumbnail
from gpuguide.charts.style import CUPY, NUMPY

ways = {
    "NumPy slices": strided.time("strided_slice_first_pinned", 2**24),
    "CuPy slices": strided.time("strided_copy_first_pinned", 2**24),
}
_ = thumbnail.bars(ways, "time for every second number", [NUMPY, CUPY])

# %%
# Next
# ----
#
# Next: :doc:`When GPU memory runs out </gallery/moving_data/memory_pools>` shows where the GPU's memory goes.
# See also: :doc:`Sort and search on the GPU </gallery/cupy/sort_search>` has operations that move more data
# than they compute.
