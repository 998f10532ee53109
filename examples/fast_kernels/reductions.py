"""
Reductions: one sum from many threads
=====================================

How do thousands of threads add up a single number, and when is ``cp.sum`` enough?
"""
# %%
# For a plain sum, call ``cp.sum``: it reads 268 million numbers in :measured:`total[sum_cupy, 2**28].time`,
# at :measured:`total[sum_cupy, 2**28].share` of the memory's speed. If your own kernel has to add something
# up, let each thread add up many numbers, then each block its threads, and change the result once per block.
# That is as fast as ``cp.sum``, while one atomic addition for each number takes
# :measured:`total[one_atomic_each, 2**28].time`.
#
# .. headline:: With many numbers for each thread, your kernel is as fast as cp.sum
#
# .. drawn:: reductions
#
#    import matplotlib.pyplot as plt
#
#    from gpuguide.charts.style import CUPY, KERNEL, describe, style
#
#    names = {
#        "one per thread": "tree",
#        "many per thread": "strided_tree",
#        "loads at once": "many_per_thread",
#        "cp.sum": "sum_cupy",
#    }
#    times = {label: results.time(name, 2**28) for label, name in names.items()}
#    longest = max(time.value for time in times.values())
#    with style():
#        ax = plt.subplots(figsize=(7.2, 2.0))[1]
#        for row, (label, time) in enumerate(times.items()):
#            ax.barh(row, time.value, 0.6, color=CUPY if label == "cp.sum" else KERNEL)
#            ax.text(time.value, row, f"  {time}", va="center", weight="bold")
#        ax.set_yticks(range(4), list(times))
#        ax.set(xlim=(0, 1.25 * longest), xticks=[], ylim=(3.5, -0.5))
#        ax.grid(visible=False)
#        ax.spines["bottom"].set_visible(False)
#        words = "; ".join(f"{label} {time}" for label, time in times.items())
#        describe(ax, f"Time of a sum of 2**28 numbers. {words}.")

# %%
# A sum in each block
# -------------------
#
# The threads of a block share a piece of fast memory, :term:`shared memory`. Each puts its number there. Then
# half of the threads add the number of another thread to their own, then a quarter, and so on, until the
# first thread holds the sum of the block: nine steps for 512 threads. Between two steps,
# ``cuda.syncthreads()`` makes all threads of the block wait for each other. At the end one thread adds the
# sum of its block to the result. This addition is *atomic*: no other block can come in between.
#
# .. drawing:: reductions
#
#     Eight numbers in a row. In the first step four threads each add the number four places to the right, in
#     the second step two threads add the number two places to the right, in the third step one thread adds
#     its neighbour and holds the sum, 31.
#
# .. rung:: tree

import cupy as cp
import numpy as np
from numba import cuda, float32

BLOCK = 512


@cuda.jit(device=True)
def tree_of_block(total):
    """Return the sum over a block, in thread 0: in each step half as many add."""
    sums = cuda.shared.array(BLOCK, float32)
    thread = cuda.threadIdx.x
    sums[thread] = total
    half = BLOCK // 2
    while half > 0:
        cuda.syncthreads()  # the sums of the step before are all there
        if thread < half:
            sums[thread] += sums[thread + half]
        half //= 2
    return sums[thread]


@cuda.jit
def tree(x, out):
    """Each block adds up 512 numbers, and adds its sum to the result."""
    i = cuda.grid(1)
    total = tree_of_block(x[i] if i < x.size else float32(0))
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, total)


