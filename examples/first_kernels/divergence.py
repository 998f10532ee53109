"""
Divergence: keep warps busy
===========================

What does it cost when the threads of a warp go different ways?
"""
# %%
# A warp takes as long as the slowest of its 32 threads, so give neighbouring threads work of equal length. A
# search for smallest divisors is :measured:`divisors[by_cost, 2**22].speedup(in_order)` as fast with its
# numbers sorted by cost, and :measured:`divisors[regrouped_often, 2**22].speedup(in_order)` as fast where
# blocks find out the cost as they go. A short ``if`` costs nothing.
#
# .. headline:: Sorted, seven of these eight warps are done almost at once
#
# .. drawn:: divergence
#
#     import matplotlib.pyplot as plt
#
#     from gpuguide.charts.style import GRID, INK, KERNEL, describe, style
#
#     number = np.arange(4_000_000, 4_000_256)
#     odd = np.arange(3, 2000, 2)
#     divides = number[:, None] % odd == 0
#     first = np.where(divides.any(axis=1), odd[divides.argmax(axis=1)], 2000)
#     steps = np.where(number % 2 == 0, 1, first // 2)
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.9))[1]
#         words = []
#         for left, name, taken in ((0, "in order", steps), (1150, "sorted", np.sort(steps)[::-1])):
#             warps = taken.reshape(8, 32)
#             longest = warps.max(axis=1)
#             for values, colour in ((longest[:, None] + 0 * warps, GRID), (warps, KERNEL)):
#                 ends = np.hstack([left + values, np.full((8, 3), left)]).ravel()
#                 ax.stairs(ends, orientation="horizontal", baseline=left, fill=True, color=colour)
#             busy = f"{name}: {100 * taken.mean() / longest.mean():.0f} % busy"
#             ax.text(left, -8, busy, color=INK, fontsize=12)
#             words.append(busy)
#         for y, colour, said in ((130, KERNEL, "a thread works"), (165, GRID, "it waits for its warp")):
#             ax.barh(y - 5, 60, 16, left=1230, color=colour)
#             ax.text(1310, y, said, color=INK, fontsize=12)
#         ax.set(ylim=(282, -30), xlim=(-5, 2160))
#         ax.axis("off")
#         describe(
#             ax,
#             "Bars for 256 threads in eight warps, in order and sorted by cost. In order, a few threads of "
#             f"each warp work for long and the others wait. Threads at work: {', '.join(words)}.",
#         )

# %%
# A warp waits for its slowest thread
# -----------------------------------
#
# A GPU issues an instruction for a whole warp, 32 neighbouring threads. Where an ``if`` divides them, the
# warp walks through one side and then through the other, and on each side the other threads wait. This is
# :term:`branch divergence`. A loop does the same: threads that leave it early wait for those that stay.
#
# .. drawing:: divergence
#
#     Eight threads of a warp over time. With both kinds mixed, four threads work on the first side while four
#     wait, then the other way round. Grouped, each of two warps walks through a single side and nobody waits.
#     In a loop with turns of different number all wait for the longest.
#
# In this example, each thread looks for the smallest divisor of a number. Even numbers are done at once. For
# a prime, the thread tries all odd numbers up to the square root. The last line of the output says in how
# many of its warp's steps a thread has work, which takes no clock to find out. For more and larger numbers
# the share falls: up to four million, it is :measured:`active_divisors_in_order`.
#
# .. rung:: in_order
#    :beside:

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
#    Write ``warps = np.sort(tries).reshape(-1, 32)``: the same work in warps of equals keeps nearly all
#    threads busy. Then put ``np.random.permutation`` in the place of ``np.sort``.

# %%

# record: The kernels of this page
import gpuguide as gg
from gpuguide.topics.divergence.kernels import by_cost, regrouped, regrouped_often
from gpuguide.topics.divergence.warp_steps import active_share, warp_steps

# %%
# If you know the cost: sort by it
# --------------------------------
#
# If the cost of each number is known, a list can name the most expensive numbers first, and thread ``k``
# takes the ``k``-th of the list. The costs here come from the first run. Making the list is not timed, so
# this is for lists that are made once and used often.
#
# .. rung:: by_cost
#    :beside:

order = cp.asarray(np.argsort(-tries).astype(np.int32))
by_cost[512, 128](order, divisors)
print("same answers:", bool((divisors.get() == found).all()))

# %%
# The clock follows the count: in order, the warps take :measured:`steps_divisors_in_order` the steps, and
# sorted, the kernel is :measured:`divisors[by_cost, 2**22].speedup(in_order)` as fast.
# :evidence:`count warp_steps` So count before you write another kernel: a few lines of NumPy on the host
# tell what there is to gain.
#
# .. kernel:: gpuguide.topics.divergence.warp_steps
#    :names: warp_steps, active_share
#    :fold: How the steps are counted

