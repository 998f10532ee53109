"""
Sort and search
===============

At what size does sorting on the GPU pay?
"""
# %%
# CuPy sorts 2\ :sup:`24` numbers that are on the GPU in :measured:`sort[cupy, 4096**2].time`, where NumPy on
# 16 virtual CPUs takes :measured:`sort[numpy_threads, 4096**2].time`. With copies from and to pinned memory
# CuPy overtakes NumPy, on one thread or on all,
# :measured:`sort.crossover(numpy_threads, with_copies_pinned)`.
#
# .. list-table::
#    :header-rows: 1
#
#    * - numbers sorted
#      - 10\ :sup:`3`
#      - 10\ :sup:`6`
#      - 2\ :sup:`24`
#    * - NumPy, one thread
#      - :measured:`sort[numpy, 10**3].time`
#      - :measured:`sort[numpy, 10**6].time`
#      - :measured:`sort[numpy, 4096**2].time`
#    * - NumPy, 16 virtual CPUs
#      - :measured:`sort[numpy_threads, 10**3].time`
#      - :measured:`sort[numpy_threads, 10**6].time`
#      - :measured:`sort[numpy_threads, 4096**2].time`
#    * - CuPy, pageable copies
#      - :measured:`sort[with_copies, 10**3].time`
#      - :measured:`sort[with_copies, 10**6].time`
#      - :measured:`sort[with_copies, 4096**2].time`
#    * - CuPy, pinned copies
#      - :measured:`sort[with_copies_pinned, 10**3].time`
#      - :measured:`sort[with_copies_pinned, 10**6].time`
#      - :measured:`sort[with_copies_pinned, 4096**2].time`
#    * - CuPy, kernels only
#      - :measured:`sort[cupy, 10**3].time`
#      - :measured:`sort[cupy, 10**6].time`
#      - :measured:`sort[cupy, 4096**2].time`

# %%
# Sort, argsort and searchsorted in CuPy
# --------------------------------------
#
# CuPy has all three under NumPy's names. ``sort`` orders the numbers. ``argsort`` gives the indices that
# would sort them. ``searchsorted`` gives the place in sorted keys at which a number belongs: below, 3 is none
# of the keys and belongs at place 1. You write no kernel, and CuPy chooses the grid.

import cupy as cp
import numpy as np

x_host = np.array([31, 8, 63, 17, 2], dtype=np.float32)
x = cp.asarray(x_host)
print("sort:         ", cp.sort(x), " NumPy:", np.sort(x_host))
print("argsort:      ", cp.argsort(x), " NumPy:", np.argsort(x_host))

keys = np.array([2, 5, 8, 11, 17, 23], dtype=np.int32)
queries = np.array([23, 3, 8], dtype=np.int32)
places = cp.searchsorted(cp.asarray(keys), cp.asarray(queries))
print("searchsorted: ", places, " NumPy:", np.searchsorted(keys, queries))

# %%
# .. try-it::
#
#    Put ``np.nan`` in the place of 8 in ``x_host`` and run the cell again. It is neither smaller nor larger
#    than any number, and yet both libraries agree on where it goes: to the end, behind 63.
#
# The results stay on the GPU until something asks for them; here ``print`` does.

# %%

# record: The studies: sorts of up to a hundred million numbers, rows of a matrix, argsort and searchsorted
import gpuguide as gg
from gpuguide.topics.sort_search import study as sort_search

results = sort_search.sort.run()
rows = sort_search.rows.run()
argsort = sort_search.argsort.run()
search = sort_search.search.run()

# %%

# draw
gg.claim(results, "cupy", faster_than=("numpy", "numpy_threads"), at=4096**2, by=10)
gg.claim(
    results,
    "with_copies_pinned",
    faster_than=("numpy", "numpy_threads"),
    at=4096**2,
    by=3,
)
gg.claim(results, "cupy_in_place", faster_than="with_copies_pinned", at=4096**2, by=2)
gg.claim(results, "numpy", faster_than=("cupy", "with_copies_pinned"), at=10**3)
gg.claim(rows, "rows_packed", faster_than="rows_cupy", at=4096**2, by=3)
copy = ceilings.get("copy")
_ = gg.fact(
    "ceiling_copy", copy.value, unit=copy.unit, note="the fastest copy on this GPU"
)

