"""
Stencils: several cells, several steps
======================================

How do you compute cells from their neighbours fast, and how do blocks wait for each other?
"""
# %%
# For a stencil, write a kernel in which each thread computes eight cells. On a billion cells, it is
# :measured:`step[eight_rows, 2**30].speedup(elementwise)` as fast as CuPy's ``ElementwiseKernel``, and
# :measured:`step[eight_rows, 2**30].speedup(cupy)` as fast as adding slices. Six steps per launch are worth
# another :measured:`steps[six_steps, 2**30].speedup(row_launches)`. Blocks wait for each other between two
# launches, and never at ``cuda.syncthreads()``.
#
# .. headline:: Several cells per thread, and several steps per launch
#
# .. drawn:: stencil
#
#     import matplotlib.pyplot as plt
#     from gpuguide.charts.style import CUPY, KERNEL, describe, style
#
#     times = {
#         "CuPy, one kernel": results.time("elementwise", 2**30).value,
#         "1 cell per thread": results.time("one_cell", 2**30).value,
#         "8 cells per thread": results.time("eight_rows", 2**30).value,
#         "6 steps per launch": many.time("six_steps", 2**30).value / 24,
#     }
#     with style():
#         ax = plt.subplots(figsize=(7.2, 1.7))[1]
#         for row, (label, time) in enumerate(times.items()):
#             ax.barh(row, time, height=0.62, color=CUPY if "CuPy" in label else KERNEL)
#             shown = f"  {time * 1e3:.1f} ms"
#             ax.text(time, row, shown, va="center", weight="bold")
#         ax.set_yticks(range(4), list(times))
#         ax.set(xlim=(0, 1.2 * max(times.values())), xticks=[], ylim=(3.5, -0.5))
#         ax.spines["bottom"].set_visible(False)
#         ax.grid(visible=False)
#         words = "; ".join(f"{label}: {time * 1e3:.1f} ms" for label, time in times.items())
#         describe(ax, f"Bars of the time for one step on 32 768 by 32 768 cells. {words}.")
#
# .. headline:: The heat of two edges and a ring flows over a plate
#
# .. drawn:: stencil
#
#     import matplotlib.pyplot as plt
#     import numpy as np
#     from gpuguide.charts.style import describe, style
#
#     plate = np.zeros((96, 96), np.float32)
#     row, col = np.mgrid[:96, :96] - 48
#     plate[abs(np.hypot(row, col) - 24) < 5] = 1
#     plate[:, 0] = plate[-1] = 1
#     pictures, step = {0: plate.copy()}, 0
#     while step < 2000:
#         sums = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
#         plate[1:-1, 1:-1] = sums / 4
#         step += 1
#         if step in (100, 2000):
#             pictures[step] = plate.copy()
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.1))[1]
#         for at, picture in enumerate(pictures.values()):
#             extent = (1.06 * at, 1.06 * at + 1, 0, 1)
#             ax.imshow(picture, cmap="inferno", vmin=0, vmax=1, extent=extent)
#         ax.set(xlim=(0, 3.12), ylim=(0, 1), yticks=(), frame_on=False, anchor="W")
#         ax.set_xticks((0.5, 1.56, 2.62), ("at first", "100 steps", "2000 steps"))
#         ax.tick_params(length=0)
#         ax.grid(visible=False)
#         describe(
#             ax,
#             "Three pictures of a square plate. At first a ring in the middle and two edges are hot. After "
#             "100 steps the ring is blurred and its middle is warm. After 2000 steps the ring is gone, and "
#             "it is less and less warm the farther a cell lies from the two hot edges.",
#         )

# %%
# A thread for every cell
# -----------------------
#
# Heat evens out. In each step, a cell becomes the mean of its four neighbours, and the edge of
# the plate keeps its temperature. A rule of this kind, in which a cell is computed from those around it, is
# called a *stencil*. It needs two plates: if threads wrote into the plate that they read, some would read old
# neighbours, and some new ones.
#
# .. rung:: one_cell
#    :beside:

