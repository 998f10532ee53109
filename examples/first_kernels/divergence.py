"""
Divergence
==========

What happens when the threads of a warp want different things?
"""
# %%
# All 32 threads of a warp wait for the slowest. Where each looks for a smallest divisor, a thread has work in
# :measured:`active_divisors_in_order` of its warp's steps. Sorted by cost, the kernel is
# :measured:`divisors[by_cost, 2**22].speedup(in_order)` as fast; regrouped in each block, it is
# :measured:`divisors[regrouped, 2**22].speedup(in_order)` as fast.
#
# .. rungs:: divisors
#    :at: 2**12, 2**18, 2**22
#    :beside: shuffled

# %%
# A warp waits for its slowest thread
# -----------------------------------
#
# A GPU issues an instruction for a whole warp, 32 neighbouring threads. Where an ``if`` divides them, the
# warp walks through one side and then through the other. On each, the threads that do not belong there wait.
# A loop asks the same question at every turn: stay or leave? Threads that leave early wait for those that
# stay.
#
# .. drawing:: divergence
#
#     Eight threads of a warp over time. With both kinds mixed, four threads work on the first side while four
#     wait, then the other way round. Grouped, each of two warps walks through a single side and nobody waits.
#     In a loop with turns of different number all wait for the longest.
#
# Here each thread looks for the smallest divisor of a number. Even numbers are done at once. A prime tries
# all odd numbers up to its square root. That can be counted without a clock.
#
# .. rung:: in_order

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit(device=True)
def odd_divisor(number, d, last):
    """Try odd numbers from d to last; return number itself if it is prime, and 0 if that is open."""
    while d * d <= number:
        if d > last:
            return np.uint32(0)
        if number % d == 0:
            return d
        d = np.uint32(d + 2)
    return number


@cuda.jit(device=True)
def first_divisor(number, last):
    """Try 2, and then the odd numbers up to last."""
    if number % np.uint32(2) == 0:
        return np.uint32(2)
    return odd_divisor(number, np.uint32(3), last)


@cuda.jit
def in_order(divisors):
    """Thread i takes the number i + 2."""
    i = cuda.grid(1)
    if i < divisors.size:
        number = np.uint32(i + 2)
        divisors[i] = first_divisor(number, number)


divisors = cp.empty(65_536, dtype=cp.uint32)
in_order[512, 128](divisors)
found = divisors.get()
print("GPU:  ", found[:16])
n = np.arange(2, 18)
print("NumPy:", np.where(n[:, None] % n == 0, n, 99).min(axis=1))
tries = np.minimum(found, np.sqrt(np.arange(2, 65_538))) // 2
warps = tries.reshape(-1, 32)
print(f"a thread has work in {warps.mean() / warps.max(axis=1).mean():.0%} of the steps")

# %%
# .. try-it::
#
#    Write ``np.sort(tries).reshape(-1, 32)``. The same work, dealt out to warps of equals, keeps nearly all
#    threads busy. Then try ``np.random.permutation(tries)``.

# %%

# record: The kernels of this page
import gpuguide as gg
from gpuguide.topics.divergence.kernels import by_cost, regrouped, regrouped_often
from gpuguide.topics.divergence.warp_steps import active_share, warp_steps

# %%
# Sorted by cost: warps of equals
# -------------------------------
#
# Suppose that the cost of each number were known. Then a list could name the most expensive numbers first.
#
# .. rung:: by_cost

order = cp.asarray(np.argsort(-tries).astype(np.int32))
by_cost[512, 128](order, divisors)
print("same answers:", bool((divisors.get() == found).all()))

# %%
# With all 2\ :sup:`22` numbers, the warps take :measured:`divisors[by_cost, 2**22].gain(warp_steps)` fewer
# steps than in order, and the clock agrees: the kernel is
# :measured:`divisors[by_cost, 2**22].speedup(in_order)` as fast. :evidence:`count warp_steps` A random order
# makes it worse. Shuffled, a thread has work in :measured:`active_divisors_shuffled` of the steps, and the
# kernel takes :measured:`divisors[shuffled, 2**22].time`.
#
# .. kernel:: gpuguide.topics.divergence.warp_steps
#    :names: warp_steps, active_share
#    :fold: How warp steps are counted

# %%
# Regrouped through shared memory
# -------------------------------
#
# Nobody knows the cost beforehand. But a block can find out as it goes. It tries the small divisors first,
# and notes in :term:`shared memory` which numbers are still open. Then it deals this list out to its threads,
# so that no thread waits beside an even number.
#
# .. rung:: regrouped

regrouped[32, 128](divisors)
print("same answers:", bool((divisors.get() == found).all()))

# %%
# Regrouped at every stage
# ------------------------
#
# What is open after the first stage still differs: one number falls to 37, another is a prime. So the block
# can stop and deal out again at 127, at 511, and so on. Each stage writes the list of the next.
#
# .. rung:: regrouped_often