# %%
# Numbers from the host: pinned copies
# ------------------------------------
#
# Most programs have their numbers on the host. Then two copies come on top of the sort, and how fast they are
# depends on the memory of the array on the host. The GPU reads and writes an array in pinned memory directly.
# Such an array takes long to make, so make it once.
#
# .. rung:: with_copies_pinned

import cupyx

x_host = cupyx.empty_pinned(4096 * 4096, dtype=np.float32)  # once, for many sorts
x_host[:] = np.random.default_rng(0).random(x_host.size, dtype=np.float32)
x = cp.empty(x_host.size, dtype=np.float32)

x.set(x_host)
x.sort()  # in place: cp.sort(x) would copy x first
x.get(out=x_host)
print(x_host[:3], "...", x_host[-3:])

# %%
# With pinned copies 2\ :sup:`24` numbers take :measured:`sort[with_copies_pinned, 4096**2].time`, with
# pageable ones :measured:`sort[with_copies, 4096**2].time`. Of that the sort itself, in place, takes
# :measured:`sort[cupy_in_place, 4096**2].time`.

# draw
gg.plot_time(
    results,
    variants=["numpy", "numpy_threads", "with_copies", "with_copies_pinned"],
    crossover=("numpy", "with_copies_pinned"),
)

# %%
# .. finding::
#
#    From host memory to host memory, CuPy with pinned copies overtakes NumPy on one thread
#    :measured:`sort.crossover(numpy, with_copies_pinned)`. With 2\ :sup:`24` numbers it is
#    :measured:`sort[with_copies_pinned, 4096**2].speedup(numpy_threads)` as fast as NumPy on all threads.
#
# NumPy has no sort on all threads, so we made one of ``np.sort``. Each thread sorts a part, the parts are
# divided up by value, and each thread sorts what it gets. Below 2\ :sup:`20` numbers it uses one thread.
#
# .. kernel:: gpuguide.topics.sort_search.cpu
#    :names: numpy_threads
#    :fold: The sort on all threads
#
# .. kernel:: gpuguide.topics.sort_search.study
#    :names: numpy, with_copies
#    :fold: The sort on one thread, and the one with pageable copies

# %%
# Sort along an axis: comparisons instead of a radix sort
# -------------------------------------------------------
#
# CuPy sorts a flat array of numbers by a *radix sort*. It compares nothing: in each pass it looks at a few
# bits of each number, and moves all numbers to where these bits put them. A matrix of just as many numbers,
# sorted row by row, takes another path.
#
# .. rung:: rows_cupy

matrix_host = np.random.default_rng(0).random((4096, 4096), dtype=np.float32)
matrix = cp.asarray(matrix_host)
by_row = cp.sort(matrix, axis=1)
print("CuPy: ", by_row[0, :3])
print("NumPy:", np.sort(matrix_host[0])[:3])

# %%
# CuPy gives each element the number of its row, eight bytes more, and sorts the whole matrix by comparing
# pairs of row and value. This can be read
# `in its source <https://github.com/cupy/cupy/blob/main/cupy/cuda/cupy_thrust.cu>`__.
#
# A detour leads back to the radix sort. Put the number of the row in front of each element's bits, sort all
# of it as one flat array, and cut the row off again. It works for numbers that are not negative: their bits
# rise with their values.
#
# .. rung:: rows_packed

row = cp.arange(4096, dtype=cp.uint64)[:, None] << 32
packed = (row | matrix.view(cp.uint32)).ravel()
packed.sort()
again = packed.astype(cp.uint32).view(cp.float32).reshape(matrix.shape)
print("the same:", bool((again == by_row).all()))

# %%

# draw
from gpuguide.charts.shapes import plot_dots

plot_dots(
    {
        "flat": results.time("cupy", 4096**2),
        "rows, packed and flat": rows.time("rows_packed", 4096**2),
        "rows, axis=1": rows.time("rows_cupy", 4096**2),
    },
    "time of the kernels",
)