# %%
# If you do not know the cost: regroup in the block
# -------------------------------------------------
#
# Often nobody knows the cost beforehand, but a block can find out as it goes. It tries the divisors up to 31
# first, and notes in :term:`shared memory` which numbers are still open. Then it deals this list out to its
# threads, so that no even number holds a place in a warp of primes.
#
# .. rung:: regrouped
#    :beside:

regrouped[32, 128](divisors)
print("same answers:", bool((divisors.get() == found).all()))

# %%
# What is open after the first stage still differs: one number is divisible by 37, another is a prime. So the
# block can stop and deal out again after the divisors up to 127, up to 511, and so on. That is
# :measured:`divisors[regrouped_often, 2**22].speedup(in_order)` as fast as in order.
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: regrouped_often
#    :fold: The kernel that deals out again at each stage

# %%

# fold: Its launch
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
# .. headline:: Regrouping pays for millions of numbers, and costs time for few

# draw
gg.plot_time(results, variants=["in_order", "regrouped", "regrouped_often", "by_cost"])

# %%
# With a few thousand numbers there is nothing to gain: plain order takes
# :measured:`divisors[in_order, 2**12].time`, and regrouping :measured:`divisors[regrouped, 2**12].time`. All
# warps are on the GPU at once then, so we think that the kernel takes as long as its slowest warp, and
# regrouped numbers are work for two blocks only. :evidence:`opinion`

# draw
gg.claim(results, "by_cost", faster_than="in_order", at=2**22, by=8)
gg.claim(results, "regrouped", faster_than="in_order", at=2**22, by=3)
gg.claim(results, "regrouped_often", faster_than="in_order", at=2**22, by=4)
gg.claim(results, "regrouped_often", faster_than="regrouped", at=2**22)
gg.claim(results, "in_order", faster_than="regrouped", at=2**12, by=4)
gg.claim(results, "in_order", faster_than=["regrouped", "regrouped_often"], at=2**18)

# %%
# A branch with two long sides: group the kinds
# ---------------------------------------------
#
# Where both sides of an ``if`` are long, let the 32 threads of a warp take the same one. As an example,
# elements are of two kinds, each with a recipe of 128 rounds, and a list deals them out to threads:
# **mixed**, as they lie; **by warp**, 32 of one kind, then 32 of the other; or **grouped**, first all of one
# kind.
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: branch, shift_recipe, turn_recipe
#    :fold: The kernel and its two recipes
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
# With the elements dealt out by warp, the kernel is :measured:`recipes[by_warp, 2**22].speedup(mixed)` as
# fast as mixed, because no thread waits for the other side any more. :evidence:`count warp_steps` Grouping
# all of one kind gains nothing beyond that: what matters is only who shares a warp.

# %%
# A short branch costs nothing
# ----------------------------
#
# Where a side is only an instruction or two, leave the ``if`` as it is: the compiler does without the branch.
# These are the lines of a kernel's :term:`PTX` that branch or select.


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
# The one branch, ``bra``, is the guard of the index, and only the last warp of the array can part there. The
# inner ``if`` has become ``selp``, a select: every thread computes both values and keeps one, so nobody
# waits. With two long sides that is no help, for computing both recipes and choosing afterwards takes as long
# as the branch with mixed warps.

# %%
# After a branch: call syncwarp before threads exchange values
# ------------------------------------------------------------
#
# Threads of a warp that have parted need not be together again on the next line. Where they exchange values
# through shared memory after a branch, call ``cuda.syncwarp()`` first, which brings them together. Since the
# generation called Volta, each thread has a program counter of its own, which NVIDIA calls `independent
# thread scheduling <https://docs.nvidia.com/cuda/cuda-c-programming-guide/#independent-thread-scheduling>`__.
# It makes divided warps no faster: at any time, only one side gets its instructions.

# %%
# Where neighbours agree, leave them in order
# -------------------------------------------
#
# Sorting gains little where neighbours have about the same work anyway, as in a picture of the Mandelbrot
# set. A pixel stands for a complex number c, and its thread repeats z = z\ :sup:`2` + c until z has left the
# circle of radius 2, for at most 256 steps. A warp takes 32 neighbours of a row.
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
# .. headline:: Only warps on the edge of the Mandelbrot set wait

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.style import describe
from gpuguide.topics.divergence.mandelbrot import escape_reference

