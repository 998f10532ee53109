"""
Divergence
==========

What happens when the threads of a warp want different things?
"""
# %%
# All 32 threads of a warp wait for the slowest: where they look for the smallest divisors of 2\ :sup:`22`
# numbers, a thread has work in :measured:`active_divisors_in_order` of its warp's steps. Sorted by cost, the
# kernel would be :measured:`divisors[by_cost, 2**22].speedup(in_order)` as fast. Regrouped at each stage, it
# is :measured:`divisors[regrouped_often, 2**22].speedup(in_order)` as fast.
#
# .. rungs:: divisors
#    :at: 2**12, 2**18, 2**22
#    :beside: shuffled, by_cost

# %%
# A warp waits for its slowest thread
# -----------------------------------
#
# A GPU issues an instruction for a whole warp, 32 neighbouring threads. Where an ``if`` divides them, the
# warp walks through one side and then through the other. On each, the threads that do not belong there wait:
# that is :term:`branch divergence`. A loop asks the same question at every turn: stay or leave? Threads that
# leave early wait for those that stay.
#
# .. drawing:: divergence
#
#     Eight threads of a warp over time. With both kinds mixed, four threads work on the first side while four
#     wait, then the other way round. Grouped, each of two warps walks through a single side and nobody waits.
#     In a loop with turns of different number all wait for the longest.
#
# Here each thread looks for the smallest divisor of a number. Even numbers are done at once. For a prime, the
# thread tries all odd numbers up to the square root. Each try is a step, and steps can be counted without a
# clock: the last line of the output tells how many of them have work for a thread.
#
# .. rung:: in_order

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit(device=True)
def odd_divisor(number, d, last):
    """Try odd numbers from d to last; give number if it is prime, and 0 if that is open."""
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
#    Write ``warps = np.sort(tries).reshape(-1, 32)``. The same work, dealt out to warps of equals, keeps
#    nearly all threads busy. Then put ``np.random.permutation`` in the place of ``np.sort``.

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
# Here the costs come from the first run, and making the list is not timed.
#
# .. rung:: by_cost

order = cp.asarray(np.argsort(-tries).astype(np.int32))
by_cost[512, 128](order, divisors)
print("same answers:", bool((divisors.get() == found).all()))

# %%
# With 2\ :sup:`22` numbers in order, the warps take :measured:`steps_divisors_in_order` the steps that they
# take here, and the clock agrees: sorted by cost, the kernel is
# :measured:`divisors[by_cost, 2**22].speedup(in_order)` as fast. :evidence:`count warp_steps` In a random
# order a thread has work in :measured:`active_divisors_shuffled` of the steps, and the kernel takes
# :measured:`divisors[shuffled, 2**22].time`.
#
# .. kernel:: gpuguide.topics.divergence.warp_steps
#    :names: warp_steps, active_share
#    :fold: How warp steps are counted

# %%
# Regrouped through shared memory
# -------------------------------
#
# Nobody knows the cost beforehand. But a block can find out as it goes. It tries the divisors up to 31 first,
# and notes in :term:`shared memory` which numbers are still open. Then it deals this list out to its threads,
# so that no even number holds a place in a warp of primes.
#
# .. rung:: regrouped

regrouped[32, 128](divisors)
print("same answers:", bool((divisors.get() == found).all()))

# %%
# Regrouped at every stage
# ------------------------
#
# The numbers that are open after the first stage still differ: one is divisible by 37, another is a prime. So
# the block can stop and deal out again after the divisors up to 127, up to 511, and so on. Each stage writes
# the list of the next.
#
# .. rung:: regrouped_often

regrouped_often[32, 128](divisors)
print("same answers:", bool((divisors.get() == found).all()))

# %%

# record: The steps of warps in each order, and the study of divisors
from gpuguide.topics.divergence import study as smallest_divisor

n = 2**22
shuffled, costly_first = smallest_divisor.divisors.make_inputs(n, exact=False)
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
results = smallest_divisor.divisors.run()