# %%
# .. finding::
#
#    The same 2\ :sup:`24` numbers take :measured:`sort[cupy, 4096**2].time` as one flat array and
#    :measured:`rows[rows_cupy, 4096**2].time` row by row. Packed and flat, the rows take
#    :measured:`rows[rows_packed, 4096**2].time`, although the numbers have twice as many bits.
#
# So it is the sort by comparison that takes the time, and not the rows. :evidence:`variant rows_packed` NumPy
# sorts the rows in :measured:`rows[rows_numpy, 4096**2].time` on one thread, and in
# :measured:`rows[rows_numpy_threads, 4096**2].time` on all.

# %%
# Argsort and searchsorted on a million numbers
# ---------------------------------------------
#
# In an argsort an index of eight bytes moves with each number. A search among a million keys takes about
# twenty comparisons for each number, one after the other, and the searches run side by side.
#
# .. list-table::
#    :header-rows: 1
#
#    * - a million of
#      - NumPy, one thread
#      - NumPy, all threads
#      - CuPy, kernels only
#    * - argsort
#      - :measured:`argsort[argsort_numpy, 10**6].time`
#      - not measured
#      - :measured:`argsort[argsort_cupy, 10**6].time`
#    * - search
#      - :measured:`search[search_numpy, 10**6].time`
#      - :measured:`search[search_numpy_threads, 10**6].time`
#      - :measured:`search[search_cupy, 10**6].time`
#
# NumPy's argsort runs on one thread, and we wrote none for all of them. With its arrays on the GPU, CuPy's
# search is :measured:`search[search_cupy, 10**6].speedup(search_numpy_threads)` as fast as NumPy's on all
# threads. Its sort of as many numbers is :measured:`sort[cupy, 10**6].speedup(numpy)` as fast as NumPy's on
# one thread; our sort on all threads uses one at this size, too.
# :doc:`A sparse dictionary </gallery/first_kernels/sparse_lookup>` is such a search, with kernels that are
# faster still.

# %%
# What limits the sort
# --------------------
#
# A sort must read each number and write it once. Counting only that, CuPy in place moves 10\ :sup:`8` numbers
# at :measured:`sort[cupy_in_place, 10**8].share` of the rate of a plain copy. But the memory really moves
# :measured:`sort[cupy_in_place, 10**8].counter(dram_bytes)`, because a radix sort goes over the numbers
# several times: once to count them, and then once for every eight of their 32 bits, to read and move all of
# them. :evidence:`counter dram_bytes` The longest of these passes moves
# :measured:`sort[cupy_in_place, 10**8].counter(dram_throughput)`, a copy :measured:`ceiling_copy`. We think
# that a pass falls behind because it scatters the numbers to 256 places. :evidence:`opinion`
#
# Small sorts have another limit. A thousand numbers take :measured:`sort[cupy_in_place, 10**3].time` on the
# GPU, and :measured:`sort[cupy_in_place, 10**3].launch` of Python's time to ask for it. NumPy is done in
# :measured:`sort[numpy, 10**3].time`. Below the crossover, numbers that start and end on the host should stay
# there.

# %%
# .. remember::
#
#    - Sort on the GPU what is there already. CuPy needs :measured:`sort[cupy, 4096**2].time` for 2\ :sup:`24`
#      numbers, NumPy on all threads :measured:`sort[numpy_threads, 4096**2].time`.
#    - If the numbers start and end on the host, leave small sorts to NumPy. With pinned copies CuPy
#      overtakes it :measured:`sort.crossover(numpy_threads, with_copies_pinned)`.
#    - Sort rows as one flat array, with the number of the row in front of the bits:
#      :measured:`rows[rows_packed, 4096**2].speedup(rows_cupy)` as fast as ``axis=1``.

# %%
# Your turn: remove needless copies
# ---------------------------------
#
# The copies moved the crossover on this page. In a program they are easy to miss: one call that looks
# harmless sends an array to the GPU or fetches one. Find those that can go. The check counts them, without a
# GPU.
#
# .. exercise:: count_transfers

# %%
# Next
# ----
#
# Onward: :doc:`How to time a GPU </gallery/measuring/how_to_time>`, on the clocks behind these numbers.
# Sideways: :doc:`A sparse dictionary </gallery/first_kernels/sparse_lookup>`, on kernels that search.
