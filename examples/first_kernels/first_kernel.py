"""
First kernel
============

How does a loop become a kernel, and is it faster?
"""
# %%
# One GPU thread takes :measured:`increment[one_thread, 2**20].time` to add one to 2\ :sup:`20` numbers, a
# block of 256 threads :measured:`increment[one_block, 2**20].time`, and a thread for each number
# :measured:`increment[grid, 2**20].time`. The additions stay the same, and a few lines of code change.
# NumPy takes :measured:`increment[numpy, 2**20].time`, and a compiled loop on all threads of the CPU
# :measured:`increment[cpu_threads, 2**20].time`.
#
# .. rungs:: increment
#    :at: 65_536, 2**20, 2**24
#    :beside: python_loop, numpy, cpu_threads, with_copies_pinned

# %%
# One thread runs the whole loop
# ------------------------------
#
# A kernel is a function that runs on the GPU. This one is an ordinary loop. To launch it means to say how
# many threads run it. They come in blocks, and the brackets ask for one block of one thread. CuPy makes
# the array in the memory of the GPU, so nothing is copied.
#
# .. rung:: one_thread

import cupy as cp
import numpy as np
from numba import config, cuda

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba warns of so small a launch, and is right


@cuda.jit
def one_thread(x):
    """One thread adds one to all elements."""
    for i in range(x.size):
        x[i] += 1


x = cp.ones(65_536)
one_thread[1, 1](x)
print("GPU:  ", x[:3], "...", x[-3:])
print("NumPy:", np.ones(3) + 1)

# %%
# .. try-it::
#
#    Launch the kernel again, ``one_thread[1, 1](x)``, and print ``x``. The numbers are 3 now. The kernel
#    changes its input, so every launch changes the data. Make ``x`` anew before you check a result.
#
# It works, and it is slow. For 65 536 numbers the Python loop takes
# :measured:`increment[python_loop, 65_536].time`, this thread
# :measured:`increment[one_thread, 65_536].time`, and NumPy :measured:`increment[numpy, 65_536].time`. A
# single thread is not what a GPU is good at.

# %%

# record: The kernels, and how many multiprocessors there are
import gpuguide as gg
from gpuguide.topics.first_kernel.kernels import by_hand, grid, grid_stride, one_block

_ = gg.fact("multiprocessors", gg.require_gpu().sm_count, unit="1")

# %%
# A block of 256 threads shares the loop
# --------------------------------------
#
# All threads of a launch run the same function. ``cuda.threadIdx.x`` is a thread's place in its block, and
# ``cuda.blockDim.x`` is the number of threads in it. So thread 5 takes elements 5, 261, 517 and so on.
#
# .. rung:: one_block

x = cp.ones(65_536)
one_block[1, 256](x)  # one block of 256 threads
print(x[:3], "...", x[-3:])

# %%
# Two lines are new, the ``range`` and the launch. For 2\ :sup:`20` numbers each thread of the block makes
# :measured:`increment[one_block, 2**20].work(turns)` of the loop. The single thread made
# :measured:`increment[one_thread, 2**20].work(turns)`. The block is
# :measured:`increment[one_block, 2**20].speedup(one_thread)` as fast, which is less than its number of
# threads: a turn takes longer. We think that threads mostly wait for memory, that 256 of them now wait at the
# same time, and that the single thread finds most of its next numbers already in the cache.
# :evidence:`opinion`

# %%
# A grid of blocks: one thread per element
# ----------------------------------------
#
# A block runs on one multiprocessor, and this GPU has :measured:`multiprocessors`. To use them all, launch
# many blocks. Together they are the grid. With as many threads as elements, the loop is gone. Each thread
# works out which element is its own: its place in the block, plus all threads of the blocks before.
#
# .. drawing:: first_kernel
#
#     Three blocks of four threads stand over eleven elements. Thread 2 of block 1 points to element 6,
#     which is 2 + 1 * 4. The last thread of the last block has no element and does nothing.
#
# All blocks have the same size, so the last threads may have no element. The ``if``, called the guard,
# keeps them from doing anything. Without it they would write beyond the end of the array.
#
# .. rung:: by_hand

x = cp.ones(65_536)
threads_per_block = 256
blocks_per_grid = (x.size + threads_per_block - 1) // threads_per_block  # rounded up
by_hand[blocks_per_grid, threads_per_block](x)
print(blocks_per_grid, "blocks:", x[:3], "...", x[-3:])

# %%
# For 2\ :sup:`24` numbers the grid is :measured:`increment[by_hand, 2**24].speedup(one_block)` as fast as
# the block. It reads and writes :measured:`increment[by_hand, 2**24].rate`, which is
# :measured:`increment[by_hand, 2**24].share` of the rate at which this GPU's memory can copy.

# %%
# cuda.grid(1) is the index
# -------------------------
#
# ``cuda.grid(1)`` is short for that sum. The 1 stands for one dimension.
#
# .. rung:: grid

x = cp.ones(65_536)
grid[blocks_per_grid, threads_per_block](x)
assert (x == 2).all()
print(x[:3], "...", x[-3:])