# %%

# draw
gg.plot_time(results, variants=["in_order", "regrouped", "regrouped_often", "by_cost"])

# %%
# .. finding::
#
#    At 2\ :sup:`22` numbers, the kernel takes :measured:`divisors[in_order, 2**22].time` in order,
#    :measured:`divisors[regrouped, 2**22].time` regrouped once,
#    :measured:`divisors[regrouped_often, 2**22].time` regrouped at each stage, and
#    :measured:`divisors[by_cost, 2**22].time` sorted by cost. At 2\ :sup:`12`, in order takes
#    :measured:`divisors[in_order, 2**12].time`, sorted by cost :measured:`divisors[by_cost, 2**12].time`, and
#    regrouped once :measured:`divisors[regrouped, 2**12].time`.
#
# With 2\ :sup:`12` numbers, all warps are on the GPU at once. We think that the kernel then takes about as
# long as its slowest warp, in order or sorted. :evidence:`opinion` Regrouped, these numbers are work for two
# blocks only, and each thread has 16 of them. In order beats both up to 2\ :sup:`18` numbers. The steps of
# the regrouped kernels are not counted: they depend on which thread is the first to write to a list.
#
# .. results:: divisors

# draw
gg.claim(results, "by_cost", faster_than="in_order", at=2**22, by=8)
gg.claim(results, "regrouped", faster_than="in_order", at=2**22, by=3)
gg.claim(results, "regrouped_often", faster_than="in_order", at=2**22, by=4)
gg.claim(results, "regrouped_often", faster_than="regrouped", at=2**22)
gg.claim(results, "in_order", faster_than="regrouped", at=2**12, by=4)
gg.claim(results, "in_order", faster_than=["regrouped", "regrouped_often"], at=2**18)

# %%
# A branch with two long sides
# ----------------------------
#
# In the next kernel, elements are of two kinds, and each kind has a recipe of 128 rounds. Three lists deal
# the same elements out: **mixed**, as they lie; **by warp**, 32 of one kind, then 32 of the other; and
# **grouped**, first all of one kind.
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

_, kind, mixed, by_warp, grouped = two_recipes.recipes.make_inputs(n, exact=False)
for name, chosen in (("mixed", mixed), ("by_warp", by_warp), ("grouped", grouped)):
    sides = [128 * (kind[chosen] == side) for side in (0, 1)]
    share = gg.fact(f"active_{name}", active_share(*sides), unit="share")
    print(f"{name:9} {share.value:6.1%} active, {warp_steps(*sides):,} steps")
recipes = two_recipes.recipes.run()

# %%
# Mixed, :measured:`active_mixed` of a warp's threads are active, by warp and grouped
# :measured:`active_by_warp`. So warps need half the steps, and the clock agrees: by warp is
# :measured:`recipes[by_warp, 2**22].speedup(mixed)` as fast as mixed, and grouped is no faster than that.
# :evidence:`count warp_steps` In all three orders, half of the threads go either way. What matters is who
# shares a warp.
#
# .. results:: recipes

# %%
# A short branch becomes a select
# -------------------------------
#
# Where a side is only an instruction or two, the compiler can do without the branch. These are the lines of a
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
# With two long sides, every thread pays for both. Both recipes and then a choice take
# :measured:`recipes[both_sides, 2**22].time`, about as long as the branch with mixed warps. With warps that
# agree, the branch takes :measured:`recipes[by_warp, 2**22].time`.

# %%
# Independent thread scheduling
# -----------------------------
#
# Since the generation called Volta, the two sides of a divided warp may take turns. NVIDIA calls this
# :term:`independent thread scheduling`, and :doc:`How a GPU works </start/how_a_gpu_works>` says what it is
# good for. It does not make divergence cheaper: at any time the warp issues for one of its paths. But threads
# that have parted need not be together again right after the branch. Where a warp's threads exchange values
# through shared memory, call ``cuda.syncwarp()`` first.

