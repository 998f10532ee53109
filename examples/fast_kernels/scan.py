"""
Scan: running totals, and what to keep
======================================

How can every element get the sum of all before it, when threads work at the same time?
"""
# %%
# For running totals, also called a *scan*, call ``cp.cumsum``, and to keep some elements write ``x[x > 0]``.
# If your program spends its time there, write three short steps: add up each piece of the array, take the
# running totals of these few sums, and then fill in the pieces. For 268 million numbers they take
# :measured:`running[totals_of_pieces, 2**28].time` instead of :measured:`running[cumsum_cupy, 2**28].time`.
# With counts in place of sums, they keep half of the numbers in :measured:`kept[own_kernels, 2**28].time`
# instead of :measured:`kept[mask_cupy, 2**28].time`.
#
# .. headline:: Three short steps are faster than cp.cumsum, and a single launch is faster still
#
# .. drawn:: scan
#
#    import matplotlib.pyplot as plt
#
#    from gpuguide.charts.style import CUPY, KERNEL, describe, style
#
#    names = {
#        "cp.cumsum": "cumsum_cupy",
#        "three steps": "totals_of_pieces",
#        "one launch": "look_back",
#    }
#    times = {label: results.time(name, 2**28) for label, name in names.items()}
#    longest = max(time.value for time in times.values())
#    with style():
#        ax = plt.subplots(figsize=(7.2, 1.7))[1]
#        for row, (label, time) in enumerate(times.items()):
#            ax.barh(row, time.value, 0.6, color=CUPY if label == "cp.cumsum" else KERNEL)
#            ax.text(time.value, row, f"  {time}", va="center", weight="bold")
#        ax.set_yticks(range(3), list(times))
#        ax.set(xlim=(0, 1.25 * longest), xticks=[], ylim=(2.5, -0.5))
#        ax.grid(visible=False)
#        ax.spines["bottom"].set_visible(False)
#        words = "; ".join(f"{label} {time}" for label, time in times.items())
#        describe(ax, f"Time of the running totals of 2**28 numbers. {words}.")

# %%
# Within a block: double the distance
# -----------------------------------
#
# In the first round each thread adds the number one place to its left, and then holds the sum of two numbers.
# In the second round it adds what the thread two places to its left holds by now, which makes a sum of four.
# The distance doubles each time, so 256 numbers take 8 rounds. In each round a thread reads what another one
# is about to overwrite. Therefore, a round has two barriers: all threads read before any of them adds.
#
# .. rung:: block_totals
#    :beside:

import cupy as cp
import numpy as np
from numba import cuda, float32

BLOCK = 256


@cuda.jit
def block_totals(x, out):
    """Within each block of 256: in each round, add what stands twice as far to the left."""
    totals = cuda.shared.array(BLOCK, float32)
    thread = cuda.threadIdx.x
    i = cuda.grid(1)
    totals[thread] = x[i] if i < x.size else float32(0)
    distance = 1
    while distance < BLOCK:
        cuda.syncthreads()  # the totals of the round before are all there
        before = totals[thread - distance] if thread >= distance else float32(0)
        cuda.syncthreads()  # all have read before anybody adds
        totals[thread] += before
        distance *= 2
    if i < x.size:
        out[i] = totals[thread]


