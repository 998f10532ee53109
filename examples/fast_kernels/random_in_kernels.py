"""
Random numbers inside a kernel
==============================

How does each thread get random numbers of its own, and what do they cost?
"""
# %%
# If a single kernel uses the random numbers, make them in that kernel, and they never go through memory. A
# thousand million random points take :measured:`points[no_state, 2**30].time` there. If ``cp.random`` makes
# them, they take :measured:`points[cupy_counted, 2**30].time` with a kernel of your own that counts them, and
# :measured:`points[cupy, 2**30].time` with array arithmetic.
#
# .. headline:: Numbers made in the kernel are
#    :measured:`points[no_state, 2**30].speedup(cupy_counted)` as fast as numbers in memory
#
# .. drawn:: random_in_kernels
#
#    from gpuguide.charts.shapes import plot_values
#
#    names = {
#        "cp.random, then array arithmetic": "cupy",
#        "cp.random, then one kernel": "cupy_counted",
#        "in the kernel, from a counter": "no_state",
#        "in the kernel, from states made before": "own_state",
#    }
#    times = {label: results.time(name, 2**30) for label, name in names.items()}
#    plot_values(times, "time of a thousand million random points")
#
# Numba's own generator needs a state for each thread, and the CPU makes them slowly. So make few, once, and
# let each thread draw many numbers. Or compute the numbers from a counter, without states.

# %%
# A state for each thread
# -----------------------
#
# A generator has a *state*, a few numbers from which it makes the next random number and the next state.
# Threads that run at the same time cannot share one, so Numba makes an array of states, one for each thread,
# from a single :term:`seed <random seed>`. Each begins 2\ :sup:`64` numbers after the one before, so that no
# two threads ever meet. In this kernel, each thread throws points into a square. The share of them that lies
# within a quarter of a circle is a quarter of pi.
#
# .. rung:: own_state

import cupy as cp
import numpy as np
from numba import cuda, float32
from numba.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_uniform_float32,
)


@cuda.jit
def own_state(states, points, counts):
    """Each thread throws points, and counts those within a quarter of a circle."""
    i = cuda.grid(1)
    if i < counts.size:
        inside = 0
        for _ in range(points):
            x = xoroshiro128p_uniform_float32(states, i)
            y = xoroshiro128p_uniform_float32(states, i)
            if x * x + y * y < float32(1):
                inside += 1
        counts[i] = inside


