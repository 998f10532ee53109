"""
First kernel
============

How does a loop become a kernel, and is it faster?
"""
# %%
# A Python loop adds one to 65 536 numbers in :measured:`increment[python_loop, 65_536].time`, and NumPy, on
# one thread of the CPU, in :measured:`increment[numpy, 65_536].time`. A kernel does it in
# :measured:`increment[grid, 65_536].time`, but asking the GPU to run it takes Python
# :measured:`increment[grid, 65_536].launch` first.

# %%
# .. rst-class:: part-idea
#
# One thread for each element
# ---------------------------
#
# A loop visits its elements one after the other. A :term:`kernel` is the body of the loop alone. The GPU runs
# it once in every :term:`thread`, and thousands of threads run side by side. So there is no loop variable any
# more. Each thread has to find out which element is its own.
#
# Threads come in :term:`blocks <block>` of one size, and all blocks of a :term:`launch` are its :term:`grid`.
# A thread knows its place in the block, the place of the block in the grid, and how many threads a block has.
# From these three numbers follows its element. The grid is rounded up to whole blocks, so the last threads
# may have no element.
#
# .. drawing:: first_kernel
#
#     Three blocks of four threads stand over eleven elements. Thread 2 of block 1 points to element 6, which
#     is 2 + 1 * 4. The last thread of the last block has no element and does nothing.

# %%
# .. rst-class:: part-bare
#
# The kernel, its grid, its launch
# --------------------------------
#
# This is all of it: a kernel, an array on the :term:`device`, a grid that covers the array, and a launch. The
# ``if``, called the guard, is there for the threads beyond the end. Without it they would write into memory
# that belongs to somebody else.

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def add_one(x):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < x.size:
        x[i] += 1


x = cp.ones(65_536)
threads_per_block = 256
blocks_per_grid = (x.size + threads_per_block - 1) // threads_per_block
add_one[blocks_per_grid, threads_per_block](x)
print("grid:  ", blocks_per_grid, "blocks of", threads_per_block, "threads")
print("GPU:   ", x[:4], "...", x[-1])
print("NumPy: ", np.ones(4) + 1)

# %%
# The kernel changes its input. Launched again, it adds again, and a test that expects 2 fails although
# nothing is wrong. So before a result is checked the data must be as it was at the start.

for _ in range(3):
    add_one[blocks_per_grid, threads_per_block](x)
print("after three more launches:", x[:4])

x[:] = 1
add_one[blocks_per_grid, threads_per_block](x)
assert (cp.asnumpy(x) == 2).all()
print("from ones again:          ", x[:4])

# %%
# .. rst-class:: part-predict
#
# Sixteen bytes for each addition
# -------------------------------
#
# Before anything is timed, a guess. One ``float64`` has eight bytes. Each is read once and written once, so
# the kernel moves sixteen bytes for a single addition. A GPU does far more additions than that in the time in
# which its memory delivers the bytes. The :term:`bandwidth` of the memory should decide: how many bytes it
# moves in a given time.
#
# Take a vector of 2\ :sup:`28` elements. Its bytes, divided by the physical peak of the memory, give the
# shortest time that any kernel can take.

import gpuguide as gg

gpu = gg.require_gpu()
bytes_moved = 2 * 8 * 2**28
predicted = gg.fact(
    "predicted",
    bytes_moved / gpu.peak_memory_bandwidth,
    unit="s",
    note="bytes moved / physical peak",
)
peak = gg.fact(
    "peak", gpu.peak_memory_bandwidth, unit="B/s", note="memory clock times bus width"
)
print(
    f"{bytes_moved / 1e9:.2f} GB at {peak.value / 1e12:.2f} TB/s"
    f" take {predicted.value * 1e3:.2f} ms at least"
)

