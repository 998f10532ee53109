"""
Sort and search on the GPU
==========================

At what size does sorting on the GPU pay?
"""
# %%
# Sort on the GPU what is there already: CuPy sorts seventeen million numbers in
# :measured:`sort[cupy, 4096**2].time`, and NumPy on all threads in
# :measured:`sort[numpy_threads, 4096**2].time`. If they start and end on the CPU, keep them in pinned memory:
# that takes :measured:`sort[with_copies_pinned, 4096**2].time`, copies included. Leave small sorts to NumPy.
#
# .. headline:: Copies included, the GPU wins from a hundred thousand numbers on
#
# .. drawn:: sort_search
#
#     ax = gg.plot_time(
#         results,
#         variants=["numpy_threads", "with_copies", "with_copies_pinned"],
#         crossover=("numpy_threads", "with_copies_pinned"),
#     )
#     ax.set_xlabel("numbers")
#     ax.figure.set_size_inches(7.2, 3.4)

# %%
# The functions of NumPy, under the same names
# --------------------------------------------
#
# ``sort`` orders the numbers. ``argsort`` gives the indices that would sort them. ``searchsorted`` gives the
# place in sorted keys at which a number belongs: below, 3 is none of the keys and belongs at place 1.

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
# Numbers from the CPU: keep them in pinned memory
# ------------------------------------------------
#
# Most programs have their numbers on the CPU, so two copies come on top of the sort. The GPU reads and writes
# an array in :term:`pinned memory` directly, without a detour. Such an array takes long to make: make it
# once, and use it for many sorts.

import cupyx

x_host = cupyx.empty_pinned(4096 * 4096, dtype=np.float32)  # once, for many sorts
x_host[:] = np.random.default_rng(0).random(x_host.size, dtype=np.float32)
x = cp.empty(x_host.size, dtype=np.float32)

x.set(x_host)
x.sort()  # in place: cp.sort(x) would copy x first
x.get(out=x_host)
print(x_host[:3], "...", x_host[-3:])

# %%
# Copies included, the sort takes :measured:`sort[with_copies_pinned, 4096**2].time` like this, and from
# ordinary, :term:`pageable memory` :measured:`sort[with_copies, 4096**2].time`. The sort itself is a small
# part of either. A thousand numbers show the other end: NumPy has sorted them in
# :measured:`sort[numpy, 10**3].time`, before Python has handed the GPU its work.
#
# .. dropdown:: The rival: a sort on all threads
#
#    NumPy sorts on one thread. To be fair, we made a sort of ``np.sort`` that uses all of them: each thread
#    sorts a part, the parts are divided up by value, and each thread sorts what it gets. Below 2\ :sup:`20`
#    numbers it uses one thread.
#
# .. kernel:: gpuguide.topics.sort_search.cpu
#    :names: numpy_threads
#    :fold: The sort on all threads
#
# .. kernel:: gpuguide.topics.sort_search.study
#    :names: numpy, with_copies
#    :fold: The sort on one thread, and the one with pageable copies

# %%
# Sort rows as one flat array
# ---------------------------
#
# Avoid ``axis=1`` where time matters. CuPy sorts a flat array of numbers by a *radix sort*, which compares
# nothing: in each pass it looks at a few bits of each number, and moves all numbers to where these bits put
# them. With an axis it takes another, slower path.

matrix_host = np.random.default_rng(0).random((4096, 4096), dtype=np.float32)
matrix = cp.asarray(matrix_host)
by_row = cp.sort(matrix, axis=1)
print("CuPy: ", by_row[0, :3])
print("NumPy:", np.sort(matrix_host[0])[:3])

# %%
# Here CuPy gives each element the number of its row, and sorts the whole matrix
# `by comparing pairs <https://github.com/cupy/cupy/blob/main/cupy/cuda/cupy_thrust.cu>`__ of row and value.
# It takes :measured:`rows[rows_cupy, 4096**2].time`, hardly less than NumPy on all threads, with
# :measured:`rows[rows_numpy_threads, 4096**2].time`.
#
# A detour leads back to the radix sort: put the number of the row in front of each element's bits, sort all
# of it as one flat array, and cut the row off again. It works for numbers that are not negative, whose bits
# rise with their values.