regrouped_often[32, 128](divisors)
print("same answers:", bool((divisors.get() == found).all()))

# %%

# record: The steps of warps in each order, and the study of divisors
from gpuguide.topics.divergence import study as smallest_divisor

n = 2**22
shuffled, costly_first = smallest_divisor.study().make_inputs(n, exact=False)
tried = smallest_divisor.divisions(n)
fewest = warp_steps(tried[costly_first])
for name, steps in (
    ("by_cost", tried[costly_first]),
    ("in_order", tried),
    ("shuffled", tried[shuffled]),
):
    share = gg.fact(f"active_divisors_{name}", active_share(steps), unit="share")
    ratio = gg.fact(f"steps_divisors_{name}", warp_steps(steps) / fewest, unit="ratio")
    print(
        f"{name:9} {share.value:6.1%} active, {ratio.value:5.2f} times the fewest steps"
    )
results = smallest_divisor.study().run()

# %%

# draw
gg.plot_time(results, variants=["in_order", "regrouped", "regrouped_often", "by_cost"])

# %%
# .. finding::
#
#    At 2\ :sup:`22` numbers regrouping once takes :measured:`divisors[regrouped, 2**22].time` and at each
#    stage :measured:`divisors[regrouped_often, 2**22].time`. In order takes
#    :measured:`divisors[in_order, 2**22].time`, sorted by cost :measured:`divisors[by_cost, 2**22].time`. At
#    2\ :sup:`12` numbers, :measured:`divisors[in_order, 2**12].time` and
#    :measured:`divisors[by_cost, 2**12].time` lie much closer together.
#
# With 2\ :sup:`12` numbers, all warps are on the GPU at once. In any order the kernel then takes about as
# long as its slowest warp, we think. :evidence:`opinion`
#
# .. results:: divisors

# draw
gg.claim(results, "by_cost", faster_than="in_order", at=2**22, by=2)
gg.claim(results, "regrouped", faster_than="in_order", at=2**22)

# %%
# A branch with two long sides
# ----------------------------
#
# In the next kernel elements are of two kinds, and each kind has a recipe of 128 rounds. Three lists deal the
# same elements out: **mixed**, **by warp** (32 of one kind, then 32 of the other) and **grouped** (first all
# of one kind).
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: shift_recipe, turn_recipe
#    :fold: The two recipes
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: branch
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: both_sides, group
#    :fold: Both sides then a choice, and grouping at each call

# %%

# record: The steps of warps on both sides, and the study of two recipes
from gpuguide.topics.divergence import two_recipes

_, kind, mixed, by_warp, grouped = two_recipes.study().make_inputs(n, exact=False)
for name, chosen in (("mixed", mixed), ("by_warp", by_warp), ("grouped", grouped)):
    sides = [128 * (kind[chosen] == side) for side in (0, 1)]
    share = gg.fact(f"active_{name}", active_share(*sides), unit="share")
    print(f"{name:9} {share.value:6.1%} active, {warp_steps(*sides):,} steps")
recipes = two_recipes.study().run()

# %%
# Mixed, :measured:`active_mixed` of the threads are active, by warp and grouped :measured:`active_by_warp`.
# So warps need half the steps, and by warp is :measured:`recipes[by_warp, 2**22].speedup(mixed)` as fast as
# mixed, grouped :measured:`recipes[grouped, 2**22].speedup(mixed)`. :evidence:`count warp_steps` Only the
# neighbours in a warp matter: half of the threads go either way every time.
#
# .. results:: recipes

# %%
# A short branch becomes a select
# -------------------------------
#
# If a side takes less time than a branch, the compiler does without the branch. Here are the lines of a
# kernel's :term:`PTX` that branch or select.


@cuda.jit
def damp(x, out):
    i = cuda.grid(1)
    if i < out.size:
        v = x[i]
        if v < np.float32(0.0):
            v = v * np.float32(0.1)
        out[i] = v


x = cp.linspace(-1, 1, 65_536, dtype=cp.float32)
damp[512, 128](x, x)
(ptx,) = damp.inspect_asm().values()
for line in ptx.splitlines():
    if "bra " in line or "selp" in line:
        print(line.strip())

# %%
# The branch is the guard of the index, and only the warp in which the array ends can part there. The inner
# ``if`` has become ``selp``, a select: every thread computes both values and keeps one. A select has no
# sides, so nobody waits.
#
# With two long sides a select saves nothing. Both sides for every element take
# :measured:`recipes[both_sides, 2**22].time`, the divided warps :measured:`recipes[mixed, 2**22].time`.

