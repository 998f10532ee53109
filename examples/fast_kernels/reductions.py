"""
Reductions: one sum from many threads
=====================================

How do thousands of threads add up a single number, and when is ``cp.sum`` enough?
"""
# %%
# For a plain sum, call ``cp.sum``: it reads 268 million numbers in :measured:`total[sum_cupy, 2**28].time`.
# In a kernel of your own, let each thread add up many numbers first, then let each block add up its threads,
# and touch the result once per block. That takes :measured:`total[many_per_thread, 2**28].time`; one atomic
# addition for every number takes :measured:`total[one_atomic_each, 2**28].time`. Such a kernel pays when
# there is more to do in the same pass: a scalar product is :measured:`product[dot, 10**8].speedup(dot_cupy)`
# as fast as ``cp.dot``.
#
# .. headline:: Add up within threads, then within blocks, and only then across the grid
#
# .. drawn:: reductions
#
#    import matplotlib.pyplot as plt
#
#    from gpuguide.charts.style import CUPY, KERNEL, describe, style
#
#    names = {
#        "one number per thread": "tree",
#        "many per thread": "strided_tree",
#        "many loads at once": "many_per_thread",
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
# first thread holds the sum of the block. Between two steps, ``cuda.syncthreads()`` makes all threads of the
# block wait for each other. At the end one thread adds the sum of its block to the result. Its addition is
# *atomic*: no other block's comes in between.
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
    largest_of_all,
    largest_of_blocks,
    many_per_thread,
    one_atomic_each,
    one_block,
    strided_tree,
    sums_of_blocks,
    warp_per_row,
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
# But all additions to one address wait in a queue, and here there are
# :measured:`total[one_atomic_each, 2**28].work(atomics)` of them, where the tree makes
# :measured:`total[tree, 2**28].work(atomics)`. :evidence:`count atomics` It takes
# :measured:`total[tree, 2**28].speedup(one_atomic_each)` as long. Use atomics for what is left when a block
# has done its own work.

# %%
# Many numbers for each thread
# ----------------------------
#
# In the tree, most threads wait most of the time. So let a thread add up many numbers by itself before its
# block comes together once: launch only as many blocks as the GPU runs at the same time, and let each thread
# walk through the array in steps of the whole grid.
#
# .. rung:: strided_tree

out[:] = 0
strided_tree[528, BLOCK](x, out)
print("GPU:  ", out[0])

# %%
# This reaches :measured:`total[strided_tree, 2**28].share` of the memory's speed. What is left of the gain is
# in the loads.

# %%
# Loads that do not wait, and shuffles
# ------------------------------------
#
# In that loop a thread has few loads on their way. If it knows all its numbers in advance, here 32 that are a
# block's width apart, the loop is unrolled, and no load waits for another. The 32 threads of a :term:`warp`
# then exchange their sums by *shuffles*, ``cuda.shfl_down_sync``, which need no shared memory and no barrier.
# Only the sums of the warps go through shared memory.
#
# .. rung:: many_per_thread

out[:] = 0
n_blocks = (x.size + BLOCK * PER_THREAD - 1) // (BLOCK * PER_THREAD)
many_per_thread[n_blocks, BLOCK](x, out)
print("GPU:  ", out[0])

# %%
# Now the kernel reads at :measured:`total[many_per_thread, 2**28].share` of the memory's speed, and no sum
# can be faster. It is mostly the loads: with the tree in the place of the shuffles it takes
# :measured:`total[many_by_tree, 2**28].time`. :evidence:`variant many_by_tree`
#
# .. dropdown:: Is it the atomic additions that make the first tree slow?
#
#    If each block of the first tree stores its sum and another launch adds these up, there are no atomics at
#    all. Then the sum takes :measured:`total[stored_tree, 2**28].time` instead of
#    :measured:`total[tree, 2**28].time`.
#
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: many_by_tree, stored_tree
#    :fold: The tree with many numbers per thread, and without atomics

# %%
# Two launches: the same bits each time
# -------------------------------------
#
# Atomic additions come in any order, and ``float32`` :term:`rounds <rounding>` differently in each: the last
# bits of such a sum change from run to run. If that matters, let each block store its sum, and let another
# launch, of a single block, add these up, always in the same order. No result has to be cleared, either.
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
# The other launch costs next to nothing: both take :measured:`total[two_launches, 2**28].time`.

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
# When a kernel of your own pays
# ------------------------------
#
# **More in one pass.** A scalar product multiplies and adds up. ``cp.dot`` takes
# :measured:`product[dot_cupy, 10**8].time` for 100 million pairs, and the kernel below
# :measured:`product[dot, 10**8].time`. A ``ReductionKernel`` of one line needs a single pass, too, and takes
# :measured:`product[dot_reduction, 10**8].time`.
#
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: dot

y = x + 1
out[:] = 0
dot[1056, 256](x, y, out)
print("GPU:  ", out[0])
print("NumPy:", np.dot(x.get().astype(np.int64), y.get().astype(np.int64)))