# %%
# Result: sort only where neighbours differ
# -----------------------------------------
#
# The Mandelbrot set is work of another shape. A pixel stands for a complex number c. Its thread repeats
# z = z\ :sup:`2` + c until z has left the circle of radius 2, for at most 256 steps. Most neighbours take
# about as many. A warp can get its pixels in **rows** of 32, in **tiles** of 8 columns and 4 rows,
# **shuffled**, or **by steps**, as if those were known.
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: steps_inside, one_pixel
#    :fold: Steps of a pixel

# %%

# record: The steps of warps in each order of the pixels, and their study
from gpuguide.topics.divergence import mandelbrot

needed = mandelbrot.escape_reference(1024**2)
names = ("rows", "tiles", "shuffled", "by_steps")
lists = dict(zip(names, mandelbrot.escape.make_inputs(1024**2, exact=False), strict=True))
fewest = warp_steps(needed[lists["by_steps"]])
for name, pixels in lists.items():
    steps = needed[pixels]
    share = gg.fact(f"active_escape_{name}", active_share(steps), unit="share")
    ratio = gg.fact(f"steps_escape_{name}", warp_steps(steps) / fewest, unit="ratio")
    print(
        f"{name:9} {share.value:6.1%} active, {ratio.value:5.2f} times the fewest steps"
    )
escape = mandelbrot.escape.run()

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
in_order, rows = measured["divisors_in_order"], measured["escape_rows"]
describe(
    ax,
    f"Steps and time of {len(names)} orders, as multiples of those of the best order; divisors in order take "
    f"{in_order:.0f} times as long, pixels in rows {rows:.1f} times.",
)

# %%
# .. finding::
#
#    For divisors, steps and time agree: in order takes :measured:`steps_divisors_in_order` the steps of the
#    best order, which is :measured:`divisors[by_cost, 2**22].speedup(in_order)` as fast. For pixels, rows
#    take only :measured:`steps_escape_rows` the steps of the best.
#
# In rows, a thread has work in :measured:`active_escape_rows` of the steps, in tiles in
# :measured:`active_escape_tiles`. So sorting can gain little. Shuffled, the warps take
# :measured:`steps_escape_shuffled` the steps of the best order. By the clock the difference is smaller:
# sorted pixels are :measured:`escape[by_steps, 1024**2].speedup(shuffled)` as fast as shuffled ones. What
# makes up the rest is not measured here. There is work around the steps, and sorted warps are not equally
# long.
#
# .. results:: escape

# draw
gg.claim(escape, "rows", faster_than="shuffled", at=1024**2, by=2)
gg.claim(recipes, "by_warp", faster_than="mixed", at=2**22, by=1.6)
gg.claim(recipes, "group_first", faster_than="mixed", at=2**22, by=1.3)
gg.claim(recipes, "mixed", faster_than="group_first", at=2**12, by=1.5)

# %%
# When sorting costs more than waiting
# ------------------------------------
#
# A list must be made and read, and the elements it names may lie apart in memory. If the two recipes are
# grouped at each call, 2\ :sup:`22` elements take :measured:`recipes[group_first, 2**22].time`. With a list
# that exists they take :measured:`recipes[grouped, 2**22].time`, and mixed
# :measured:`recipes[mixed, 2**22].time`. At 2\ :sup:`12` elements there is nothing to gain: mixed takes
# :measured:`recipes[mixed, 2**12].time`, and a list that exists makes it no faster. Grouping at each call
# takes :measured:`recipes[group_first, 2**12].time` on the GPU, and Python needs
# :measured:`recipes[group_first, 2**12].launch` to launch its parts, instead of
# :measured:`recipes[mixed, 2**12].launch`.
#
# Look for divergence in long loops first. We think that a kernel that waits for memory most of the time
# hardly notices a branch. :evidence:`opinion`

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
# :doc:`Numba's types </gallery/first_kernels/numba_types>`, on why ``np.uint32`` stands around so many
# numbers here.