steps = escape_reference(1024**2).reshape(1024, 1024)
warps = steps.reshape(1024, 32, 32)
waiting = 1 - warps.mean(axis=2) / warps.max(axis=2)
_, ax = plt.subplots(figsize=(7.2, 3.7))
ax.imshow(np.log(steps[::4, ::4]), cmap="magma", extent=(0, 1, 0, 1))
ax.imshow(
    waiting.reshape(256, 4, 32).mean(axis=1),
    cmap="magma",
    extent=(1.05, 2.05, 0, 1),
    interpolation="nearest",
    vmin=0,
    vmax=1,
)
ax.text(0, 1.04, "steps of a pixel")
ax.text(1.05, 1.04, "bright: threads wait")
ax.set(xlim=(0, 2.05), ylim=(0, 1.12))
ax.axis("off")
describe(
    ax,
    "Two pictures of the Mandelbrot set. Left, the steps of each pixel: many inside of the set, few outside. "
    "Right, how many threads of each warp of 32 pixels wait: bright along the edge of the set only.",
)

# %%
# A thread has work in :measured:`active_escape_rows` of its warp's steps, and the picture takes
# :measured:`escape[rows, 1024**2].time`. Sorted by their steps, as if those were known, the pixels would take
# :measured:`escape[by_steps, 1024**2].time`; shuffled, they take :measured:`escape[shuffled, 1024**2].time`.
#
# .. dropdown:: Do counted steps foretell the time?
#
#    For divisors they do. For pixels, shuffled warps take :measured:`steps_escape_shuffled` the steps of the
#    best order, and :measured:`escape[by_steps, 1024**2].speedup(shuffled)` the time. What makes up the rest
#    is not measured here: there is work around the steps, and sorted warps are not equally long.
#
#    .. drawn:: divergence
#
#        import matplotlib.pyplot as plt
#
#        from gpuguide.charts.style import describe
#
#        orders = {"divisors": ("by_cost", "in_order", "shuffled")}
#        orders["escape"] = ("by_steps", "tiles", "rows", "shuffled")
#        counted, timed = {}, {}
#        for work, (best, *others) in orders.items():
#            study, size = {"divisors": (results, 2**22), "escape": (escape, 1024**2)}[work]
#            for name in (best, *others):
#                label = f"{work.replace('escape', 'pixels')}, {name.replace('_', ' ')}"
#                counted[label] = facts[f"steps_{work}_{name}"].value
#                timed[label] = study.speedup(best, name, size).value if name != best else 1.0
#        ax = plt.subplots(figsize=(7.2, 3.4))[1]
#        for values, marker, words in ((counted, "o", "steps of warps, counted"), (timed, "D", "time")):
#            ax.plot([*values.values()], [*values], marker, label=words, ls="")
#        ax.invert_yaxis()
#        ax.set(xlabel="times those of the best order", xlim=(0, None))
#        ax.legend(loc="lower right")
#        describe(
#            ax,
#            f"Steps and time of {len(counted)} orders, as multiples of those of the best order. Divisors in "
#            f"order take {timed['divisors, in order']:.0f} times as long, pixels in rows "
#            f"{timed['pixels, rows']:.1f} times.",
#        )

# draw
gg.claim(escape, "rows", faster_than="shuffled", at=1024**2, by=2)
gg.claim(recipes, "by_warp", faster_than="mixed", at=2**22, by=1.6)
gg.claim(recipes, "group_first", faster_than="mixed", at=2**22, by=1.3)
gg.claim(recipes, "mixed", faster_than="group_first", at=2**12, by=1.5)

# %%
# When sorting costs more than waiting
# ------------------------------------
#
# Sort at each call only if there are many elements, for the list must be made and read, and what it names may
# lie apart in memory. Grouping the two recipes pays for four million elements, which take
# :measured:`recipes[group_first, 2**22].time` with the grouping included, instead of
# :measured:`recipes[mixed, 2**22].time`. For four thousand it costs time:
# :measured:`recipes[group_first, 2**12].time` instead of :measured:`recipes[mixed, 2**12].time`.
#
# Look for divergence in long loops first. We think that a kernel that waits for memory most of the time
# hardly notices a branch. :evidence:`opinion`

# %%
# .. remember::
#
#    - Give the 32 threads of a warp work of equal length: sorted by cost, a search for divisors is
#      :measured:`divisors[by_cost, 2**22].speedup(in_order)` as fast. A short ``if`` is free.
#    - Call ``cuda.syncwarp()`` before threads of a warp exchange values: after an ``if`` they may be at
#      different lines.

# %%
# Your turn: even and odd places
# ------------------------------
#
# Two recipes alternate along an array, so the kinds are known in advance. No list is needed; a formula for
# the index will do.
#
# .. exercise:: divergence

# thumbnail
from gpuguide.charts import thumbnail

_ = thumbnail.picture(
    np.log2(escape_reference(1024**2).reshape(1024, 1024)[160:864:4, ::4] + 1),
    "the Mandelbrot set",
    cmap="inferno",
)

# %%
# Next
# ----
#
# Next: :doc:`Exercises </practice/puzzles>`, with more kernels to mend, each with a check. See also:
# :doc:`Types: keep kernels in 32 bits </gallery/first_kernels/numba_types>`, on why ``np.uint32`` stands
# around so many numbers here.