# %%
# Independent thread scheduling
# -----------------------------
#
# Since the generation called Volta, each thread has a program counter of its own. The two sides of a branch
# may take turns, so a thread can wait for another thread of its warp without blocking it forever. This is
# `independent thread scheduling
# <https://docs.nvidia.com/cuda/cuda-c-programming-guide/#independent-thread-scheduling>`__. It does not make
# divergence cheaper: at any time the warp still issues for one of its paths. But it means that threads need
# not be together again right after a branch. Before they exchange values within a warp, call
# ``cuda.syncwarp()``.

# %%
# Result: sort only where neighbours differ
# -----------------------------------------
#
# The Mandelbrot set is work of another shape. A pixel takes up to 256 steps, and its neighbours take about as
# many. A warp can get its pixels in **rows** of 32, in **tiles** of 8 columns and 4 rows, **shuffled**, or
# **by steps**, as if those were known.
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: steps_inside, one_pixel
#    :fold: Steps of a pixel

# %%

# record: The steps of warps in each order of the pixels, and their study
from gpuguide.topics.divergence import mandelbrot

needed = mandelbrot.escape_reference(1024**2)
names = ("rows", "tiles", "shuffled", "by_steps")
lists = dict(
    zip(names, mandelbrot.study().make_inputs(1024**2, exact=False), strict=True)
)
fewest = warp_steps(needed[lists["by_steps"]])
for name, pixels in lists.items():
    steps = needed[pixels]
    share = gg.fact(f"active_escape_{name}", active_share(steps), unit="share")
    ratio = gg.fact(f"steps_escape_{name}", warp_steps(steps) / fewest, unit="ratio")
    print(
        f"{name:9} {share.value:6.1%} active, {ratio.value:5.2f} times the fewest steps"
    )
escape = mandelbrot.study().run()

# %%

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.style import SERIES, describe

orders = {"divisors": ("by_cost", "in_order", "shuffled")}
orders["escape"] = ("by_steps", "tiles", "rows", "shuffled")
measured = {}
for work, (best, *others) in orders.items():
    study, size = {"divisors": (results, 2**22), "escape": (escape, 1024**2)}[work]
    measured[f"{work}_{best}"] = 1
    measured |= {
        f"{work}_{each}": study.speedup(best, each, size).value for each in others
    }
_, ax = plt.subplots()
for marker, colour, label, values in (
    (
        "o",
        SERIES[0],
        "steps of warps, counted",
        [facts[f"steps_{name}"].value for name in measured],
    ),
    ("D", SERIES[1], "time, measured", list(measured.values())),
):
    ax.plot(values, range(len(values)), marker, color=colour, label=label, ls="")
names = [name.replace("escape", "pixels").replace("_", ", ", 1) for name in measured]
ax.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
ax.set(xlabel="times those of the best order", xlim=(0, None))
ax.legend(loc="upper right")
most = max(measured.values())
describe(
    ax,
    f"Steps and time of {len(names)} orders, from 1 to {most:.0f} times those of the best.",
)

# %%
# .. finding::
#
#    For divisors, steps and time agree: in order takes :measured:`steps_divisors_in_order` the steps of the
#    best order. For pixels, rows take only :measured:`steps_escape_rows` the steps of the best.
#
# In rows, a thread has work in :measured:`active_escape_rows` of the steps, in tiles in
# :measured:`active_escape_tiles`. So sorting can gain little. Shuffling shows what the picture does for us:
# it costs :measured:`steps_escape_shuffled` the steps. By the clock it is less, since sorted pixels are
# :measured:`escape[by_steps, 1024**2].speedup(shuffled)` as fast as shuffled ones. We think that what a pixel
# takes besides its steps, its place in the list and its address, makes up the difference. :evidence:`opinion`
#
# .. results:: escape

# draw
gg.claim(escape, "rows", faster_than="shuffled", at=1024**2)

# %%
# When sorting costs more than waiting
# ------------------------------------
#
# A list must be made and read, and the elements it names lie apart in memory. If the two recipes are grouped
# at each call, 2\ :sup:`22` elements take :measured:`recipes[group_first, 2**22].time`, against
# :measured:`recipes[grouped, 2**22].time` with a list that is there and
# :measured:`recipes[mixed, 2**22].time` without one. At 2\ :sup:`12` elements it takes
# :measured:`recipes[group_first, 2**12].time`, and mixed takes :measured:`recipes[mixed, 2**12].time`. Look
# for divergence in long loops; a kernel that waits for memory most of the time hardly notices a branch.

# %%
# Your turn: even and odd places
# ------------------------------
#
# Two recipes alternate along an array, so the kinds are known in advance. No list is needed; a formula for
# the index will do.
#
# .. exercise:: divergence

# %%
# Next
# ----
#
# Onward: :doc:`Exercises </practice/puzzles>`, with more kernels to mend, each with a check. Sideways:
# :doc:`Numba's types </gallery/first_kernels/numba_types>`, on why ``np.uint32`` stands around numbers here.
