"""
How many threads, how many blocks
=================================

Which launch should you begin with, and when is another one worth it?
"""
# %%
# **Start with 256 threads per block and as many blocks as cover the data, ceil(n / 256). If the kernel does
# little but move data, give each thread four elements.** For the maximum of two long vectors, this raises the
# speed from :measured:`maximum[larger_blocks, 2**28].share` to
# :measured:`maximum[four_elements, 2**28].share` of what the memory can do.
#
# .. headline:: Four elements per thread reach the full speed of the memory
#
# .. choices:: launch_sizes
#    :of: Elements per thread
#
#    .. choice:: 4
#
#       import matplotlib.pyplot as plt
#       from gpuguide.charts.marks import label_ends
#       from gpuguide.charts.style import KERNEL, MUTED, describe, style
#
#       widths = 32, 64, 128, 256, 512, 1024
#
#       def share(items, threads):
#           time = facts[f"map_t{threads}_i{items}_all"].value
#           return 100 * 12 * 2**26 / time / ceilings.get("two_to_one").value
#
#       def chart_of(chosen):
#           with style():
#               ax = plt.subplots(figsize=(7.2, 3.0))[1]
#               ends = []
#               for items, dashes in ((1, ":"), (2, "--"), (4, "-")):
#                   shares = [share(items, threads) for threads in widths]
#                   colour = KERNEL if items == chosen else MUTED
#                   look = {"marker": "o", "linewidth": 2.5} if items == chosen else {"alpha": 0.6}
#                   ax.plot(range(6), shares, dashes, color=colour, **look)
#                   ends.append((5, shares[-1], f"{items} element{'s' * (items > 1)}", colour))
#               for at, threads in enumerate(widths):
#                   height = share(chosen, threads)
#                   look = {"ha": "center", "weight": "bold", "textcoords": "offset points"}
#                   ax.annotate(f"{height:.0f} %", (at, height), (0, 7 if chosen == 4 else -17), **look)
#               ax.set_xticks(range(6), widths)
#               ax.set(xlim=(-0.35, 5.2), ylim=(0, 115), yticks=range(0, 101, 20))
#               ax.set(xlabel="threads per block", ylabel="% of the peak memory speed")
#               label_ends(ax, ends)
#               words = ", ".join(f"{t} threads: {share(chosen, t):.0f} %" for t in widths)
#               describe(ax, f"Share of the peak memory speed, {chosen} per thread. {words}.")
#
#       chart_of(4)
#
#    .. choice:: 2
#
#       chart_of(2)
#
#    .. choice:: 1
#
#       chart_of(1)

# %%
# One element per thread
# ----------------------
#
# To compare two numbers costs a GPU almost nothing; to move them is the work. This kernel should therefore be
# as fast as the memory. Each thread takes the element that has its own index. The first launch uses blocks of
# 128 threads, as CuPy does.
#
# .. rung:: one_element

import math

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit(device=True)
def larger(x, y):
    """Return the larger of two numbers, and NaN if one of them is that."""
    return x if x > y or math.isnan(x) else y