x = cp.arange(2**22, dtype=cp.float32) % 3  # 0, 1, 2, 0, ...: sums are exact in any order
out = cp.empty_like(x)
block_totals[(x.size + BLOCK - 1) // BLOCK, BLOCK](x, out)
print("first block: ", out[:4], "...", out[254:256])
totals = np.cumsum(x[:256].get())
print("NumPy:       ", totals[:4], "...", totals[254:])
print("second block:", out[256:260], "begins anew")

# %%
# .. try-it::
#
#    Print ``out[255::256][:4]``: the last total of each block is the sum of the block. These sums are all
#    that one block needs to know of another.

# %%

# record: The studies: running totals, in a block and in all, and what is positive
from gpuguide.topics.scan import study as scans
from gpuguide.topics.scan.kernels import (
    PIECE,
    count_positive,
    keep_positive,
    look_back_source,
    sums_of_pieces,
    totals_of_pieces,
)

results = scans.running.run()
within = scans.within.run()
kept = scans.kept.run()

# %%
# Over all blocks: three steps
# ----------------------------
#
# Blocks cannot wait for each other by a barrier, but a launch begins when the one before it is done.
# Therefore, take three steps:
#
# 1. Each block adds up a piece of 4096 numbers, and stores the sum.
# 2. The running totals of these sums say where each piece ends. There are few sums, so ``cp.cumsum`` will do.
# 3. Each block reads its piece again, and computes its running totals from the end of the piece before.
#
# .. drawing:: scan
#
#     Nine numbers in three pieces. Step 1 stores the sum of each piece: 8, 15, 13. Step 2 turns these into
#     running totals: 8, 23, 36. In step 3 each piece continues from the total at the end of the piece before.
#
# Within a piece, each :term:`warp` takes 32 neighbours at a time. Its threads double the distance as above,
# but by *shuffles*, ``cuda.shfl_up_sync``, which hand numbers from thread to thread without memory and
# without barriers.
#
# .. kernel:: gpuguide.topics.scan.kernels
#    :names: sums_of_pieces
#    :fold: Step 1: the sum of each piece
#
# .. rung:: totals_of_pieces
#    :beside:

from numba import uint32

n_blocks = (x.size + PIECE - 1) // PIECE
sums = cp.empty(n_blocks, dtype=cp.float32)
sums_of_pieces[n_blocks, BLOCK](x, sums)
ends = cp.cumsum(sums)
totals_of_pieces[n_blocks, BLOCK](x, ends, out)
print("GPU:  ", out[:4], "...", out[-3:])
print("as NumPy:", bool((out.get() == np.cumsum(x.get())).all()))

# %%
# The three steps read every number twice and write it once, while a copy reads it once. So two thirds of a
# copy's speed is the most that they can reach, and they reach
# :measured:`running[totals_of_pieces, 2**28].share`. :evidence:`counter dram_bytes`
#
# ``cp.cumsum`` first copies the array, and then lets CUB, a library of NVIDIA's, add up in the copy. If the
# array itself may be overwritten, leave the copy out: after ``from cupy.cuda import cub``,
# ``cub.device_scan(x, cub.CUPY_CUB_CUMSUM)`` takes :measured:`running[cub_in_place, 2**28].time`, no longer
# than our three steps. :evidence:`variant cub_in_place`
#
# All of this is for long arrays. Up to a million numbers, take ``cp.cumsum``: until Python has launched the
# three steps, it is done.

# %%
# One launch: look back
# ---------------------
#
# To read the numbers only once, a block must learn the sum of all before it while it holds its piece in
# registers. Each block publishes the sum of its piece as soon as it knows it. Then it
# :term:`looks back <look-back>`: it adds up what the blocks before it have published, until it comes to one
# that has already published its total. It adds its own sum, and publishes its total in turn. The blocks take
# their pieces by a counter, in the order in which they start, so that no block waits for one that has not
# begun. CUB works in the same way, by a `method of Merrill and Garland
# <https://research.nvidia.com/publication/2016-03_single-pass-parallel-prefix-scan-decoupled-look-back>`__.
#
# A number and the mark that says whether it is a sum or a total must become visible together, in one store of
# 8 bytes. We wrote this kernel in CUDA C++, where a thread also loads four numbers at once, and holds 128 of
# them:
#
# .. kernel:: gpuguide.topics.scan.kernels
#    :names: look_back_source
#    :fold: The scan in one launch, in CUDA C++
#
# .. rung:: look_back
#    :beside:

pieces = (x.size + 16_383) // 16_384
state = cp.zeros(pieces + 1, dtype=cp.uint64)  # what blocks publish, and the counter
out[:] = 0
cp.RawKernel(look_back_source, "look_back")(
    (pieces,), (128,), (x, out, state, state[pieces:], np.int64(x.size))
)
print("as NumPy:", bool((out.get() == np.cumsum(x.get())).all()))

# %%
# It is :measured:`running[look_back, 2**28].speedup(totals_of_pieces)` as fast as the three steps, and
# :measured:`running[look_back, 2**28].speedup(cub_in_place)` as fast as CUB in place. It reaches
# :measured:`running[look_back, 2**28].share` of the speed of a copy. Where sums are not exact, its last bits
# may differ from run to run: how far a block looks back depends on chance.
#
# .. dropdown:: Why threads sleep while they wait
#
#    Between two looks, threads that wait for another block sleep. If they kept asking instead, 268 million
#    numbers would take :measured:`running[look_back_awake, 2**28].time` instead of
#    :measured:`running[look_back, 2**28].time`. :evidence:`variant look_back_awake` We think that they would
#    hold up the threads that load and store. For a million numbers, sleep costs more than it gains: they
#    take :measured:`running[look_back_awake, 2**20].time` without, and
#    :measured:`running[look_back, 2**20].time` with it.

# %%
# What goes wrong: one barrier per round
# --------------------------------------
#
# With only one barrier, a thread may read a total to which its owner has already added. On a GPU the result
# is often right by luck. ``gg.trace`` finds the mistake on any computer:

# wrong: a round with one barrier
import gpuguide as gg


@cuda.jit
def hasty(x, out):
    totals = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    totals[thread] = x[thread]
    distance = 1
    while distance < 64:
        cuda.syncthreads()
        if thread >= distance:
            totals[thread] += totals[thread - distance]
        distance *= 2
    out[thread] = totals[thread]


print(gg.trace(hasty[1, 64], x[:64], out[:64]))

# %%
# The cure is to read into a variable, wait for all, and then add, as in the kernel at the top.

# %%
# What a scan is for: keep some of the elements
# ---------------------------------------------
#
# To keep only what is positive, which is called :term:`compaction`, each thread must know where to store its
# number: behind all that are kept before it. The running totals of a mask count these. ``x[x > 0]`` does this
# for you; with ``cp.cumsum`` you can see how:

x -= 1  # -1, 0, 1, -1, ...
keep = x > 0
places = cp.cumsum(keep) - 1  # where each number goes, if it is kept
positive = cp.empty(int(places[-1]) + 1, dtype=x.dtype)
positive[places[keep]] = x[keep]
as_by_mask = bool((positive == x[x > 0]).all())
print("kept:", positive.size, "of", x.size, " as x[x > 0]:", as_by_mask)

# %%
# These lines move the array many times. In kernels of your own, take the same three steps as above, with
# counts in place of sums. In each warp, the threads vote whether they keep their number:
# ``cuda.ballot_sync`` gives the 32 votes to each of them, one bit per thread, and ``cuda.popc`` counts those
# before its own.
#
# .. kernel:: gpuguide.topics.scan.kernels
#    :names: rank_in_warp, keep_positive
#
# .. kernel:: gpuguide.topics.scan.kernels
#    :names: count_positive
#    :fold: The first step: how many each block keeps

from numba import int32

counts = cp.empty(n_blocks, dtype=cp.int32)
count_positive[n_blocks, BLOCK](x, counts)
ends = cp.cumsum(counts, dtype=cp.int32)
positive = cp.empty(int(ends[-1]), dtype=x.dtype)
keep_positive[n_blocks, BLOCK](x, ends, positive)
as_by_mask = bool((positive == x[x > 0]).all())
print("kept:", positive.size, "of", x.size, " as x[x > 0]:", as_by_mask)

# %%
# Of 268 million numbers, half of them positive, ``x[x > 0]`` keeps these in
# :measured:`kept[mask_cupy, 2**28].time`, and our kernels in :measured:`kept[own_kernels, 2**28].time`. In
# either case the host waits for the GPU once, to learn the length of the result before it makes an array for
# it.
#
# .. dropdown:: With cp.cumsum and one more kernel
#
#    If an ElementwiseKernel stores the numbers at the places that ``cp.cumsum`` has found, nothing is won: it
#    takes :measured:`kept[cumsum_and_scatter, 2**28].time`.
#
# .. headline:: The longer the array, the more the three steps gain

# draw
gg.plot_time(
    results, variants=["cumsum_cupy", "totals_of_pieces", "look_back", "cpu_threads"]
)

# %%

# draw
n = 2**28
gg.claim(results, "totals_of_pieces", faster_than="cumsum_cupy", at=n, by=2.3)
gg.claim(results, "totals_of_pieces", share_at_least=0.6, at=n)
gg.claim(results, "cub_in_place", faster_than="cumsum_cupy", at=n, by=2.5)
gg.claim(results, "look_back", faster_than="totals_of_pieces", at=n, by=1.2)
gg.claim(results, "look_back", faster_than="cub_in_place", at=n, by=1.1)
gg.claim(results, "look_back", share_at_least=0.8, at=n)
gg.claim(kept, "own_kernels", faster_than="mask_cupy", at=n, by=4.5)

# %%
# .. kernel:: gpuguide.topics.scan.study
#    :names: look_back, cub_in_place, own_kernels, cumsum_and_scatter
#    :fold: The launches as they are timed

# %%
# .. remember::
#
#    - Take ``cp.cumsum`` for running totals, and ``x[x > 0]`` to keep some elements. If the array may be
#      overwritten, ``cub.device_scan`` is :measured:`running[cub_in_place, 2**28].speedup(cumsum_cupy)` as
#      fast as ``cp.cumsum``.
#    - In kernels, add up pieces, scan the sums, and fill in the pieces; to keep elements, do the same with
#      counts: this is :measured:`kept[own_kernels, 2**28].speedup(mask_cupy)` as fast as ``x[x > 0]``.

# %%
# Your turn: running totals in a block
# ------------------------------------
#
# .. exercise:: prefix_sum
#
# Then use the totals to close gaps:
#
# .. exercise:: stream_compaction

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "cp.cumsum": "cumsum_cupy",
    "three steps": "totals_of_pieces",
    "one launch": "look_back",
}
times = {label: results.time(name, 2**28) for label, name in names.items()}
_ = thumbnail.bars(times, "time of running totals")

# %%
# Next
# ----
#
# Next: :doc:`Matrix multiplication: tiles and tensor cores </gallery/fast_kernels/matmul>`. See also:
# :doc:`Reductions: one sum from many threads </gallery/fast_kernels/reductions>`, where only the last total
# counts.