import cupy as cp
import numpy as np
from numba import cuda, float32


@cuda.jit
def one_cell(now, then):
    """Each thread computes one cell: the mean of its four neighbours."""
    col, row = cuda.grid(2)
    rows, cols = now.shape
    if row > 0 and row < rows - 1 and col > 0 and col < cols - 1:
        up_and_down = now[row - 1, col] + now[row + 1, col]
        then[row, col] = float32(0.25) * (
            up_and_down + (now[row, col - 1] + now[row, col + 1])
        )
    elif row < rows and col < cols:  # the edge stays as it is
        then[row, col] = now[row, col]


n_rows, n_cols = 1000, 1200
plate = cp.zeros((n_rows, n_cols), dtype=cp.float32)
plate[0] = 100  # the upper edge is hot

now, then = plate.copy(), cp.empty_like(plate)
blocks = (n_cols + 31) // 32, (n_rows + 7) // 8
for _ in range(24):
    one_cell[blocks, (32, 8)](now, then)
    now, then = then, now  # the result is what the next step reads

expected = plate.get()
for _ in range(24):
    up_and_down = expected[:-2, 1:-1] + expected[2:, 1:-1]
    sides = expected[1:-1, :-2] + expected[1:-1, 2:]
    expected[1:-1, 1:-1] = (up_and_down + sides) * np.float32(0.25)