# %%
# **Something else than a sum.** Whatever can be grouped in any way can be reduced so: the largest number and
# its place are a pair, and of two pairs the larger value wins, or, of equal ones, the first place. For this
# one, ``cp.argmax`` is there already and takes :measured:`place[argmax_cupy, 2**28].time`; two launches of
# ours take :measured:`place[largest, 2**28].time`.
#
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: largest_of_warp, largest_of_block, largest_of_blocks, largest_of_all
#    :fold: The largest number and its place

# %%

# fold: Their launches
from numba import int32

values = cp.empty(n_blocks, dtype=cp.float32)
firsts, place = cp.empty(n_blocks, dtype=cp.int32), cp.empty(1, dtype=cp.int32)
largest_of_blocks[n_blocks, BLOCK](x, values, firsts)
largest_of_all[1, BLOCK](values, firsts, place)
print("GPU:  ", place[0])
print("NumPy:", x.get().argmax())

# %%
# **Sums of rows.** Share the work by the shape: many short rows get a warp each, few long rows many blocks
# each. A thread for each row reads far from its neighbours; a thread for each *column* reads beside them.
#
# .. list-table:: 64 million numbers
#    :header-rows: 1
#
#    * - who adds up
#      - a million rows of 64
#      - 64 rows of a million
#    * - a thread per row
#      - :measured:`short_rows[thread_per_row, 64*10**6].time`
#      - :measured:`long_rows[thread_per_row, 64*10**6].time`
#    * - a warp per row
#      - :measured:`short_rows[warp_per_row, 64*10**6].time`
#      - :measured:`long_rows[warp_per_row, 64*10**6].time`
#    * - a block per row
#      - :measured:`short_rows[block_per_row, 64*10**6].time`
#      - :measured:`long_rows[block_per_row, 64*10**6].time`
#    * - many blocks per row
#      - –
#      - :measured:`long_rows[blocks_per_row, 64*10**6].time`
#    * - ``cp.sum``, ``axis=1``
#      - :measured:`short_rows[rows_cupy, 64*10**6].time`
#      - :measured:`long_rows[rows_cupy, 64*10**6].time`
#
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: warp_per_row, blocks_per_row

a = x.reshape(-1, 64)
out = cp.empty(len(a), dtype=cp.float32)
warp_per_row[(len(a) + 7) // 8, 256](a, out)  # eight warps in a block
print("a warp per row:      ", out[:4], " NumPy:", a[:4].get().sum(axis=1))
a = x.reshape(64, -1)
out = cp.zeros(len(a), dtype=cp.float32)
blocks_of_a_row = (a.shape[1] + BLOCK * PER_THREAD - 1) // (BLOCK * PER_THREAD)
blocks_per_row[(blocks_of_a_row, len(a)), BLOCK](a, out)
print("many blocks per row: ", out[:3], " NumPy:", a[:3].get().sum(axis=1))

# %%
# .. kernel:: gpuguide.topics.reductions.kernels
#    :names: thread_per_row, block_per_row, thread_per_column
#    :fold: The other kernels for rows, and one for columns
#
# .. headline:: The longer the array, the more it matters how you add up

# draw
gg.plot_time(results, variants=["sum_cupy", "tree", "many_per_thread", "sum_threads"])

# %%

# draw
n = 2**28
gg.claim(results, "tree", faster_than="one_atomic_each", at=n, by=50)
gg.claim(results, "strided_tree", faster_than="tree", at=n, by=2)
gg.claim(results, "many_per_thread", faster_than="strided_tree", at=n, by=1.05)
gg.claim(results, "many_per_thread", share_at_least=0.88, at=n)
gg.claim(results, "sum_cupy", share_at_least=0.88, at=n)
gg.claim(products, "dot", faster_than="dot_cupy", at=10**8, by=2.5)
gg.claim(
    long_rows,
    "blocks_per_row",
    faster_than=["thread_per_row", "warp_per_row"],
    at=64 * 10**6,
    by=3,
)

# %%
# .. kernel:: gpuguide.topics.reductions.study
#    :names: adding, two_launches, stored_tree, largest
#    :fold: The launches as they are timed

# %%
# .. remember::
#
#    - For a plain sum, maximum or ``argmax``, call CuPy's: ``cp.sum`` reaches
#      :measured:`total[sum_cupy, 2**28].share` of the memory's speed.
#    - In a kernel, add up many numbers in each thread, then the block by shuffles or a tree, and make one
#      atomic addition per block.
#    - Store one sum per block, and add these up in another launch, if the result must be the same to the last
#      bit each time.

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
# Next: :doc:`Scan: running totals, and what to keep </gallery/fast_kernels/scan>`, where every element needs
# the sum of all before it. See also: :doc:`Which kind of kernel to write
# </gallery/fast_kernels/kernel_families>`, on ``ReductionKernel`` and CUB.