# %%
# The compiler makes the same instructions of both kernels, so both take the same time:
# :measured:`increment[grid, 2**24].time` for 2\ :sup:`24` numbers.

# %%
# A grid-stride loop fits any size
# --------------------------------
#
# So far the grid grew with the array. Here its size is fixed, and the loop comes back. Each thread takes
# its element, then the one a whole grid further on, and so on to the end.
#
# .. rung:: grid_stride

x = cp.ones(65_536)
grid_stride[128, 256](x)  # half as many threads as numbers
print(x[:3], "...", x[-3:])

# %%
# The gain here is not speed. For 2\ :sup:`26` numbers the loop takes
# :measured:`increment[grid_stride, 2**26].time`, as long as one thread per element. But the launch no longer
# depends on the array. And with ``[1, 1]`` the kernel is the plain loop again, which helps to find a mistake.

# %%

# record: The study: ten variants, six sizes, every result compared bit for bit
from gpuguide.topics.first_kernel.study import increment

results = increment.run()

# %%
# The first call compiles
# -----------------------
#
# The first launch in a program takes :measured:`first_whole`. Of that, :measured:`first_context` go into
# loading CuPy, setting up the GPU and making the array of ones, and :measured:`first_compile` into compiling
# the kernel. With the launch and the work, these parts add up to :measured:`first_call` of the whole. From
# then on Python needs :measured:`increment[grid, 65_536].launch` for a launch.

# %%

# record: The first call in a fresh process, part by part
from gpuguide.topics.first_kernel.first_call_parts import measure_first_call

for name, samples in measure_first_call().items():
    gg.fact(f"first_{name}", float(np.median(samples)), unit="s", samples=samples)

# %%

# draw: The parts of the first call, added up
parts = [
    facts[f"first_{part}"].value for part in ("context", "compile", "launch", "work")
]
_ = gg.explained("first_call", parts, facts["first_whole"].value)

# %%
# Result: above a floor, memory decides
# -------------------------------------

# draw
from gpuguide.charts.marks import mark_floor

ax = gg.plot_time(results, variants=["one_thread", "one_block", "grid"])
mark_floor(ax, results, "grid")

# %%
# .. finding::
#
#    At 65 536 numbers the grid takes :measured:`increment[grid, 65_536].time`, and an empty kernel
#    :measured:`floor` by the same clock. At 2\ :sup:`24` the grid reaches
#    :measured:`increment[grid, 2**24].share` of the rate at which the memory can copy. This is the GPU's
#    clock, without the launch.

# draw: What an empty kernel takes, and four claims
floor_ns = results.measurement("grid", 65_536).floor_ns or 0
_ = gg.fact("floor", floor_ns / 1e9, unit="s", note="an empty kernel")
gg.claim(results, "one_block", faster_than="one_thread", at=2**20, by=10)
gg.claim(results, "grid", faster_than="one_block", at=2**20, by=10)
gg.claim(results, "grid", faster_than=["numpy", "cpu_threads"], at=2**20, by=5)
gg.claim(results, "grid", share_at_least=0.8, at=2**24)

# %%
# So with few numbers most of the time is the floor. Clocks differ in their floor:
# :doc:`How to time a GPU </gallery/measuring/how_to_time>` packs many launches into one
# :term:`CUDA graph`, and reports less for the same kernel. With many numbers memory is the limit.
# :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` shows how to come closer to it.

# %%
# When the loop should stay on the CPU
# ------------------------------------
#
# .. kernel:: gpuguide.topics.first_kernel.study
#    :names: numpy, with_copies, with_copies_pinned
#    :fold: NumPy, and the GPU with copies there and back
#
# .. kernel:: gpuguide.topics.first_kernel.kernels
#    :names: cpu_threads
#    :fold: The compiled loop on all threads of the CPU

# draw
gg.plot_time(
    results, variants=["numpy", "cpu_threads", "with_copies", "with_copies_pinned"]
)

# %%
# .. finding::
#
#    If 2\ :sup:`24` numbers start and end in the memory of the CPU, the GPU takes
#    :measured:`increment[with_copies, 2**24].time` with pageable copies and
#    :measured:`increment[with_copies_pinned, 2**24].time` with pinned copies. A compiled loop
#    (**CPU, all threads**) takes :measured:`increment[cpu_threads, 2**24].time`.
#
# One addition per number is not worth the copies. A kernel pays when the data stays on the GPU for many
# kernels in a row.

# draw: The claim about copies
gg.claim(
    results, "cpu_threads", faster_than=["with_copies", "with_copies_pinned"], at=2**24
)

# %%
# .. results:: increment

# %%
# Your turn: mend a kernel without a guard
# ----------------------------------------
#
# This kernel is right as long as there are exactly as many threads as elements. If there are more, no
# error is raised. The check needs no GPU, and finds what a GPU would let pass.
#
# .. exercise:: guard

# %%
# Next
# ----
#
# Onward: :doc:`Ufuncs on the GPU </gallery/first_kernels/ufuncs>`, where a decorator writes the kernel for
# you. Sideways: :doc:`Grids in 2-D and 3-D </gallery/first_kernels/grids_2d_3d>`, where each thread has a
# place in a matrix.