row = cp.arange(4096, dtype=cp.uint64)[:, None] << 32
packed = (row | matrix.view(cp.uint32)).ravel()
packed.sort()
again = packed.astype(cp.uint32).view(cp.float32).reshape(matrix.shape)
print("the same:", bool((again == by_row).all()))

# %%
# .. headline:: Rows are sorted far faster if they are packed into one flat array

# draw
from gpuguide.charts.shapes import plot_dots

times = {
    "one flat array": results.time("cupy", 4096**2),
    "rows, packed": rows.time("rows_packed", 4096**2),
    "rows, axis=1": rows.time("rows_cupy", 4096**2),
}
_ = plot_dots(
    {f"{name}: {time}": time for name, time in times.items()},
    "time of the kernels",
)

# %%
# The packed numbers have twice as many bits and still take far less time, because nothing is compared.
# :evidence:`variant rows_packed`

# %%
# argsort and searchsorted
# ------------------------
#
# Both gain more than the sort does. In an ``argsort`` an index moves along with each number. A search among a
# million keys takes about twenty comparisons for each number, one after the other, and on the GPU very many
# searches run side by side.
#
# NumPy sorts on one thread, and we let it search on all. For CuPy the arrays are on the GPU.
#
# .. list-table:: A million numbers
#    :header-rows: 1
#
#    * - function
#      - NumPy
#      - CuPy
#    * - ``sort``
#      - :measured:`sort[numpy, 10**6].time`
#      - :measured:`sort[cupy, 10**6].time`
#    * - ``argsort``
#      - :measured:`argsort[argsort_numpy, 10**6].time`
#      - :measured:`argsort[argsort_cupy, 10**6].time`
#    * - ``searchsorted``
#      - :measured:`search[search_numpy_threads, 10**6].time`
#      - :measured:`search[search_cupy, 10**6].time`
#
# :doc:`/gallery/first_kernels/sparse_lookup` makes such a search faster still, with kernels of its own.
#
# .. dropdown:: What limits the sort
#
#    A sort must read each number and write it once. Counting only that, CuPy in place moves 10\ :sup:`8`
#    numbers at :measured:`sort[cupy_in_place, 10**8].share` of the rate of a plain copy. But the memory
#    really moves :measured:`sort[cupy_in_place, 10**8].counter(dram_bytes)`, because a radix sort goes over
#    the numbers several times: once to count them, and then once for every eight of their 32 bits, to read
#    and move all of them. :evidence:`counter dram_bytes` The longest of these passes moves
#    :measured:`sort[cupy_in_place, 10**8].counter(dram_throughput)`, a copy :measured:`ceiling_copy`. We
#    think that a pass falls behind because it scatters the numbers to 256 places. :evidence:`opinion`
#
#    A thousand numbers take :measured:`sort[cupy_in_place, 10**3].time` on the GPU, and
#    :measured:`sort[cupy_in_place, 10**3].launch` of Python's time to ask for it.

# %%
# .. remember::
#
#    - Sort on the GPU what is there already: seventeen million numbers take
#      :measured:`sort[cupy, 4096**2].time`, and NumPy on all threads
#      :measured:`sort[numpy_threads, 4096**2].time`.
#    - Leave sorts of less than a hundred thousand numbers to NumPy if they start and end on the CPU.

# %%
# Your turn: remove needless copies
# ---------------------------------
#
# The copies moved the crossover on this page. In a program they are easy to miss: one call that looks
# harmless sends an array to the GPU or fetches one. Find those that can go. The check counts them, without a
# GPU.
#
# .. exercise:: count_transfers

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "NumPy, all threads": "numpy_threads",
    "CuPy, pinned copies": "with_copies_pinned",
    "CuPy": "cupy",
}
times = {label: results.time(name, 4096**2) for label, name in names.items()}
_ = thumbnail.bars(times, "time for 17 million numbers")

# %%
# Next
# ----
#
# Next: :doc:`/gallery/cupy/convolution`, for images. See also: :doc:`/gallery/measuring/how_to_time`, on the
# clocks behind these numbers, and :doc:`/gallery/first_kernels/sparse_lookup`, on kernels that search.
