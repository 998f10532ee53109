"""
First kernel: a thread for every element
========================================

How do you turn a loop into a kernel, and what does it gain?
"""
# %%
# Give every element a thread of its own: ``i = cuda.grid(1)`` is its index, and ``if i < x.size`` guards the
# end. To add one to a million numbers in its memory, the GPU takes :measured:`increment[grid, 2**20].time`,
# where all threads of the CPU take :measured:`increment[cpu_threads, 2**20].time` and NumPy
# :measured:`increment[numpy, 2**20].time`. Keep the array there: its copies take far longer than the kernel.
#
# .. headline:: A million numbers: one thread is slow, a thread for every number is fast
#
# .. drawn:: first_kernel
#
#    from gpuguide.charts.shapes import plot_values
#
#    bars = {
#        "one thread": "one_thread",
#        "one block of 256 threads": "one_block",
#        "a thread for every number": "grid",
#    }
#    times = {label: results.time(name, 2**20) for label, name in bars.items()}
#    plot_values(times, "time on the GPU for a million numbers")

# %%
# A kernel and its launch
# -----------------------
#
# A kernel is a function that runs on the GPU, once in every thread. Threads come in blocks, and all blocks of
# a launch are its *grid*, after which this kernel is named. The brackets of the launch say how many threads
# there are: first the number of blocks, then the number of threads in each. CuPy makes the array in the
# memory of the GPU, and the kernel changes it in place.
#
# .. rung:: grid

import cupy as cp
from numba import cuda


