"""
Slicing
=======

Slice before the copy to the GPU, or after it?
"""
# %%
# Every second of 2\ :sup:`25` numbers is on the GPU after
# :measured:`strided[strided_copy_first_pinned, 2**24].time` if all are copied and sliced there, and after
# :measured:`strided[strided_slice_first_pinned, 2**24].time` if NumPy slices first on one thread, or
# :measured:`strided[strided_slice_first_threads, 2**24].time` on 16 virtual CPUs. Slice neighbours first:
# that copies less, and gathers nothing.
#
# .. list-table:: From pinned memory, until the numbers wanted are on the GPU
#    :header-rows: 1
#
#    * - wanted of 2\ :sup:`25` numbers
#      - copy, then slice
#      - slice on one thread, then copy
#      - slice on 16 virtual CPUs, then copy
#    * - 2\ :sup:`22` neighbours
#      - :measured:`block[block_copy_first_pinned, 2**22].time`
#      - :measured:`block[block_slice_first_pinned, 2**22].time`
#      -
#    * - every second
#      - :measured:`strided[strided_copy_first_pinned, 2**24].time`
#      - :measured:`strided[strided_slice_first_pinned, 2**24].time`
#      - :measured:`strided[strided_slice_first_threads, 2**24].time`
#    * - every 8th
#      - :measured:`strided[strided_copy_first_pinned, 2**22].time`
#      - :measured:`strided[strided_slice_first_pinned, 2**22].time`
#      - :measured:`strided[strided_slice_first_threads, 2**22].time`
#    * - every 2048th
#      - :measured:`strided[strided_copy_first_pinned, 2**14].time`
#      - :measured:`strided[strided_slice_first_pinned, 2**14].time`
#      - :measured:`strided[strided_slice_first_threads, 2**14].time`
#    * - 2\ :sup:`22` by an index
#      - :measured:`picked[picked_copy_first_pinned, 2**22].time`
#      - :measured:`picked[picked_slice_first_pinned, 2**22].time`
#      - :measured:`picked[picked_slice_first_threads, 2**22].time`
#
# Copying all moves the same 128 MiB in each row, and an index in the last. For every 8th number it takes
# about as long as slicing on 16 virtual CPUs: either may win by a little.

# %%
# Views and copies: three kinds of slices
# ---------------------------------------
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
#    and CuPy gives you 8, which is ``x[20 - 12]``. An index that is too large begins again at the front, and
#    nothing warns you.
#
# The two views show that ``x`` has changed, and the copy does not.

# %%
# Contiguous slices: slice first
# ------------------------------
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
# This takes :measured:`block[block_slice_first_pinned, 2**22].time`. To copy the whole array, of which an
# eighth is wanted, takes :measured:`block[block_copy_first_pinned, 2**22].time`. From :term:`pageable memory`
# it is :measured:`block[block_slice_first, 2**22].time` and :measured:`block[block_copy_first, 2**22].time`.

# %%
# Strided slices: the CPU or the GPU has to gather
# ------------------------------------------------
#
# Numbers that are a step apart cannot be copied as they are. Either NumPy gathers them on the host, or
# everything is copied and the GPU gathers.
#
# .. drawing:: slicing
#
#     The same row of numbers twice, every fourth one coloured. Above, the host gathers the coloured ones, and
#     only they cross to the GPU. Below, the whole row crosses, and the GPU gathers.

x = cp.empty(x_host.size, dtype=np.float32)
x.set(x_host)
eighth = x[::8].copy()  # without copy, a view, which keeps all of x alive
print("equal:", bool((eighth.get() == x_host[::8]).all()))

# %%
# Slicing first needs another array on the host, for what was gathered.