print("a column: ", now[:5, n_cols // 2])
print("as in NumPy:", np.array_equal(now.get(), expected))

# %%
# .. try-it::
#
#    Launch ``one_cell[blocks, (32, 8)](now, now)``, with one plate for both. The result is wrong, and another
#    time it may be wrong in another way, as it depends on which threads come first.

# %%

# record: The studies: one step, 24 steps, every cell compared bit for bit; and cells that are wrong
import gpuguide as gg
from gpuguide.topics.stencil import study as stencil
from gpuguide.topics.stencil.kernels import (
    elementwise_source,
    heat_source,
    eight_rows,
    wait_for_all,
    wait_for_block,
)

results = stencil.step.run()
many = stencil.steps.run()

# %%
# A plate of a billion cells takes :measured:`step[one_cell, 2**30].time`. Every cell has to go through memory
# twice, once to be read and once to be written. That is eight bytes for a cell, and the GPU counts no more,
# :measured:`step[one_cell, 2**30].counter(dram_bytes)` in all, because neighbours come out of the caches.
# :evidence:`counter dram_bytes` Still, there is time to gain: this kernel moves its bytes at
# :measured:`step[one_cell, 2**30].share` of the speed of a copy.

# %%
# In CuPy: one kernel instead of slices
# -------------------------------------
#
# You can add four slices of the plate with CuPy: ``now[:-2, 1:-1] + now[2:, 1:-1]`` and so on. Each operation
# is then a kernel of its own, with a new array for its result. An ``ElementwiseKernel`` does all of them in
# one kernel. You write in C what happens for the cell number ``i``. An array that is ``raw`` may be read at
# any index, and ``then`` is the cell's place in the result.
#
# .. kernel:: gpuguide.topics.stencil.kernels
#    :names: elementwise_source

heat_step = cp.ElementwiseKernel(
    "raw float32 now", "float32 then", elementwise_source, "heat_step"
)
now, then = plate.copy(), cp.empty_like(plate)
for _ in range(24):
    heat_step(now, then)
    now, then = then, now
print("as in NumPy:", np.array_equal(now.get(), expected))

# %%
# For a billion cells this takes :measured:`step[elementwise, 2**30].time`, and adding slices takes
# :measured:`step[cupy, 2**30].time`.

# %%
# Eight cells per thread
# ----------------------
#
# Let each thread compute eight cells of a column. It first loads all that it needs into local arrays, which
# the compiler keeps in registers, and computes after that. The eight cells share what they read: 26 loads do,
# where eight threads would need 32.
#
# .. rung:: eight_rows
#    :beside:

from numba import uint32

now, then = plate.copy(), cp.empty_like(plate)
for _ in range(24):
    eight_rows[((n_cols + 255) // 256, (n_rows + 7) // 8), 256](now, then)
    now, then = then, now
print("as in NumPy:", np.array_equal(now.get(), expected))

# %%
# This reaches :measured:`step[eight_rows, 2**30].share` of the speed of a copy. The kernel executes
# :measured:`step[eight_rows, 2**30].counter(instructions)` instructions instead of
# :measured:`step[one_cell, 2**30].counter(instructions)`, :evidence:`counter instructions` as eight cells
# share what it takes to start a thread, and its indices have no sign. We think that it gains even more from
# loads that are on their way at the same time. :evidence:`opinion`
#
# .. dropdown:: Why the indices are uint32
#
#    Numba lets negative indices count from the end, as Python does, and has to test each signed index for it.
#    An index of type ``uint32`` cannot be negative, so the compiler leaves the test out. Every number
#    that an index is made of must then be ``uint32``: together with an ordinary integer, the sum is signed
#    again.

# %%
# Six steps per launch
# --------------------
#
# A kernel that does a single step has little left to gain. The way on is to fetch a cell once, and do several
# steps with it. A block brings 64 by 64 cells into shared memory and does six steps there. At its rim the
# neighbours are missing, so that it loses a ring of cells in each step, and 52 by 52 are right in the end.
# Therefore blocks overlap, and load one and a half times as many cells as they store: with every further step
# it is more. This kernel is in CUDA C++, where ``#pragma unroll`` keeps the eight cells of a thread in
# registers.
#
# .. headline:: A block keeps the middle: each step costs a ring of cells
#
# .. drawn:: stencil
#
#     import matplotlib.pyplot as plt
#     from gpuguide.charts.style import INK, KERNEL, MUTED, describe, style
#     from matplotlib.patches import Rectangle
#
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.2))[1]
#         for at, (left, words) in enumerate(((0, "loaded"), (2, "after a step"), (4, "after two"))):
#             ax.add_patch(Rectangle((left, 0), 1.6, 1.6, facecolor=MUTED, alpha=0.25))
#             side = 1.6 - 0.4 * at
#             corner = left + 0.2 * at, 0.2 * at
#             ax.add_patch(Rectangle(corner, side, side, facecolor=KERNEL, alpha=0.8))
#             ax.text(left + 0.8, -0.12, words, ha="center", va="top", color=INK)
#         ax.set(xlim=(-0.05, 5.65), ylim=(-0.4, 1.65), aspect="equal", anchor="W")
#         ax.axis("off")
#         describe(
#             ax,
#             "Three squares of the same size, the cells of a block. What is right is orange: all of the "
#             "first, all but a ring of the second, all but two rings of the third.",
#         )
#
# .. kernel:: gpuguide.topics.stencil.kernels
#    :names: heat_source
#    :fold: The kernel in CUDA C++: heat_source

six_steps = cp.RawKernel(heat_source, "heat")
now, then = plate.copy(), cp.empty_like(plate)
for _ in range(24 // 6):
    blocks_of_52 = (n_cols + 51) // 52, (n_rows + 51) // 52
    six_steps(blocks_of_52, (64, 8), (now, then, np.int32(n_rows), np.int32(n_cols)))
    now, then = then, now
print("as in NumPy:", np.array_equal(now.get(), expected))

# %%
# On a billion cells, 24 steps take :measured:`steps[six_steps, 2**30].time`, and
# :measured:`steps[row_launches, 2**30].time` with a launch of ``eight_rows`` for each. A step now takes
# :measured:`step_of_six`, which is less than a copy of the plate would.

# %%

# draw
gg.fact(
    "step_of_six",
    many.time("six_steps", 2**30).value / 24,
    unit="s",
    note="one of 24 steps, six per launch",
)
gg.claim(results, "eight_rows", faster_than="one_cell", at=2**30, by=1.5)
gg.claim(results, "eight_rows", faster_than="one_cell", at=2003 * 3001, by=1.3)
gg.claim(results, "eight_rows", share_at_least=0.75, at=2**30)
gg.claim(results, "one_cell", faster_than="cupy", at=2**30, by=5)
gg.claim(results, "elementwise", faster_than="cupy", at=2**30, by=2)
gg.claim(results, "eight_rows", faster_than=("numpy", "cpu_threads"), at=4096**2, by=20)
gg.claim(many, "six_steps", faster_than="row_launches", at=2**30, by=1.7)
gg.claim(many, "six_steps", faster_than="cell_launches", at=2**30, by=2.8)
gg.claim(
    many,
    "six_steps",
    faster_than=("graph", "wait_for_all", "wait_in_cuda"),
    at=512**2,
    by=2,
)

# %%
# How blocks wait for each other
# ------------------------------
#
# A step may begin when all blocks have finished the one before. The simplest way is the one above: **a launch
# per step**. A kernel begins when the one before it in its stream has ended, and you write nothing for it. If
# the plate is so small that launches take the time, record them in a :term:`CUDA graph`, with the same
# kernel: :doc:`Many short kernels </gallery/first_kernels/launch_overhead>` shows how.
#
# ``grid.sync()`` is for a kernel that has to go on by itself, for example until the heat no longer changes.
# All threads of the grid wait there. Numba then makes a :term:`cooperative launch`, in which all blocks run
# at once, or raises an error if they do not fit. Therefore, ask the driver how many fit, launch no more than
# these, and let them loop over the rows.
#
# .. kernel:: gpuguide.topics.stencil.kernels
#    :names: next_cell, one_step, wait_for_all

from numba import int64

a_plate = float32[:, ::1]
compiled = wait_for_all.compile((a_plate, a_plate, a_plate, int64))
blocks_at_once = compiled.max_cooperative_grid_blocks(256)

spare, out = cp.empty_like(plate), cp.empty_like(plate)
wait_for_all[blocks_at_once, 256](plate, spare, out, 24)
print("as in NumPy:", np.array_equal(out.get(), expected))

# %%
# On a small plate, Python needs longer for the launches than the GPU for the steps. A graph and
# ``grid.sync()`` both make one launch of 24, and several steps per launch save most of the waiting as well:
#
# .. list-table:: 24 steps of 512 by 512 cells
#    :header-rows: 1
#
#    * - Blocks wait
#      - launch in Python
#      - time on the GPU
#    * - between launches of ``one_cell``
#      - :measured:`steps[cell_launches, 512**2].launch`
#      - :measured:`steps[cell_launches, 512**2].time`
#    * - between launches in a graph
#      - :measured:`steps[graph, 512**2].launch`
#      - :measured:`steps[graph, 512**2].time`
#    * - between launches of six steps each
#      - :measured:`steps[six_steps, 512**2].launch`
#      - :measured:`steps[six_steps, 512**2].time`
#    * - at ``grid.sync()``, Numba
#      - :measured:`steps[wait_for_all, 512**2].launch`
#      - :measured:`steps[wait_for_all, 512**2].time`
#    * - at ``grid.sync()``, CUDA C++
#      - :measured:`steps[wait_in_cuda, 512**2].launch`
#      - :measured:`steps[wait_in_cuda, 512**2].time`
#
# On a billion cells, 24 launches of ``one_cell`` take :measured:`steps[cell_launches, 2**30].time`, and the
# kernel with ``grid.sync()`` takes :measured:`steps[wait_for_all, 2**30].time`.
#
# .. dropdown:: The same in CUDA C++
#
#    CuPy launches such a kernel if you say so where you make it:
#    ``cp.RawKernel(source, "heat", enable_cooperative_groups=True)``. The source includes
#    ``cooperative_groups.h``, which comes with CUDA's headers, as in ``pip install "cupy-cuda13x[ctk]"``. The
#    driver says here, too, how many blocks fit: ``cooperative_blocks``, at the end of this page, asks it.
#
# .. kernel:: gpuguide.topics.stencil.kernels
#    :names: cooperative_source
#    :fold: The kernel in CUDA C++: cooperative_source

# %%
# What goes wrong: syncthreads waits for one block
# ------------------------------------------------
#
# ``cuda.syncthreads()`` looks like the same thing. It waits for the threads of its own block alone, so that a
# block runs ahead and reads rows that others have not written yet. No error is raised:
#
# .. kernel:: gpuguide.topics.stencil.kernels
#    :names: wait_for_block

heat = cp.random.default_rng(0).random(plate.shape, dtype=cp.float32)
right, wrong = cp.empty_like(heat), cp.empty_like(heat)
wait_for_all[blocks_at_once, 256](heat, spare, right, 24)
wait_for_block[blocks_at_once, 256](heat, spare, wrong, 24)
n_wrong = int((right != wrong).sum())
print(f"{100 * n_wrong / heat.size:.1f} % of the cells are wrong")

# %%
# In another run it is another number. On a small plate, or with few blocks, it may be zero, and then such a
# mistake waits for its day. ``gg.trace`` finds it without a GPU, whichever block comes first:

import gpuguide as gg

x = np.random.default_rng(0).random((10, 12), dtype=np.float32)
print(gg.trace(wait_for_block[128, 32], x, np.zeros_like(x), np.zeros_like(x), 2))

# %%
# From a million cells to a billion
# ---------------------------------
#
# .. headline:: Eight cells per thread pay off from a few million cells

# draw
ax = gg.plot_time(
    results,
    variants=["numpy", "cpu_threads", "cupy", "elementwise", "one_cell", "eight_rows"],
)

# %%
# .. kernel:: gpuguide.topics.stencil.kernels
#    :names: cpu_threads
#    :fold: The compiled loop on all threads of the CPU
#
# .. kernel:: gpuguide.topics.stencil.study
#    :names: slices, between_two, launch_six_steps, capture, wait_for_all, cooperative_blocks, wait_in_cuda
#    :fold: NumPy and CuPy, and the launches as they were timed

# %%
# .. remember::
#
#    - Write a kernel for a stencil, and give a thread several cells of a column: on a large plate this is
#      :measured:`step[eight_rows, 2**30].speedup(one_cell)` as fast as one cell per thread.
#    - Launch once per step: that is how blocks wait for each other. If the memory is the limit, do several
#      steps per launch in shared memory, and give up a ring of cells for each.

# %%
# Your turn: a stencil from a tile
# --------------------------------
#
# In this exercise, a block brings its cells and a rim of neighbours into shared memory, and reads nothing
# twice. The check needs no GPU.
#
# .. exercise:: stencil_2d

# thumbnail
from gpuguide.charts import thumbnail

picture = np.zeros((70, 100), np.float32)
row, col = np.mgrid[:70, :100]
picture[abs(np.hypot(row - 35, col - 50) - 20) < 5] = 1
picture[:, 0] = picture[-1] = 1
for _ in range(60):
    sums = picture[:-2, 1:-1] + picture[2:, 1:-1] + picture[1:-1, :-2] + picture[1:-1, 2:]
    picture[1:-1, 1:-1] = sums / 4
_ = thumbnail.picture(picture, "heat on a plate", cmap="inferno")

# %%
# Next
# ----
#
# Next: :doc:`Precision: which sums go wrong </gallery/fast_kernels/precision>`, on types and rounding. See
# also: :doc:`Share work among several GPUs </gallery/concurrency/several_gpus>`, where each GPU has a part of
# the plate.