@cuda.jit
def grid(x):
    """Each thread adds one to the element with its own index."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


x = cp.ones(50_000)
threads_per_block = 256
blocks_per_grid = (x.size + threads_per_block - 1) // threads_per_block  # rounded up
grid[blocks_per_grid, threads_per_block](x)
print(blocks_per_grid, "blocks:", x[:3], "...", x[-3:])

# %%
# .. try-it::
#
#    Launch only ``150`` blocks. The last numbers remain 1, and nothing complains: 150 blocks of 256 threads
#    cover only 38 400 elements. Then launch the right grid once more without making ``x`` anew: now the
#    numbers are 3.


# %%

# record: The kernels, and how many multiprocessors there are
import gpuguide as gg
from gpuguide.topics.first_kernel.kernels import grid_stride, one_block, one_thread

_ = gg.fact("multiprocessors", gg.require_gpu().sm_count, unit="1")

# %%
# How a thread finds its element
# ------------------------------
#
# All threads run the same code, so each has to work out which element is its own. ``cuda.grid(1)`` is short
# for ``cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x``: the thread's place in its block, plus all
# threads of the blocks before. The 1 stands for one dimension.
#
# .. drawing:: first_kernel
#
#     Three blocks of four threads stand over eleven elements. Thread 2 of block 1 points to element 6,
#     which is 2 + 1 * 4. The last thread of the last block has no element and does nothing.
#
# All blocks have the same size, so the last one may have threads without an element. The ``if``, called the
# *guard*, keeps them from doing anything. Without it they would write beyond the end of the array, which
# often raises no error and changes other data.

# %%
# Why not one thread, or one block?
# ---------------------------------
#
# A single thread can run the whole loop, as on a CPU:
#
# .. kernel:: gpuguide.topics.first_kernel.kernels
#    :names: one_thread

from numba import config

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba warns of so small a launch, and is right

x = cp.ones(50_000)
one_thread[1, 1](x)  # one block of one thread
print(x[:3], "...", x[-3:])

# %%
# The result is right, but a million numbers take :measured:`increment[one_thread, 2**20].time`. A GPU gets
# its speed from thousands of threads at work, each of which is slow. The threads of one block can share the
# loop: here thread 5 takes elements 5, 261, 517 and so on.
#
# .. kernel:: gpuguide.topics.first_kernel.kernels
#    :names: one_block

x = cp.ones(50_000)
one_block[1, 256](x)  # one block of 256 threads
print(x[:3], "...", x[-3:])

# %%
# This is :measured:`increment[one_block, 2**20].speedup(one_thread)` as fast as one thread, and still slower
# than NumPy. A block runs on a single multiprocessor, and this GPU has :measured:`multiprocessors` of them.
# Only many blocks keep all of them busy: the kernel at the top, with a thread for every element, is another
# :measured:`increment[grid, 2**20].speedup(one_block)` as fast.
#
# .. dropdown:: Why the block gains less than its number of threads
#
#    We think that threads mostly wait for memory, that 256 of them now wait at the same time, and that the
#    single thread finds most of its next numbers already in the cache. :evidence:`opinion`

# %%
# One launch for any size: the grid-stride loop
# ---------------------------------------------
#
# If the launch must not depend on the size of the array, bring the loop back. Each thread takes its element,
# then the one a whole grid further on, and so on to the end.
#
# .. kernel:: gpuguide.topics.first_kernel.kernels
#    :names: grid_stride

x = cp.ones(50_000)
grid_stride[128, 256](x)  # fewer threads than numbers
print(x[:3], "...", x[-3:])

# %%
# This kernel takes about as long as one with a thread for every element. Its gain is convenience: any grid
# gives the right result, and with ``[1, 1]`` it is the plain loop again, which helps to find a mistake.

# %%
# What goes wrong: a NumPy array
# ------------------------------
#
# A kernel takes a NumPy array as well, and the result is right. But Numba copies the array to the GPU before
# each launch and back after it. It warns you the first time:

import warnings

import numpy as np

x_host = np.ones(50_000)
with warnings.catch_warnings(record=True) as caught:  # to print the warning below
    grid[blocks_per_grid, threads_per_block](x_host)
print(x_host[:3], "...", x_host[-3:])
for warning in caught:
    print(f"{warning.category.__name__}: {warning.message}")

# %%
# For a million numbers such a launch takes :measured:`with_numpy_array`, and NumPy alone would have been done
# after :measured:`increment[numpy, 2**20].time`. The cure is one copy at the beginning,
# ``x = cp.asarray(x_host)``, and one at the end, ``x_host = x.get()``, with as many launches in between as
# you like.

# %%

# record: What a launch takes with a NumPy array, and with an array on the GPU, until the result is there
from gpuguide.measure.clocks import SystemClock

clock = SystemClock()
config.CUDA_WARN_ON_IMPLICIT_COPY = 0


def from_launch_to_result(x):
    start_ns = clock.now_ns()
    grid[-(-x.size // 256), 256](x)
    cp.cuda.Device().synchronize()
    return (clock.now_ns() - start_ns) / 1e9


arrays = {"with_numpy_array": np.ones(2**20), "with_cupy_array": cp.ones(2**20)}
samples = {name: [] for name in arrays}
for _ in range(30):
    for name, x in arrays.items():
        samples[name].append(from_launch_to_result(x))
for name, times in samples.items():
    gg.fact(name, float(np.median(times[5:])), unit="s", samples=times[5:])

# %%

# record: The study: ten variants, six sizes, every result compared bit for bit
from gpuguide.topics.first_kernel.study import increment

results = increment.run()

# %%

# record: The first call in a fresh process, part by part
from gpuguide.topics.first_kernel.first_call_parts import measure_first_call

for name, samples in measure_first_call().items():
    gg.fact(f"first_{name}", float(np.median(samples)), unit="s", samples=samples)

# %%
# What goes wrong: timing the first call
# --------------------------------------
#
# The first launch in a program takes :measured:`first_whole`: :measured:`first_compile` to compile the
# kernel, and :measured:`first_context` to load CuPy and to set up the GPU. A later launch keeps Python for
# only :measured:`increment[grid, 65_536].launch`, and it returns before the kernel is done. Therefore, call a
# kernel once before you time it, and wait for the GPU, as
# :doc:`Time a GPU: wait, then stop the clock </gallery/measuring/how_to_time>` shows.

# %%

# draw: The parts of the first call, added up
parts = [
    facts[f"first_{part}"].value for part in ("context", "compile", "launch", "work")
]
_ = gg.explained("first_call", parts, facts["first_whole"].value)

# %%
# What limits the kernel
# ----------------------
#
# .. headline:: Small arrays take little longer than an empty kernel, large ones wait for the memory

# draw
from gpuguide.charts.marks import mark_floor

ax = gg.plot_time(results, variants=["one_thread", "one_block", "grid"])
mark_floor(ax, results, "grid")

# %%
# For a few thousand numbers a grid takes little longer than an empty kernel: do not tune it, give it more
# work. From millions of numbers on, the memory decides: with 16 million, the kernel reaches
# :measured:`increment[grid, 2**24].share` of the speed at which this memory can copy.
# :doc:`How many threads, how many blocks </gallery/first_kernels/launch_sizes>` shows how to come closer.

# draw: What an empty kernel takes, and six claims
floor_ns = results.measurement("grid", 65_536).floor_ns or 0
_ = gg.fact("floor", floor_ns / 1e9, unit="s", note="an empty kernel")
gg.claim(results, "one_block", faster_than="one_thread", at=2**20, by=75)
gg.claim(results, "grid", faster_than="one_block", at=2**20, by=100)
gg.claim(results, "numpy", faster_than="one_block", at=2**20, by=1.5)
gg.claim(results, "grid", faster_than=["numpy", "cpu_threads"], at=2**20, by=5)
gg.claim(results, "grid", faster_than=["numpy", "cpu_threads"], at=2**24, by=10)
gg.claim(results, "grid", share_at_least=0.8, at=2**24)

# %%
# When the loop should stay on the CPU
# ------------------------------------
#
# One addition per number is not worth a trip to the GPU. If a million numbers start and end in the memory of
# the CPU, the GPU takes :measured:`increment[with_copies, 2**20].time`, and a compiled loop on all threads of
# the CPU :measured:`increment[cpu_threads, 2**20].time`. With
# :doc:`pinned copies </gallery/moving_data/transfers>`, which are faster, the GPU is only about as fast as
# NumPy on one thread. A kernel pays when the data stays on the GPU for many kernels, or when there is more to
# compute for each number.
#
# .. kernel:: gpuguide.topics.first_kernel.study
#    :names: numpy, with_copies, with_copies_pinned
#    :fold: NumPy, and the GPU with copies there and back
#
# .. kernel:: gpuguide.topics.first_kernel.kernels
#    :names: cpu_threads
#    :fold: The compiled loop on all threads of the CPU
#
# .. headline:: With copies there and back, all threads of the CPU win

# draw
from gpuguide.charts.shapes import plot_values

bars = {
    "CPU, all threads": "cpu_threads",
    "GPU, pinned copies": "with_copies_pinned",
    "GPU, ordinary copies": "with_copies",
}
times = {label: results.time(name, 2**20) for label, name in bars.items()}
_ = plot_values(times, "time until a million numbers are back")

# %%

# draw: The claims about copies
gg.claim(results, "cpu_threads", faster_than="with_copies", at=2**20, by=12)
gg.claim(results, "cpu_threads", faster_than="with_copies_pinned", at=2**20, by=2)
gg.claim(results, "cpu_threads", faster_than="with_copies", at=2**24, by=3)

# %%
# .. remember::
#
#    - Give each thread one element: ``i = cuda.grid(1)``, and then the guard ``if i < x.size``.
#    - Hand a kernel arrays that are on the GPU. With a NumPy array of a million numbers, which is copied
#      there and back, a launch takes :measured:`with_numpy_array` instead of
#      :measured:`increment[grid, 2**20].time`.

# %%
# Your turn: mend a kernel without a guard
# ----------------------------------------
#
# This kernel is right as long as there are exactly as many threads as elements. If there are more, no
# error is raised. The check needs no GPU, and finds what a GPU would let pass.
#
# .. exercise:: guard

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "one thread": "one_thread",
    "256 threads": "one_block",
    "a thread for each": "grid",
}
times = {label: results.time(name, 2**20) for label, name in names.items()}
_ = thumbnail.bars(times, "time for a million numbers")

# %%
# Next
# ----
#
# Next: :doc:`Ufuncs: one decorator for costly functions </gallery/first_kernels/ufuncs>`, where the decorator
# writes the kernel for you. See also:
# :doc:`Matrices: walk along the rows </gallery/first_kernels/grids_2d_3d>`, where each thread has a place in
# a matrix.