@cuda.jit
def one_element(a, b, out):
    """Each thread takes the element that has its own index."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = larger(a[i], b[i])


a, b = cp.random.random((2, 2**26), dtype=cp.float32)
out = cp.empty_like(a)
one_element[math.ceil(out.size / 128), 128](a, b, out)
print("GPU:  ", out[:4])
print("NumPy:", np.maximum(a[:4].get(), b[:4].get()))

# %%
# .. try-it::
#
#    Write ``256`` for ``128`` in the launch. The result is the same, and for long vectors this is the first
#    gain on this page. Then write ``100`` for both ``128``: the result is still right, as the guard
#    ``i < out.size`` stops the threads without an element. But the hardware runs warps of 32 threads, so a
#    block of 100 takes the room of 128.

# %%

# record: The ladder at six sizes, every result compared to the last bit
import gpuguide as gg
from gpuguide.measure.turns import measure_map
from gpuguide.topics.launch_sizes import study as launch_sizes
from gpuguide.topics.launch_sizes.kernels import four_elements, grid_stride

results = launch_sizes.maximum.run()
shapes = launch_sizes.shapes.run()
empty_grids = launch_sizes.empty.run()

# %%

# record: The shapes of both charts, each checked and then timed in turns
times = measure_map(launch_sizes.shape_map, launch_sizes.ELEMENTS)
for name, samples in times.items():
    gg.fact(f"map_{name}", float(np.median(samples)), unit="s", samples=samples)
print(f"{len(times)} shapes at {launch_sizes.ELEMENTS:,} elements")

# %%

# draw
gg.claim(results, "four_elements", share_at_least=0.9, at=2**28)
gg.claim(results, "four_elements", faster_than=("cupy", "grid_stride"), at=2**28)
gg.claim(shapes, "half_the_threads", faster_than="blocks_that_stay", at=2**26)
gg.claim(shapes, "blocks_that_stay", faster_than="blocks_of_1024", at=2**26)
for name in ("t128", "t256"):
    most, many = (
        empty_grids.quantity(name, size, "time").value for size in (2**24, 2**21)
    )
    gg.fact(
        f"start_{name}", (most - many) / (2**24 - 2**21), unit="s", note="an empty block"
    )
gg.fact(
    "blocks_allow",
    128 * 12 / facts["start_t128"].value,
    unit="B/s",
    note="bytes of a block of 128 threads / its start",
)
for name, threads in (("one_element", 128), ("larger_blocks", 256)):
    time = results.quantity(name, 2**28, "time").value
    gg.fact(f"start_{name}", time / (2**28 / threads), unit="s", note="time / blocks")

# %%
# Blocks of 256 threads: fewer to start
# -------------------------------------
#
# The GPU needs time to start a block. To cover 2\ :sup:`28` elements, blocks of 128 threads have to be
# started two million times. As many blocks that do nothing at all take :measured:`empty[t128, 2**21].time`,
# which is the time of the whole maximum, :measured:`maximum[one_element, 2**28].time`. With 256 threads per
# block, half as many are enough.
#
# .. rung:: larger_blocks

one_element[math.ceil(out.size / 256), 256](a, b, out)

# %%
# Smaller blocks take even longer, and larger ones gain nothing. Where a thread takes four elements, there are
# fewer blocks to start anyway, and any size from 64 threads on will do, as the chart at the top shows.
#
# .. headline:: Blocks of 64 and of 128 threads take as long as empty ones

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.marks import label_ends
from gpuguide.charts.style import KERNELS, MUTED, describe

widths = [64, 128, 256, 512, 1024]
figure, ax = plt.subplots()
times = [1e6 * facts[f"map_t{threads}_i1_all"].value for threads in widths]
start = facts["start_t128"].value
empty_blocks = [1e6 * 2**26 / threads * start for threads in widths]
ax.plot(widths, times, marker="o", color=KERNELS[0])
ax.plot(widths, empty_blocks, "--", color=MUTED)
ax.set_xscale("log", base=2)
ax.set(
    xlabel="threads per block",
    ylabel="µs for 67 million elements (on the GPU)",
    xticks=widths,
    xticklabels=widths,
    ylim=(0, None),
)
label_ends(
    ax,
    [
        (widths[-1], times[-1], "one element per thread", KERNELS[0]),
        (widths[-1], empty_blocks[-1], "as many empty blocks", MUTED),
    ],
)
words = ", ".join(
    f"{threads} threads {time:.0f} µs, empty blocks {empty:.0f} µs"
    for threads, time, empty in zip(widths, times, empty_blocks, strict=True)
)
describe(ax, f"Time of 2^26 elements against threads per block. {words}.")

# %%
# The dashed line is the time to start as many blocks as one element per thread needs, and to do nothing in
# them. How much it matters depends on the card: blocks of 128 threads can be started fast enough to move
# :measured:`blocks_allow`. If your memory is slower than that, you should see little difference between 128
# and 256.
#
# .. dropdown:: How the start of a block was timed
#
#    This kernel does nothing, and was launched with up to 2\ :sup:`24` blocks.
#
#    .. kernel:: gpuguide.topics.launch_sizes.kernels
#       :names: empty
#
#    Each further empty block of 128 threads adds :measured:`start_t128`, and the maximum in blocks of 128
#    takes :measured:`start_one_element` for each of its own. It waits for its blocks to start, and not for
#    the memory. :evidence:`count blocks_covering` Its multiprocessors are half empty: on average they hold
#    :measured:`maximum[one_element, 2**28].counter(occupancy)` of the warps that fit. With 256 threads, a
#    block takes :measured:`start_larger_blocks`, and an empty one adds :measured:`start_t256`, so something
#    else has become the limit.
#
#    .. kernel:: gpuguide.topics.launch_sizes.study
#       :names: blocks_covering
#       :fold: How blocks are counted

# %%
# A grid-stride loop: a fixed number of blocks
# --------------------------------------------
#
# You can also start only as many blocks as the GPU can hold at once, and let each thread loop: it takes an
# element, then the one a whole grid further on. Eight blocks of 256 threads fill a multiprocessor of this
# GPU.
#
# .. rung:: grid_stride

multiprocessors = cp.cuda.Device().attributes["MultiProcessorCount"]
grid_stride[8 * multiprocessors, 256](a, b, out)

# %%
# The gain is small. Prefer the loop where the launch must not depend on the size of the data, and the next
# step where speed matters.
#
# .. dropdown:: Where the small gain comes from
#
#    Blocks that are replaced all the time leave gaps. Blocks of 256 threads fill a multiprocessor to
#    :measured:`maximum[larger_blocks, 2**28].counter(occupancy)` on average, and the loop fills it to
#    :measured:`maximum[grid_stride, 2**28].counter(occupancy)`. :evidence:`counter occupancy` Large blocks
#    show it better: blocks of 1024 threads reach :measured:`shapes[blocks_of_1024, 2**26].share` if they
#    cover the vectors, and :measured:`shapes[blocks_that_stay, 2**26].share` if two of them stay on each
#    multiprocessor. :evidence:`variant blocks_that_stay`

# %%
# Four elements per thread
# ------------------------
#
# A load takes long, and a thread that has asked for a number can only wait for it. Memory is busy only if
# enough bytes are *in flight*: asked for, and not there yet. A multiprocessor has room for 2048 threads, and
# with one element each they wait for two numbers of four bytes. Therefore, let each thread ask for more
# before it waits.
#
# .. drawing:: launch_sizes
#
#     Two rows over time. A thread with one element starts, has two loads in flight, and stores; then the
#     next thread starts and does the same. A thread with four elements starts once, has eight loads in
#     flight that overlap almost entirely, and stores four times.
#
# All eight loads stand before the first store. The elements of a thread lie a block's width apart, so that
# neighbouring threads still load neighbouring elements and each access stays
# :term:`coalesced <coalesced access>`.
#
# .. rung:: four_elements

four_elements[math.ceil(out.size / (4 * 256)), 256](a, b, out)

# %%
# The chart compares loops, whose blocks are started once, so that only the bytes in flight differ. With four
# elements per iteration, half of the threads reach :measured:`shapes[half_the_threads, 2**26].share` of the
# peak memory speed; with one, all the threads that fit reach
# :measured:`shapes[blocks_that_stay, 2**26].share`. :evidence:`variant half_the_threads`
#
# .. headline:: The more bytes are in flight, the faster the memory

# draw
figure, ax = plt.subplots()
words = []
for items, colour, marker in ((1, KERNELS[0], "o"), (4, KERNELS[2], "^")):
    waiting, shares = [], []
    for width in (64, 256, 1024):  # threads per block
        for blocks in (1, 2, 4, 8, 16, 32):
            if 128 <= width * blocks <= 2048:
                time = facts[f"map_t{width}_i{items}_b{blocks}"].value
                waiting.append(width * blocks * items * 8 / 1024)
                shares.append(100 * 12 * 2**26 / time / ceilings.get("two_to_one").value)
    label = f"{items} element{'s' * (items > 1)} per iteration"
    ax.plot(waiting, shares, marker, color=colour, markerfacecolor="none", label=label)
    words.append(f"{label}: {min(shares):.0f} to {max(shares):.0f} %")
ax.set_xscale("log", base=2)
ax.set(
    xlabel="KiB in flight per multiprocessor, at most",
    ylabel="% of the peak memory speed",
)
ax.set(
    xticks=[1, 2, 4, 8, 16, 32, 64], xticklabels=[1, 2, 4, 8, 16, 32, 64], ylim=(0, 100)
)
ax.legend()
describe(
    ax, f"Share of the peak memory speed against bytes in flight. {'; '.join(words)}."
)

# %%
# .. dropdown:: Threads or elements, and what we do not know
#
#    Blocks of 64, 256 and 1024 threads lie together where the same bytes are in flight. At equal bytes, more
#    threads are better than more elements. But threads run out at 2048 per multiprocessor, and elements do
#    not. How many bytes are enough is the memory's bandwidth times its latency, by Little's law.
#
#    With all the threads that fit, the loop with four elements per iteration is slower than with half of
#    them, and both stay below the kernel without a loop. We do not know why.

# %%
# Occupancy is not the goal
# -------------------------
#
# :term:`Occupancy <occupancy>` is the share of the threads that fit on a multiprocessor and are there. It
# says how many threads wait, and not for how many bytes: the loop above fills the GPU almost completely, and
# four elements per thread, with fewer threads, are faster. Do not tune for occupancy alone.
#
# .. dropdown:: What the counters say
#
#    The possible occupancy follows from the registers that the compiler gives each thread, from the shared
#    memory of a block, and from the number of blocks that a multiprocessor holds. The CUDA driver works it
#    out, and Numba's ``max_cooperative_grid_blocks`` asks it. Blocks of 32 threads fill half of the room at
#    most: this GPU holds no more than 32 blocks on a multiprocessor, however small they are.
#
#    By the GPU's counters, the grid-stride loop held
#    :measured:`maximum[grid_stride, 2**28].counter(occupancy)` of the warps and reached
#    :measured:`maximum[grid_stride, 2**28].share` of the peak memory speed; four elements per thread held
#    :measured:`maximum[four_elements, 2**28].counter(occupancy)` and reached
#    :measured:`maximum[four_elements, 2**28].share`.

# fold: Ask the driver for a kernel's possible occupancy
from numba import float32

most_threads = cp.cuda.Device().attributes["MaxThreadsPerMultiProcessor"]
three_vectors = (float32[::1],) * 3  # the types of a, b and out


def occupancy(kernel, threads_per_block):
    compiled = kernel.overloads[three_vectors]
    blocks = compiled.max_cooperative_grid_blocks(threads_per_block)
    return blocks * threads_per_block / (multiprocessors * most_threads)


for kernel, width, elements in (
    (one_element, 256, 1),
    (four_elements, 256, 4),
    (four_elements, 32, 4),
):
    share = occupancy(kernel, width)
    n_bytes = share * most_threads * elements * 8
    name = f"{kernel.__name__}, blocks of {width}:"
    print(f"{name:29} {share:.0%} of the threads, {n_bytes:,.0f} bytes")

# %%
# Rules of thumb, measured
# ------------------------
#
# Three rules are often given for the size of a launch. Keep the first two. Forget the third, which leaves
# this GPU half idle. The numbers are shares of the peak memory speed.
#
# .. list-table::
#    :header-rows: 1
#
#    * - rule
#      - if you keep it
#      - if you do not
#    * - Take threads in multiples of 32: in a loop, blocks of 64 against 33, which take the same room
#      - :measured:`shapes[full_warps, 2**26].share`
#      - :measured:`shapes[a_lane_more, 2**26].share`
#    * - Take 128 to 512 threads per block: for one element per thread, 128 against 64
#      - :measured:`shapes[threads_128, 2**26].share`
#      - :measured:`shapes[threads_64, 2**26].share`
#    * - Take two to four blocks per multiprocessor: in a loop, 4 against 16 blocks of 128
#      - :measured:`shapes[four_blocks, 2**26].share`
#      - :measured:`shapes[sixteen_blocks, 2**26].share`
#
# None of them mentions the elements per thread. Nor does Numba's warning about low occupancy: it appears for
# fewer than 128 blocks, whatever the GPU and the kernel.

# %%
# When four elements do not pay
# -----------------------------
#
# - **The data is small.** For 4096 elements, one and four elements per thread both take about as long as a
#   launch that does nothing, and Python needs far longer to launch either.
# - **The kernel computes.** We think that four elements do not help a kernel that computes for a long time on
#   each: while some warps wait, others compute. :evidence:`opinion`

# %%
# .. remember::
#
#    - Start with 256 threads per block and ``ceil(n / 256)`` blocks. If you change them, take multiples of 32
#      threads: blocks of 32 reach :measured:`shapes[full_warps, 2**26].share` of the peak memory speed, and
#      blocks of 33 :measured:`shapes[a_lane_more, 2**26].share`.
#    - In a kernel that does nothing but move data, give each thread four elements, a block's width apart:
#      that takes it from :measured:`maximum[larger_blocks, 2**28].share` to
#      :measured:`maximum[four_elements, 2**28].share` of the peak memory speed.

# %%
# Your turn: deal the elements out
# --------------------------------
#
# In a loop it matters which thread takes which element. The kernel to mend gives each thread a piece of the
# vectors, as one would on a CPU. Its result is right, but its accesses are not coalesced.
#
# .. exercise:: grid_stride

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "CuPy": "cupy",
    "256 threads": "larger_blocks",
    "four elements each": "four_elements",
}
times = {label: results.time(name, 2**28) for label, name in names.items()}
_ = thumbnail.bars(times, "time of a maximum")

# %%
# Next
# ----
#
# Next: :doc:`Many short kernels: launch less often </gallery/first_kernels/launch_overhead>`, on what a
# launch costs Python. See also: :doc:`Know the limits of your GPU </gallery/measuring/know_your_gpu>`, on the
# peak memory speed that these shares refer to.