n_threads, points = 65_536, 1000
states = create_xoroshiro128p_states(n_threads, seed=1)
counts = cp.empty(n_threads, dtype=cp.int32)
own_state[n_threads // 256, 256](states, points, counts)
print("pi is about", 4 * int(counts.sum()) / (n_threads * points))

# %%
# .. try-it::
#
#    Launch the kernel once more with the same states. You get another estimate, since the states have moved
#    on. With states made anew from the same seed you get the first one again, to the last digit.
#
# The generator is xoroshiro128+, with 128 bits of state. There is also ``xoroshiro128p_uniform_float64``, and
# for the normal distribution ``xoroshiro128p_normal_float32`` and ``_float64``, which draw twice for each
# number.

# %%

# record: The studies: points and walks, every result held against what chance allows
import gpuguide as gg
from gpuguide.measure.turns import in_turns
from gpuguide.topics.random_in_kernels import study as random_in_kernels
from gpuguide.topics.random_in_kernels.kernels import (
    count_ones,
    no_state,
    one_draw,
    philox,
    same_in_blocks,
    walk,
)

results = random_in_kernels.points.run()
walks = random_in_kernels.walks.run()
make = random_in_kernels.seconds_to_make
sizes = {f"states_2_{k}": 2**k for k in (10, 14, 18, 20)}
for name, seconds in in_turns(
    {k: lambda n=n: make(n) for k, n in sizes.items()}, 3
).items():
    gg.fact(name, float(np.median(seconds)), unit="s", samples=seconds)
_ = gg.keep("paths", random_in_kernels.paths(8, 1000))

# %%
# States cost time and memory: make few
# -------------------------------------
#
# ``create_xoroshiro128p_states`` computes the states on one thread of the CPU, one after the other, and
# copies them to the GPU, 16 bytes each. A quarter of a million takes :measured:`states_2_18`, and the time
# grows with their number. The GPU throws a thousand million points with them in
# :measured:`points[own_state, 2**30].time`.
#
# It needs many thousands of threads to be busy, but not a thread for each number. So let each thread draw
# many, make the states once, before any loop, and hand them to each launch. If you launch the kernel only
# once, nearly all of the time goes to the states, and the counter below, which needs none, is far faster.

# %%
# Both coordinates out of one number
# ----------------------------------
#
# The generator makes 64 bits at a time, and a ``float32`` between 0 and 1 takes 24 of them. So one draw is
# enough for a point. The function ``unit`` leaves out the lowest bits, the weakest of this generator, as `its
# authors say <https://prng.di.unimi.it/xoroshiro128plus.c>`__.
#
# .. rung:: one_draw

from numba import uint32, uint64
from numba.cuda.random import xoroshiro128p_next

one_draw[n_threads // 256, 256](states, points, counts)
print("pi is about", 4 * int(counts.sum()) / (n_threads * points))

# %%
# No states at all: compute numbers from a counter
# -------------------------------------------------
#
# A *counter-based* generator scrambles a counter so thoroughly that the results look random. Number 7 of
# thread 12 follows from the seed, from 12 and from 7, and needs no number before it. There is nothing to
# create, to keep or to copy, and the kernel takes about as long as the first one above. If you count elements
# instead of threads, the result does not even depend on the grid. Philox is such a generator: ordinary
# arithmetic, which works with any compiler.
#
# .. rung:: no_state
#    :beside:

no_state[n_threads // 256, 256](1, points, counts)
print("pi is about", 4 * int(counts.sum()) / (n_threads * points))


@cuda.jit
def first_numbers(out):
    i = cuda.grid(1)
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = philox(0, i, 0)


out = cp.empty((n_threads, 4), cp.uint32)
first_numbers[n_threads // 256, 256](out)
print("of thread 0:", *(f"{int(number):08x}" for number in out[0]))

# %%
# The last line shows the first `test values of Philox's authors
# <https://github.com/DEShawResearch/random123/blob/main/tests/kat_vectors>`__. Check a generator that you
# write down yourself in this way: with a slip in one constant, its numbers would still look random.
#
# .. dropdown:: Where Numba's generator is going
#
#    Numba's successor for CUDA, numba-cuda-mlir, keeps the functions with states for old code only. `Its
#    documentation <https://nvidia.github.io/numba-cuda-mlir/latest/user/random.html>`__ calls the module
#    deprecated, and refers to the `device functions of cuRAND in nvmath-python
#    <https://docs.nvidia.com/cuda/nvmath-python/latest/device-apis/curand.html>`__. In version 0.6.0, plain
#    Python makes the states in a loop. Philox above needs neither.

# %%
# Random walks
# ------------
#
# Each step of a walker leads to the next crossing, in one of four directions. In a kernel, each thread walks
# on its own, a thousand steps in one launch.
#
# .. headline:: Eight random walks of a thousand steps
#
# .. drawn:: random_in_kernels
#
#     import matplotlib.pyplot as plt
#     from gpuguide.charts.style import INK, SERIES, describe, style
#
#     with style():
#         ax = plt.subplots(figsize=(7.2, 3.2))[1]
#         for path, colour in zip(arrays["paths"], SERIES * 2, strict=False):
#             ax.plot(path[:, 0], path[:, 1], color=colour, linewidth=1)
#         ax.plot(0, 0, "o", color=INK)
#         ax.set(xticks=[], yticks=[], aspect="equal", frame_on=False, anchor="W")
#         ax.grid(visible=False)
#         describe(ax, "Eight jagged paths from one point; each goes its own way.")
#
# .. rung:: walk
#    :beside:

n_walkers, steps = 65_536, 1000
ends = cp.empty((n_walkers, 2), dtype=cp.int32)
walk[n_walkers // 256, 256](states, steps, ends)
squares = (ends.astype(cp.float64) ** 2).sum(axis=1)
print("mean square of the distance:", float(squares.mean()), "after", steps, "steps")

# %%
# In theory it is a thousand. A million walkers take :measured:`walks[walk, 2**20].time` on the GPU. With
# ``cp.random``, draw the numbers of many steps at once and add up where they lead:
# ``ways[rng.integers(0, 4, size=(125, n), dtype=np.int8)].sum(0)``, with the four ways in an array. That
# takes :measured:`walks[cupy_pieces, 2**20].time`, far less than calls for each step, but all numbers and
# ways still go through memory.
#
# If you only need to know where the walks end, leave out the steps: in each of them, ``x + y`` and ``x - y``
# go up or down by one, independently, so draw each of the two as
# ``2 * rng.binomial(steps, 0.5, n) - steps``.

# %%
# What goes wrong: numbers that come again
# ----------------------------------------
#
# If threads count by ``cuda.threadIdx.x``, which is the same in all blocks, every block throws the same
# points. The same happens from launch to launch, if you make the states anew from the same seed. No error is
# raised, and each estimate of pi looks fine. So compare the counts of whole blocks:

# wrong: a thread's place in its block is the same in all blocks
for kernel in (no_state, same_in_blocks):
    kernel[n_threads // 256, 256](1, points, counts)
    estimate = 4 * int(counts.sum()) / (n_threads * points)
    different = len({tuple(block) for block in counts.reshape(-1, 256).tolist()})
    print(
        f"pi is about {estimate:.4f}, and {different} of {n_threads // 256} blocks differ"
    )

# %%
# In the second line, all 256 blocks have the same counts.
#
# .. kernel:: gpuguide.topics.random_in_kernels.kernels
#    :names: same_in_blocks
#    :fold: The wrong kernel

# %%
# What goes wrong: a number below 1 that is 1
# -------------------------------------------
#
# ``xoroshiro128p_uniform_float32`` makes a number of 53 bits below 1 and rounds it to ``float32``. Once in
# about 33 million times, it becomes 1. Then ``int(u * n)`` is an index behind the end, and ``log(1 - u)`` is
# infinite. This is a `known fault <https://github.com/NVIDIA/numba-cuda/issues/753>`__ of numba-cuda:

states = create_xoroshiro128p_states(n_threads, seed=1)
count_ones[n_threads // 256, 256](states, 8192, counts)
print(int(counts.sum()), "of", n_threads * 8192, "numbers are 1")

# %%
# .. kernel:: gpuguide.topics.random_in_kernels.kernels
#    :names: count_ones
#    :fold: The kernel that counts
#
# The function ``unit`` above never returns 1, for its 24 bits all fit into a ``float32``. The function for
# ``float64`` is right as well.

# %%

# draw
gg.claim(results, "own_state", faster_than="cupy", at=2**30, by=10)
gg.claim(results, "no_state", faster_than="cupy", at=2**30, by=10)
gg.claim(results, "own_state", faster_than="cupy_counted", at=2**30, by=2.2)
gg.claim(results, "no_state", faster_than="cupy_counted", at=2**30, by=2.1)
gg.claim(results, "one_draw", faster_than="own_state", at=2**30, by=1.5)
gg.claim(results, "no_state", faster_than="fresh_states", at=2**30, by=24)
gg.claim(results, "no_state", faster_than="cpu_threads", at=2**30, by=55)
gg.claim(results, "cupy", faster_than="cpu_threads", at=2**30, by=5)
gg.claim(results, "cupy_counted", faster_than="cupy", at=2**30, by=4)
gg.claim(results, "no_state", faster_than="cupy_counted", at=2**25, by=2.3)
gg.claim(results, "no_state", faster_than="cupy_counted", at=2**20, by=9)
gg.claim(walks, "walk", faster_than="cupy_steps", at=2**20, by=30)
gg.claim(walks, "walk", faster_than="cupy_pieces", at=2**20, by=8.6)
_ = gg.claim(walks, "cupy_pieces", faster_than="cupy_steps", at=2**20, by=3.2)

# %%
# All ways and sizes
# ------------------
#
# .. headline:: A kernel that makes its own numbers is the fastest at every size

# draw
gg.plot_time(results, variants=["cupy", "cupy_counted", "no_state"])

# %%
# All threads of the CPU, which compute the same points from a counter in ``float32``, are far behind: with a
# thousand million points, they take longer than array arithmetic on the GPU.
#
# .. dropdown:: Could CuPy do better?
#
#    Array arithmetic goes through memory several times. A kernel of your own that reads each coordinate once
#    saves most of that, but the numbers still have to be made, stored and read. ``default_rng`` makes
#    ``float32`` numbers at :measured:`random_numbers:float32[xorwow, 5*10**7].rate(numbers)`. At this rate,
#    two thousand million coordinates alone take longer than a kernel that makes its own takes for everything.
#
#    Do not count by a ``ReductionKernel`` of the two arrays of coordinates: CuPy then
#    :doc:`starts a single block </gallery/fast_kernels/reductions>`.
#
# .. kernel:: gpuguide.topics.random_in_kernels.study
#    :names: drawn, cupy, cupy_counted, fresh_states, four_ways, cupy_steps, cupy_pieces
#    :fold: The calls as they were timed
#
# .. kernel:: gpuguide.topics.random_in_kernels.kernels
#    :names: count_stored
#    :fold: The kernel that counts stored points
#
# .. kernel:: gpuguide.topics.random_in_kernels.kernels
#    :names: philox_on_cpu, unit_on_cpu, cpu_threads
#    :fold: The loop on all threads of the CPU

# %%
# .. remember::
#
#    - If a single kernel uses the random numbers, make them in that kernel.
#    - Make one state per thread, once, and draw many numbers with it: a quarter of a million states take
#      the CPU :measured:`states_2_18`.
#    - For a single launch, or a result that must not depend on the grid, use a counter-based generator.

# %%
# Your turn: the same walks on any grid
# -------------------------------------
#
# Numbers that follow from a counter need no states. Let walkers go the same ways, however many threads there
# are. The check needs no GPU.
#
# .. exercise:: same_walks

# thumbnail
from gpuguide.charts import thumbnail

names = {"cp.random": "cupy", "in a kernel": "own_state", "from a counter": "no_state"}
times = {label: results.time(name, 2**30) for label, name in names.items()}
_ = thumbnail.bars(times, "time of random points")

# %%
# Next
# ----
#
# Next: :doc:`Registers: use a local variable </gallery/fast_kernels/registers>`. See also:
# :doc:`Random numbers: take default_rng </gallery/cupy/random_numbers>`, where CuPy makes the numbers.