# %%
# .. rst-class:: part-code
#
# Four ways to share out the elements
# -----------------------------------
#
# **By hand.** The first rung is the kernel from above with its launcher, the function on the :term:`host`
# that asks for it. It looks at its argument, counts the blocks, and launches; it copies nothing and does not
# wait.
#
# .. kernel:: gpuguide.topics.first_kernel.kernels
#    :names: increment_by_hand_kernel
#
# .. kernel:: gpuguide.topics.first_kernel.study
#    :names: increment_by_hand
#
# **By cuda.grid.** Numba works the same index out for you. Nothing else changes, and the compiler makes the
# same instructions of it.
#
# .. kernel:: gpuguide.topics.first_kernel.kernels
#    :names: increment_grid_kernel
#
# .. kernel:: gpuguide.topics.first_kernel.study
#    :names: increment_grid
#
# **Grid-stride.** The number of blocks no longer grows with the vector. Each thread runs a
# :term:`grid-stride loop`: its element, then the one a whole grid further on, until the end. One grid fits
# any size, and each thread does more than one element of work.
#
# .. kernel:: gpuguide.topics.first_kernel.kernels
#    :names: increment_grid_stride_kernel
#
# .. kernel:: gpuguide.topics.first_kernel.study
#    :names: increment_grid_stride
#
# **Four a thread.** Each thread takes four elements and loads all of them before it stores the first. While
# one load waits for the memory, three others are on their way, which hides :term:`latency`. The four lie a
# block's width apart, so that neighbouring threads still read neighbouring elements and each access stays a
# :term:`coalesced access`.
#
# .. kernel:: gpuguide.topics.first_kernel.kernels
#    :names: increment_four_per_thread_kernel
#
# .. kernel:: gpuguide.topics.first_kernel.study
#    :names: increment_four_per_thread
#
# A Python loop, NumPy, a compiled loop on all threads of the CPU, and the kernel with copies around it
# complete the comparison. The copies start and end in :term:`pageable memory`, which is NumPy's,
# or in :term:`pinned memory`.
#
# .. kernel:: gpuguide.topics.first_kernel.kernels
#    :names: increment_threads
#
# .. kernel:: gpuguide.topics.first_kernel.study
#    :names: increment_python, increment_numpy, increment_with_copies, increment_with_copies_pinned

# %%
# The compiler says how many :term:`registers <register>` each kernel needs. The fewer, the more threads fit
# on a :term:`multiprocessor` at once, which is its :term:`occupancy`.

from gpuguide.machine.launch import occupancy
from gpuguide.topics.first_kernel import study as first_kernel

vector = gg.numba_view(cp.zeros(1024))
for name in ("by_hand", "grid", "grid_stride", "four_per_thread"):
    getattr(first_kernel, f"increment_{name}")(vector)
    kernel = getattr(first_kernel, f"increment_{name}_kernel")
    (registers,) = kernel.get_regs_per_thread().values()
    held = occupancy(256, registers, 0, gpu)
    print(
        f"{name:16} {registers:3} registers,"
        f" {held.blocks_per_sm} blocks of 256 on each multiprocessor"
    )

# %%
# The kernels do not all need the same number of registers, and yet the same number of blocks fits. So
# occupancy will not be what sets them apart.

# %%
# .. rst-class:: part-check
#
# Right before fast
# -----------------
#
# Here is the whole comparison as data. Nothing is timed before its result equals the :term:`reference`, once
# on whole numbers and once on random ones. All variants change their input, so it is restored before every
# check.

study = first_kernel.study()
study

# %%
# .. rst-class:: part-measure
#
# From a thousand elements to a quarter of a billion
# --------------------------------------------------
#
# The study runs at seven sizes. Three sentences about it are checked against the :term:`samples <sample>`:
# each must hold in every run.

results = study.run()

# %%

# draw
gg.claim(results, "four_per_thread", faster_than="grid", at=2**28)
gg.claim(results, "grid", faster_than="numpy", at=2**24)
gg.claim(results, "numpy", faster_than="with_copies", at=65_536)

# %%
# .. checks:: increment
#
# The first chart shows where each side wins. NumPy adds on one thread. To keep the run short, the lines of
# the host and of the copies end early.

# draw
ax = gg.plot_time(
    results,
    variants=["python_loop", "numpy", "grid", "with_copies", "with_copies_pinned"],
    crossover=("numpy", "grid"),
)
for name in ax.texts:
    if name.get_text() == "pageable copies":  # on the right, NumPy's line would cross it
        name.set(position=(-9, 4), ha="right")

# %%
# .. finding::
#
#    The kernel alone, without its launch, overtakes NumPy's one thread
#    :measured:`increment.crossover(numpy, grid)`. For 2\ :sup:`24` elements it needs
#    :measured:`increment[with_copies, 2**24].time` with pageable copies and
#    :measured:`increment[with_copies_pinned, 2**24].time` with pinned copies, where NumPy needs
#    :measured:`increment[numpy, 2**24].time`.
#
# The second chart compares the four kernels at 2\ :sup:`28` elements. Nothing can be faster here than the
# memory of the GPU. The rate at which this memory copies is the :term:`ceiling`, and the chart shows how near
# each kernel comes to it.

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.marks import draw_ranges
from gpuguide.charts.style import INK, MUTED, SERIES, describe

names = ["by_hand", "grid", "grid_stride", "four_per_thread"]
labels = [results.variant(name).label for name in names]
shares = [results.quantity(name, 2**28, "share") for name in names]
words = [str(share) for share in shares]
ranges = [(row, share, SERIES[0]) for row, share in enumerate(shares)]
shares = [100 * share.value for share in shares]
figure, ax = plt.subplots(figsize=(7.2, 2.7))
ax.plot(shares, range(len(names)), "o", markersize=8, color=SERIES[0])
for row, share in enumerate(shares):
    ax.annotate(
        words[row],
        (share, row),
        xytext=(0, 7),
        textcoords="offset points",
        ha="center",
        color=INK,
    )