x = cp.arange(2**22, dtype=cp.float32) % 3  # 0, 1, 2, 0, ...: sums are exact in any order
out = cp.zeros(1, dtype=cp.float32)
tree[(x.size + BLOCK - 1) // BLOCK, BLOCK](x, out)
print("GPU:  ", out[0])
print("NumPy:", np.sum(x.get()))

# %%
# .. try-it::
#
#    Launch the kernel twice. The result doubles: blocks add to what ``out`` holds, so make it zero before
#    each launch. Then give ``x`` only 5 numbers. Threads without a number add 0, and take part in all steps.

# %%

# record: The studies: a sum, a scalar product, the largest, rows and columns; each checked, then timed
from gpuguide.topics.reductions import study as reductions
from gpuguide.topics.reductions.kernels import (
    PER_THREAD,
    blocks_per_row,
    dot,
    eight_per_row,
    largest_of_all,
    largest_of_blocks,
    many_per_thread,
    one_atomic_each,
    one_block,
    strided_tree,
    sums_of_blocks,
)

results = reductions.total.run()
products = reductions.product.run()
places = reductions.place.run()
short_rows = reductions.short_rows.run()
long_rows = reductions.long_rows.run()
columns = reductions.columns.run()

# %%
# What goes wrong: every thread adds to the result
# ------------------------------------------------
#
# The shortest kernel lets every thread add its number to the result, and is right as well:
#
# .. rung:: one_atomic_each
#    :beside:

out[:] = 0
one_atomic_each[(x.size + BLOCK - 1) // BLOCK, BLOCK](x, out)
print("GPU:  ", out[0])

# %%
# But additions to one address are carried out one after the other, and here there are
# :measured:`total[one_atomic_each, 2**28].work(atomics)` of them; the time grows as their number does.
# :evidence:`count atomics` The tree, with :measured:`total[tree, 2**28].work(atomics)`, is
# :measured:`total[tree, 2**28].speedup(one_atomic_each)` as fast. Use atomics for what is left when a block
# has done its own work.

# %%
# Many numbers for each thread
# ----------------------------
#
# The tree still reads at less than a fifth of the memory's speed. What its threads wait for most often is a
# barrier, :evidence:`counter stall_cycles` and the nine steps make up most of its
# :measured:`total[tree, 2**28].counter(instructions)` instructions. A block should go through them for many
# numbers, and not for 512. Therefore, launch only as many blocks as the GPU can run at the same time, and let
# each thread walk through the array in steps of the whole grid before its block comes together. The H200 runs
# 528 blocks of 512 threads at a time, four on each of its 132 multiprocessors.
#
# .. rung:: strided_tree

out[:] = 0
strided_tree[528, BLOCK](x, out)
print("GPU:  ", out[0])

# %%
# The instructions go down to :measured:`total[strided_tree, 2**28].counter(instructions)`, and the time goes
# down with them. :evidence:`counter instructions`
#
# .. dropdown:: Is it the atomic additions that make the tree slow?
#
#    No. If each block of the tree stores its sum, and another launch adds up these sums, there are no atomics
#    at all, but the sum takes :measured:`total[stored_tree, 2**28].time` instead of
#    :measured:`total[tree, 2**28].time`. :evidence:`variant stored_tree`
#
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: stored_tree
#    :fold: The tree without atomics

# %%
# Many loads at once, and shuffles
# --------------------------------
#
# A thread of that loop asks for a few numbers, works out where the next ones stand, and asks again. Give it a
# fixed number instead, here 32 that are a block's width apart. Then the compiler unrolls the loop, and no
# load has to wait for another.
#
# The 32 threads of a :term:`warp` then exchange their sums by *shuffles*, ``cuda.shfl_down_sync``, which need
# no shared memory and no barrier. Only the sums of the warps go through shared memory.
#
# .. rung:: many_per_thread

out[:] = 0
n_blocks = (x.size + BLOCK * PER_THREAD - 1) // (BLOCK * PER_THREAD)
many_per_thread[n_blocks, BLOCK](x, out)
print("GPU:  ", out[0])

# %%
# Now there is next to nothing left to gain. It is the loads that helped: with the tree in place of the
# shuffles, the kernel is just as fast. :evidence:`variant many_by_tree`
#
# .. dropdown:: What the loop in steps of the grid costs
#
#    The compiler unrolls it by four, so that at most four loads are on their way before the thread adds up.
#    The loop also computes more: its integer units are busy for
#    :measured:`total[strided_tree, 2**28].counter(alu_active)` of the time, compared with
#    :measured:`total[many_per_thread, 2**28].counter(alu_active)` where the 32 numbers are known in advance.
#    :evidence:`counter alu_active` Part of that is ``range``; :doc:`a while loop takes less
#    </gallery/first_kernels/numba_types>`. Which of the two matters more was not tested.
#
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: many_by_tree
#    :fold: The tree with many numbers per thread

# %%
# Two launches: the same bits each time
# -------------------------------------
#
# Atomic additions come in any order, and ``float32`` :term:`rounds <rounding>` differently in each, so the
# last bits of such a sum can change from run to run. If that matters, let each block store its sum, and let
# another launch, of a single block, add these up, always in the same order. Besides, ``out`` need not be
# cleared first, which the times above include.
#
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: sums_of_blocks, one_block

from numba import config

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba warns of a launch with a single block
sums = cp.empty(n_blocks, dtype=cp.float32)
sums_of_blocks[n_blocks, BLOCK](x, sums)
one_block[1, BLOCK](sums, out)
print("GPU:  ", out[0])

# %%
# The second launch costs next to nothing: together they reach
# :measured:`total[two_launches, 2**28].share` of the memory's speed.

# %%
# What goes wrong: a step without a barrier
# -----------------------------------------
#
# Without ``cuda.syncthreads()``, a thread may add a number that another one has not stored yet. On a GPU such
# a kernel is often right by luck. ``gg.trace`` runs it thread by thread in plain Python and finds the mistake
# on any computer:

# wrong: a tree without a barrier
import gpuguide as gg


@cuda.jit
def hasty(x, out):
    sums = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    sums[thread] = x[thread]
    half = 32
    while half > 0:
        if thread < half:
            sums[thread] += sums[thread + half]
        half //= 2
    if thread == 0:
        out[0] = sums[0]


print(gg.trace(hasty[1, 64], x[:64], out))

# %%
# The cure is a barrier at the beginning of each step, outside of the ``if``, so that all threads come to it.

# %%
# More in one pass: a scalar product
# ----------------------------------
#
# A kernel of your own pays where CuPy needs several passes. ``cp.dot`` of two vectors writes all products
# into a new array and then adds that up, exactly as ``cp.sum(x * y)`` does.
# :evidence:`variant multiply_and_sum` For 100 million pairs this takes
# :measured:`product[dot_cupy, 10**8].time`. A kernel that multiplies while it adds up takes
# :measured:`product[dot, 10**8].time`:
#
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: dot

y = x + 1
out[:] = 0
dot[1056, 256](x, y, out)
print("GPU:  ", out[0])
print("NumPy:", np.dot(x.get().astype(np.int64), y.get().astype(np.int64)))

# %%
# For this very product you need no kernel: ``cublas.dot(x, y)``, after ``from cupy import cublas``, reads
# each vector once, too, and takes :measured:`product[dot_cublas, 10**8].time`. Write a kernel for what has no
# such call, such as a sum of squared differences.

# %%
# What goes wrong: a ReductionKernel of two arrays
# ------------------------------------------------
#
# This line makes a single pass, too, but takes :measured:`product[dot_reduction, 10**8].time`:
# ``cp.ReductionKernel("T x, T y", "T out", "x * y", "a + b", "out = a", "0")(x, y)``. CuPy leaves only
# reductions of one array to the library CUB, as `its source
# <https://github.com/cupy/cupy/blob/main/cupy/_core/_cub_reduction.pyx>`__ says. Otherwise it starts one
# block for each result, and here there is one result. With CUB switched off, a single array is as slow: its
# sum takes :measured:`kernel_families:switched[reduction_without, 10**8].time` instead of
# :measured:`kernel_families:switched[reduction_cub, 10**8].time`. Therefore, give a ``ReductionKernel`` one
# array.

# %%
# The largest number and its place
# --------------------------------
#
# Whatever may be grouped in any way can be reduced like a sum. The largest number and its place are a pair:
# of two pairs the larger number wins, or, if they are equal, the first place. For this one, call
# ``cp.argmax``, which takes :measured:`place[argmax_cupy, 2**28].time`. Two launches of our own, which show
# how to carry a pair, take :measured:`place[largest, 2**28].time`.
#
# Each thread loads its 32 numbers into an array of its own, a ``cuda.local.array``, before it compares any.
# The compiler unrolls both loops and keeps this array in registers; it would unroll a single loop that loads
# and compares by four only.
#
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: largest_of_warp, largest_of_block, largest_of_thread, largest_of_blocks, largest_of_all
#    :fold: The largest number and its place

# %%

# fold: Launch both kernels, and compare with NumPy
from numba import int32

values = cp.empty(n_blocks, dtype=cp.float32)
firsts, place = cp.empty(n_blocks, dtype=cp.int32), cp.empty(1, dtype=cp.int32)
largest_of_blocks[n_blocks, BLOCK](x, values, firsts)
largest_of_all[1, BLOCK](values, firsts, place)
print("GPU:  ", place[0])
print("NumPy:", x.get().argmax())

# %%
# Sums of rows and columns
# ------------------------
#
# Start with ``cp.sum`` and its ``axis``, which is one line for any shape. A kernel that is made for the shape
# is faster, be it for many short rows, a few long ones, or columns.
#
# .. list-table:: 64 million numbers
#    :header-rows: 1
#
#    * - sums of
#      - CuPy
#      - our kernel
#      - which gives
#    * - a million rows of 64
#      - :measured:`short_rows[rows_cupy, 64*10**6].time`
#      - :measured:`short_rows[eight_per_row, 64*10**6].time`
#      - eight threads to each row
#    * - 64 rows of a million
#      - :measured:`long_rows[rows_cupy, 64*10**6].time`
#      - :measured:`long_rows[blocks_per_row, 64*10**6].time`
#      - many blocks to each row
#    * - a million columns of 64
#      - :measured:`columns[columns_cupy, 64*10**6].time`
#      - :measured:`columns[thread_per_column, 64*10**6].time`
#      - a thread to each column
#
# The shape decides how to share the work. Down a column, a thread's neighbours read beside it; along a row,
# let neighbouring threads walk side by side, so few that each has several numbers to load at once: a row of
# 64 is eight loads for each of eight threads. Share out a row among many blocks if there are fewer rows than
# multiprocessors.
#
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: eight_per_row, blocks_per_row

a = x.reshape(-1, 64)
out = cp.empty(len(a), dtype=cp.float32)
eight_per_row[(len(a) + 31) // 32, 256](a, out)  # 32 rows in a block
print("eight threads per row:", out[:4], " NumPy:", a[:4].get().sum(axis=1))
a = x.reshape(64, -1)
out = cp.zeros(len(a), dtype=cp.float32)
blocks_of_a_row = (a.shape[1] + BLOCK * PER_THREAD - 1) // (BLOCK * PER_THREAD)
blocks_per_row[(blocks_of_a_row, len(a)), BLOCK](a, out)
print("many blocks per row:  ", out[:3], " NumPy:", a[:3].get().sum(axis=1))

# %%
# .. dropdown:: Other ways to share out rows
#
#    .. list-table:: 64 million numbers
#       :header-rows: 1
#
#       * - who adds up a row
#         - a million rows of 64
#         - 64 rows of a million
#       * - a thread
#         - :measured:`short_rows[thread_per_row, 64*10**6].time`
#         - :measured:`long_rows[thread_per_row, 64*10**6].time`
#       * - eight threads
#         - :measured:`short_rows[eight_per_row, 64*10**6].time`
#         - :measured:`long_rows[eight_per_row, 64*10**6].time`
#       * - a block
#         - :measured:`short_rows[block_per_row, 64*10**6].time`
#         - :measured:`long_rows[block_per_row, 64*10**6].time`
#       * - many blocks
#         - –
#         - :measured:`long_rows[blocks_per_row, 64*10**6].time`
#
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: thread_per_column, thread_per_row, block_per_row
#    :fold: The kernel for columns, and the others for rows
#
# .. headline:: The longer the array, the more it matters how you add up

# draw
gg.plot_time(results, variants=["sum_cupy", "tree", "many_per_thread", "sum_threads"])

# %%

# draw
n = 2**28
rows = 64 * 10**6
gg.claim(results, "tree", faster_than="one_atomic_each", at=n, by=300)
gg.claim(results, "strided_tree", faster_than="tree", at=n, by=4)
gg.claim(results, "many_per_thread", faster_than="strided_tree", at=n, by=1.07)
gg.claim(results, "many_per_thread", share_at_least=0.88, at=n)
gg.claim(results, "two_launches", share_at_least=0.86, at=n)
gg.claim(results, "sum_cupy", share_at_least=0.88, at=n)
gg.claim(products, "dot", faster_than=["dot_cupy", "multiply_and_sum"], at=10**8, by=2.8)
gg.claim(products, "dot_cublas", faster_than="dot_cupy", at=10**8, by=2.5)
gg.claim(products, "dot", faster_than="dot_reduction", at=10**8, by=100)
gg.claim(places, "largest", share_at_least=0.8, at=n)
gg.claim(short_rows, "rows_cupy", faster_than="thread_per_row", at=rows, by=1.6)
gg.claim(short_rows, "eight_per_row", faster_than="rows_cupy", at=rows, by=1.6)
gg.claim(
    short_rows,
    "eight_per_row",
    faster_than=["thread_per_row", "block_per_row"],
    at=rows,
    by=3,
)
gg.claim(long_rows, "blocks_per_row", faster_than="rows_cupy", at=rows, by=1.9)
gg.claim(columns, "thread_per_column", faster_than="columns_cupy", at=rows, by=1.8)

# %%
# .. kernel:: gpuguide.topics.reductions.study
#    :names: two_launches, stored_tree
#    :fold: The launches as they are timed

# %%
# .. remember::
#
#    - For a sum, a maximum or ``argmax``, call CuPy: ``cp.sum`` reaches
#      :measured:`total[sum_cupy, 2**28].share` of the memory's speed.
#    - In a kernel, add up many numbers in each thread, then each block, and make one atomic addition per
#      block. For the same bits each time, store the blocks' sums, and add them up in a second launch.

# %%
# Your turn: a sum in two launches
# --------------------------------
#
# .. exercise:: sum_in_two_launches
#
# Before it, the tree alone; after it, two more reductions:
#
# .. exercise:: block_reduction
#
# .. exercise:: row_sums
#
# .. exercise:: largest_and_its_place

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "one per thread": "tree",
    "many per thread": "strided_tree",
    "loads at once": "many_per_thread",
}
times = {label: results.time(name, 2**28) for label, name in names.items()}
_ = thumbnail.bars(times, "time of a sum")

# %%
# Next
# ----
#
# Next: :doc:`Atomics: count without losing any </gallery/fast_kernels/atomics>`, where there are many
# results. See also: :doc:`Scan: running totals, and what to keep </gallery/fast_kernels/scan>`, where every
# element needs the sum of all before it, and :doc:`Which kind of kernel to write
# </gallery/fast_kernels/kernel_families>`, on ``ReductionKernel`` and CUB.