part = cupyx.empty_pinned(x_host.size // 8, dtype=np.float32)
np.copyto(part, x_host[::8])  # NumPy gathers, on one thread
eighth = cp.empty(part.size, dtype=np.float32)
eighth.set(part)
print("equal:", bool((eighth.get() == x_host[::8]).all()))

# %%
# Result: where copying everything pays
# -------------------------------------
#
# The two cells above are *copying all, pinned*, and *slicing on one thread, pinned*.
# *Copying all, pageable*, begins with an ordinary array. For *slicing on all threads, pinned*, each thread
# gathers a part.

# draw
ax = gg.plot_time(
    strided,
    variants=[
        "strided_copy_first",
        "strided_copy_first_pinned",
        "strided_slice_first_pinned",
        "strided_slice_first_threads",
    ],
    crossover=("strided_slice_first_pinned", "strided_copy_first_pinned"),
)
_ = ax.set_ylim(5e-5, 0.3)  # room for the words about the crossover

# %%
# .. finding::
#
#    From pinned memory, copying all 2\ :sup:`25` numbers overtakes slicing on one thread
#    :measured:`strided.crossover(strided_slice_first_pinned, strided_copy_first_pinned)`. It takes
#    :measured:`strided[strided_copy_first_pinned, 2**22].time` for every eighth number, and from pageable
#    memory :measured:`strided[strided_copy_first, 2**22].time`.
#
# The gathering is what costs time on the host. :evidence:`variant strided_numpy` Alone, for every eighth
# number, it takes NumPy :measured:`alone[strided_numpy, 2**22].time` on one thread and
# :measured:`alone[strided_numpy_threads, 2**22].time` on all; the GPU takes
# :measured:`alone[strided_cupy, 2**22].time`. So with all threads slicing first keeps up for longer: for
# every eighth number both are level, and for every second one copying all is
# :measured:`strided[strided_copy_first_pinned, 2**24].speedup(strided_slice_first_threads)` as fast. From
# pageable memory the long copy takes longer, and copying all overtakes slicing on one thread
# :measured:`strided.crossover(strided_slice_first, strided_copy_first)`.
#
# .. kernel:: gpuguide.topics.slicing.study
#    :names: every, copy_first, slice_first, copy_in_threads
#    :fold: Both orders, and the gathering on all threads
#
# .. results:: strided
#
# .. results:: alone

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
# Fancy indexing: the index has to travel, too
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
# It pays all the same: with both copies this takes :measured:`picked[picked_copy_first_pinned, 2**22].time`,
# and picking first :measured:`picked[picked_slice_first_pinned, 2**22].time` on one thread and
# :measured:`picked[picked_slice_first_threads, 2**22].time` on all. The places are in random order. To pick
# them, without a copy, takes NumPy :measured:`picked[picked_numpy, 2**22].time` on one thread and
# :measured:`picked[picked_numpy_threads, 2**22].time` on all, and the GPU
# :measured:`picked[picked_cupy, 2**22].time`.
#
# .. kernel:: gpuguide.topics.slicing.study
#    :names: copy_then_pick, pick_then_copy, pick_in_threads
#    :fold: Both orders for an index
#
# Keep an index that you use again on the GPU. CuPy takes a list or a NumPy array, too, but copies it there
# each time. Two things raise an error: a NumPy array with an index on the GPU, as CuPy copies nothing back
# unless you ask, and ``set`` on a slice with gaps.

try:
    x_host[places]
except TypeError as error:
    print(error)
try:
    x[::8].set(part)
except RuntimeError as error:
    print(error)

# %%
# Instead of the second one, write ``x[::8] = cp.asarray(part)``.
#
# A *mask* of booleans picks, too, but on the GPU it has a price of its own. To know how long ``x[x > 0.5]``
# is, the GPU has to count, and Python waits for the answer. With 2\ :sup:`24` numbers Python goes on after
# :measured:`by_mask`; with an index for the same numbers, after :measured:`by_index`.

# %%
# On the GPU already: slice there
# -------------------------------
#
# Data that are on the GPU should be sliced there. But do not make many small slices: one view takes
# :measured:`view_cupy` in CuPy, and :measured:`view_numpy` in NumPy.
#
# Gaps have a price on the GPU as well. Its memory moves pieces of 32 bytes, :term:`sectors <sector>`, and
# eight ``float32`` numbers fit into one. So for every eighth number and for every second one the GPU reads
# all :measured:`alone[strided_cupy, 2**22].work(sectors)`. :evidence:`count sectors` Every eighth takes
# :measured:`alone[strided_cupy, 2**22].time`; every second, four times as many numbers, takes
# :measured:`alone[strided_cupy, 2**24].time`.
#
# .. kernel:: gpuguide.topics.slicing.study
#    :names: every_cupy, sectors
#    :fold: The slice on the GPU, and how its sectors are counted

# %%
# Several slices of one array
# ---------------------------
#
# All this is about one slice. If you want several, add up their bytes. Slices that overlap, or that together
# make up most of the array, should cross in one copy and be cut on the GPU. What no slice needs can stay on
# the host.
#
# How many bytes more may a copy have and still be faster than two? That depends on the latency of a copy and
# on its rate. Find both in a table of measured times.
#
# .. exercise:: latency_and_rate

# %%
# Next
# ----
#
# Onward: :doc:`Memory pools </gallery/moving_data/memory_pools>`, on what the GPU's memory is used for.
# Sideways: :doc:`Sort and search </gallery/cupy/sort_search>`, on where the copies move a crossover.