ax.axvline(100, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
ax.set(xlabel="% of the copy rate, kernel only, warm cache", yticks=range(len(names)))
ax.set(xlim=(min(shares) - 2, 101), ylim=(len(names) - 0.6, -0.7))
ax.set_yticklabels(labels)
draw_ranges(ax, ranges, along="x", scale=100)
words = "; ".join(map(" ".join, zip(labels, words, strict=True)))
describe(ax, f"Share of the copy rate over four kernels: {words}.")

# %%
# .. finding::
#
#    One element a thread, by ``cuda.grid``, reaches :measured:`increment[grid, 2**28].share` of the copy rate
#    of this memory. Four a thread reach :measured:`increment[four_per_thread, 2**28].share`.
#
# .. results:: increment

# %%
# .. rst-class:: part-reading
#
# More loads on the way, not more threads
# ---------------------------------------
#
# The Python loop pays for every element anew: an index, an object for the number, an addition, a store. NumPy
# pays once for the call and then runs compiled code. At 65 536 elements NumPy is
# :measured:`increment[numpy, 65_536].speedup(python_loop)` as fast as the loop, without any GPU.
#
# The first two kernels compile to the same instructions, and they measure alike. With a single element each
# thread asks for one value and waits. In the grid-stride loop a thread has many elements, but it, too, asks
# for the next only when it is done with the last. Four a thread have four loads on the way at once. That, we
# think, keeps the memory busier: they reach :measured:`increment[four_per_thread, 2**28].share` of the copy
# rate, one a thread :measured:`increment[grid, 2**28].share`.
# :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` has kernels that gain more by it.
#
# .. list-table:: 2\ :sup:`28` elements
#    :header-rows: 1
#
#    * - predicted, at the physical peak
#      - measured, four a thread
#    * - :measured:`predicted`
#      - :measured:`increment[four_per_thread, 2**28].time`
#
# No real memory reaches its physical peak. The rate measured here is
# :measured:`increment[four_per_thread, 2**28].rate`, against a peak of :measured:`peak`.

# %%
# The first call is a different matter. The notebook that this page grew out of saw :claimed:`s0_first_call`
# for the first call and :claimed:`s0_kernel` for later ones. It put the difference down to compilation and to
# the transfer of the data. Here the first call is made in a fresh process, and its parts are timed one by
# one. Another process ran before it and does not count, as it only brought the files into memory.

from gpuguide.topics.first_kernel.first_call_parts import measure_first_call

facts = {}
for name, samples in measure_first_call().items():
    first = gg.fact(f"first_{name}", float(np.median(samples)), unit="s", samples=samples)
    facts[first.name] = first
    print(f"{name:8} {first.value * 1e3:9.3f} ms")

# %%

# draw
parts = [
    facts[f"first_{part}"].value for part in ("context", "compile", "launch", "work")
]
_ = gg.explained("first_call", parts, facts["first_whole"].value)

# %%
# The same as a bar, and under it a later call. At this scale launch and work are too short to be seen, so
# the later call has no bar at all.

# draw
gg.plot_decomposition(
    {
        "first call": {
            part: facts[f"first_{part}"]
            for part in ("context", "compile", "launch", "work")
        },
        "later call": {
            "launch": results.quantity("grid", 65_536, "launch"),
            "work": results.quantity("grid", 65_536, "time"),
        },
    }
)

# %%
# .. finding::
#
#    The first call takes :measured:`first_whole`: :measured:`first_context` for loading CuPy and making a
#    :term:`context`, :measured:`first_compile` for the compiler. The parts explain :measured:`first_call` of
#    the whole.
#
# So :term:`JIT compilation` is the part that belongs to the kernel. No data moved between host and device
# while the clock ran: the transfer had nothing to do with it.

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: the clock that stops too early
# ------------------------------------------------
#
# A launch returns before the kernel has run. Whoever reads the clock right after it has timed the launch. The
# same notebook did that, and the mistake hides well, because the figure looks plausible for a small vector.
# So here it is for a large one.

# wrong: the clock stops before the GPU does
from time import perf_counter

from gpuguide.measure.turns import beside_launches

large = gg.numba_view(cp.ones(2**28))


def stop_too_early():
    cp.cuda.Device().synchronize()
    start = perf_counter()
    for _ in range(100):
        first_kernel.increment_grid(large)
    return (perf_counter() - start) / 100


samples, alone = beside_launches(
    stop_too_early, lambda: first_kernel.increment_grid(large)
)
wrong = gg.fact("unsynchronised", float(np.median(samples)), unit="s", samples=samples)
facts[wrong.name] = wrong
implied = gg.fact(
    "implied_rate", bytes_moved / wrong.value, unit="B/s", note="bytes / wrong figure"
)
launched = gg.fact("launch_alone", float(np.median(alone)), unit="s", samples=alone)
facts[launched.name] = launched
print(
    f"{wrong.value * 1e6:.1f} us a call, which would be {implied.value / 1e12:.0f} TB/s"
)

# %%

# draw
_ = gg.explained(
    "wrong_figure",
    [facts["launch_alone"].value],
    facts["unsynchronised"].value,
    note="launch / wrong figure",
)

# %%
# The right way needs one line more: wait for the device before the clock is read. The guide's own clocks do
# that, and keep the launch and the work apart.

# draw
gg.plot_decomposition(
    {
        "without waiting": {"launch": facts["unsynchronised"]},
        "launch, timed alone": {"launch": facts["launch_alone"]},
        "work, timed alone": {"work": results.quantity("grid", 2**28, "time")},
    }
)

# %%
# .. finding::
#
#    Without waiting the clock says :measured:`unsynchronised`. That would be :measured:`implied_rate`, on a
#    memory whose physical peak is :measured:`peak`. The launch alone comes to :measured:`wrong_figure` of
#    the figure.
#
# To :term:`synchronise` is what was missing. :doc:`How to time a GPU </gallery/measuring/how_to_time>` goes
# through the clocks one by one.

# %%
# .. rst-class:: part-when-not-to
#
# When the loop should stay where it is
# -------------------------------------
#
# If the numbers are on the host and are wanted there again, one addition is not worth the trip. With pinned
# copies it may be faster than NumPy's one thread, but not than the compiled loop on all threads: for
# 2\ :sup:`24` elements the pinned round trip takes :measured:`increment[with_copies_pinned, 2**24].time`, the
# pageable one :measured:`increment[with_copies, 2**24].time`, and the loop
# :measured:`increment[threads, 2**24].time`. A single small launch does not pay either: Python needs
# :measured:`increment[grid, 65_536].launch` just to launch it, and in
# :measured:`increment[numpy, 65_536].time` NumPy has added 65 536 elements. A kernel begins to pay when its
# data stays on the device, for many kernels in a row.

# %%
# .. rst-class:: part-on-your-gpu
#
# Another memory, another time
# ----------------------------
#
# These kernels are limited by memory. On another GPU the time goes down as the bandwidth of its memory goes
# up, and we think that the shares change little. Consumer GPUs have slow ``float64`` units, but one addition
# for sixteen bytes is so little that they keep up. The launch depends on the CPU and on Python, not on the
# GPU. The first call depends on the CPU and the disk.
#
# ``gpuguide run first_kernel`` measures your machine. :doc:`Know your GPU </gallery/measuring/know_your_gpu>`
# finds each :term:`ceiling` that the shares refer to.

# %%
# .. rst-class:: part-your-turn
#
# Threads beyond the end
# ----------------------
#
# The ``if`` in these kernels looks like a small thing. Here is a kernel without one. It is right as long as
# the threads fit the arrays exactly, and when they do not, nothing complains. Mend it. The check needs no
# GPU, and it sees what a GPU would let pass.
#
# .. exercise:: guard
#
# .. question:: Why is the grid rounded up and not down?
#
#    The threads come in whole blocks. Rounded down, the grid ends before the vector does, and the last
#    elements stay as they were. Rounded up, some threads have no element, and one comparison sends them home.
#
# .. question:: Would eight elements a thread be better still?
#
#    Write the kernel and a launcher, and hand it to
#    ``study.with_variant("eight", my_launcher, arrays="numba", mutates=True)``. More loads on the way hide
#    more latency, until the memory is busy all the time; from then on nothing is left to hide. The price
#    shows at small sizes: an eighth of the threads is too few to give every part of the GPU some work.

# %%
# .. rst-class:: part-next
#
# After the first kernel
# ----------------------
#
# Onward: a decorator can write the kernel for you. What it makes is a :term:`ufunc`, and
# :doc:`Ufuncs on the GPU </gallery/first_kernels/ufuncs>` shows how far it goes.
# :doc:`Grids in 2-D and 3-D </gallery/first_kernels/grids_2d_3d>` gives each thread a place in a matrix.
# :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` asks how many threads a kernel wants, and
# :doc:`Launch overhead </gallery/first_kernels/launch_overhead>` what the host pays to ask for them.
#
# Sideways: :doc:`Numba's types </gallery/first_kernels/numba_types>` says what a number typed into a kernel
# costs, and :doc:`Primes </gallery/first_kernels/primes>` takes a harder problem, step by step. Used here:
# :func:`gpuguide.numba_view`, :class:`gpuguide.Study`, :func:`gpuguide.claim`.
