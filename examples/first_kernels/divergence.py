"""
Divergence
==========

What happens when the threads of a warp want different things?
"""
# %%
# One :term:`kernel`, one set of 2\ :sup:`22` elements of two kinds. If the kinds are mixed it takes
# :measured:`recipes[mixed, 2**22].time`, if they are grouped :measured:`recipes[grouped, 2**22].time`. Where
# the work of an element is not known until it is done, more is at stake: the smallest divisors of as many
# numbers take :measured:`divisors[in_order, 2**22].time` in order, and
# :measured:`divisors[by_cost, 2**22].time` sorted by their work.

# %%
# .. rst-class:: part-idea
#
# Thirty-two threads, one step
# ----------------------------
#
# A GPU does not run each :term:`thread` by itself. It runs a :term:`warp`: 32 neighbours that take the same
# step at the same time. An ``if`` is no trouble as long as all 32 agree. If they do not, the warp walks
# through both sides, one after the other, and on each side the threads that do not belong there wait. This is
# :term:`branch divergence`.
#
# A loop is the same question asked again at every turn: stay or leave? Who leaves early waits for those who
# stay. So a warp takes as long as its slowest thread.
#
# .. drawing:: divergence
#
#     Eight threads of a warp over time. With both kinds mixed, four threads work on the first side while four
#     wait, then the other way round. Grouped, each of two warps walks through a single side and nobody waits.
#     In a loop with turns of different number all wait for the longest.

# %%
# .. rst-class:: part-bare
#
# One warp, thirty-two loops
# --------------------------
#
# Take a whole number. Halve it if it is even, else triple it and add one, until it is 1. Nobody knows
# beforehand how many steps that takes. Here each thread counts them for one number, and the first warp has
# the numbers from 1 to 32.

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def count_steps(steps):
    i = cuda.grid(1)
    if i < steps.size:
        number = i + 1
        n = 0
        while number != 1:
            number = number // 2 if number % 2 == 0 else 3 * number + 1
            n += 1
        steps[i] = n


steps = cp.zeros(65_536, dtype=cp.int32)
count_steps[512, 128](steps)
warp = steps[:32].get()

n, by_numpy = np.arange(1, 33), np.zeros(32, np.int32)
while (n > 1).any():
    by_numpy += n > 1
    n = np.where(n > 1, np.where(n % 2 == 0, n // 2, 3 * n + 1), 1)
print("GPU:  ", warp[:12], "...")
print("NumPy:", by_numpy[:12], "...")
print("a warp: at most", warp.max(), "steps, on average", warp.mean())
print("most steps are taken by the number", warp.argmax() + 1)
print(f"a thread has work in {warp.mean() / warp.max():.0%} of the steps on average")

# %%
# One number keeps 31 others waiting. NumPy's version shows how: its loop runs until the last number is done,
# and all others are dragged along.

# %%
# .. rst-class:: part-predict
#
# Count the turns of warps
# ------------------------
#
# What a warp does can be counted without a GPU. On each side of a branch, and in each loop, it stays for as
# many turns as the thread that needs most of them. Added up over all warps that is the work. Divide the turns
# that threads need by 32 times the turns that warps take, and you have the share of threads that are active.
#
# The kernels below follow one of two recipes, loops of 128 turns each. Which of the two an element needs is
# random. So hardly any warp agrees, and half of its threads should be active. Grouped, all should be, and
# warps should have half the turns.

import gpuguide as gg
from gpuguide.topics.divergence import study as divergence
from gpuguide.topics.divergence.active_threads import active_share, warp_turns

_, kind, *orders = divergence.study().make_inputs(2**22, exact=False)
turns = {}
for name, order in zip(("mixed", "by_warp", "grouped"), orders, strict=True):
    sides = [128 * (kind[order] == side) for side in (0, 1)]
    turns[name] = warp_turns(*sides)
    share = gg.fact(f"active_{name}", active_share(*sides), unit="share")
    print(f"{name:8} {turns[name]:12,} turns, {share.value:6.1%} of threads active")
predicted = gg.fact("predicted_grouped", turns["mixed"] / turns["grouped"], unit="ratio")

# %%
# .. rst-class:: part-code
#
# Same elements, other neighbours
# -------------------------------
#
# The recipes scramble the bits of a number. They only have to be long, and to have nothing in common that the
# compiler could merge.
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: shift_recipe, turn_recipe
#
# **Mixed.** The kernel gets a list that says which element each thread takes. First, each takes its own. A
# launcher is handed all lists and picks one; what launchers have in common stands in ``launch_recipes``.
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: branch_kernel
#
# .. kernel:: gpuguide.topics.divergence.study
#    :names: branch_mixed, launch_recipes
#
# **Both sides.** No branch at all: work out both, then choose. ``a if c else b`` becomes a selection.
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: both_sides_kernel
#
# .. kernel:: gpuguide.topics.divergence.study
#    :names: both_sides
#
# **By warp.** The list has 32 elements of one kind, then 32 of the other. Half of the threads still go one
# way and half the other, but warps agree.
#
# .. kernel:: gpuguide.topics.divergence.study
#    :names: branch_by_warp
#
# **Grouped.** All of the first kind, then all of the second.
#
# .. kernel:: gpuguide.topics.divergence.study
#    :names: branch_grouped
#
# **Group first.** The lists of the last two were there when the clock started. This one makes its list at
# each call. A running sum over the kinds tells every element how many of its kind come before it, and that is
# its place.
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: group_kernel
#
# .. kernel:: gpuguide.topics.divergence.study
#    :names: branch_group_first

# %%
# .. rst-class:: part-check
#
# The order changes nothing
# -------------------------
#
# Whoever does the work, the results have to be the same, bit for bit. The :term:`reference` takes another
# route: it finds out what a recipe makes of each single bit, and puts numbers together from that.

study = divergence.study()
study

# %%
# .. rst-class:: part-measure
#
# From four thousand elements to four million
# -------------------------------------------
#
# The study runs at six sizes.

recipes = study.run()

# %%

# draw
gg.claim(recipes, "grouped", faster_than="mixed", at=2**22)
gg.claim(recipes, "by_warp", faster_than="mixed", at=2**22)

# %%
# .. checks:: recipes
#
# Two pairs of lines lie on top of each other: mixed and both sides, by warp and grouped.

# draw
gg.plot_time(recipes)

# %%
# .. finding::
#
#    At 2\ :sup:`22` elements by warp is :measured:`recipes[by_warp, 2**22].speedup(mixed)` as fast as mixed,
#    and grouped :measured:`recipes[grouped, 2**22].speedup(mixed)`. Both sides takes
#    :measured:`recipes[both_sides, 2**22].time`, mixed takes :measured:`recipes[mixed, 2**22].time`.
#
# .. results:: recipes

# %%
# .. rst-class:: part-reading
#
# Neighbours decide, not counts
# -----------------------------
#
# .. list-table:: Grouped against mixed
#    :stub-columns: 1
#
#    * - active threads, mixed
#      - :measured:`active_mixed`
#    * - active threads, grouped
#      - :measured:`active_grouped`
#    * - times as fast, predicted
#      - :measured:`predicted_grouped`
#    * - times as fast, measured
#      - :measured:`recipes[grouped, 2**22].speedup(mixed)`
#
# The elements are the same five times. What differs is who stands beside whom. Doing both sides on purpose
# saves nothing: it is what a divided warp does anyway. It is the right thing where a side takes less time
# than a branch, and there the compiler does it by itself. Here is a kernel with an ``if``, and the lines of
# its :term:`PTX` that branch or choose.


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
# The one branch left is the guard. The ``if`` inside has become a selection; this is called
# :term:`predication`.
#
# A branch with two sides can leave half of the threads idle. A loop can leave all but one idle. Here are two
# kinds of work whose amount nobody knows in advance. The first looks for the smallest divisor of each number.
# Even numbers leave at once, primes try all odd numbers up to their square root.
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: odd_divisor, first_divisor, one_number_kernel
#
# It runs **in order**, **shuffled**, and **by cost**: sorted by the number of divisions, as if that were
# known. ``_launch`` gives each number a thread.
#
# .. kernel:: gpuguide.topics.divergence.smallest_divisor
#    :names: divisors_in_order, divisors_shuffled, divisors_by_cost
#
# **Regrouped** is what can be had without knowing. A block tries the small divisors first. What they leave
# open goes into a list in :term:`shared memory`, and the block shares that out among its threads. So nobody
# waits beside an even number any more.
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: regrouped_kernel
#
# .. kernel:: gpuguide.topics.divergence.smallest_divisor
#    :names: divisors_regrouped

# %%
# The second kind of work is the Mandelbrot set: for each pixel, the steps until a number escapes from a
# circle, 256 at most. Here neighbours resemble each other.
#
# .. kernel:: gpuguide.topics.divergence.kernels
#    :names: steps_inside, one_pixel_kernel
#
# A warp takes its pixels in **rows** of 32, in **tiles** of 8 columns and 4 rows, **shuffled**, or **by
# steps**.
#
# .. kernel:: gpuguide.topics.divergence.escape_steps
#    :names: escape_in_rows, escape_in_tiles, escape_shuffled, escape_by_steps

# %%
# For both, the turns of warps are counted on the :term:`host`, with the orders that the kernels get. Then the
# kernels run.

from gpuguide.topics.divergence import escape_steps, smallest_divisor

n, pixels = 2**22, 1024**2
work = {"divisors": smallest_divisor.divisions(n)}
work["escape"] = escape_steps.escape_reference(pixels)
orders = {
    "divisors": smallest_divisor.study().make_inputs(n, exact=False),
    "escape": escape_steps.study().make_inputs(pixels, exact=False),
}
names = {
    "divisors": ("in_order", "shuffled", "by_cost"),
    "escape": ("rows", "tiles", "shuffled", "by_steps"),
}
facts = {}
for kind_of_work, needed in work.items():
    best = warp_turns(needed[orders[kind_of_work][-1]])
    for name, order in zip(names[kind_of_work], orders[kind_of_work], strict=True):
        label, share = f"{kind_of_work}_{name}", active_share(needed[order])
        ratio = warp_turns(needed[order]) / best
        gg.fact(f"active_{label}", share, unit="share")
        facts[f"turns_{label}"] = gg.fact(f"turns_{label}", ratio, unit="ratio")
        print(f"{label:18} {share:6.1%} active, {ratio:5.2f} times the fewest turns")

# %%
# Four sentences about the measured times have to hold.

divisors = smallest_divisor.study().run()
escape = escape_steps.study().run()

# %%

# draw
gg.claim(divisors, "by_cost", faster_than="in_order", at=2**22)
gg.claim(divisors, "regrouped", faster_than="in_order", at=2**22)
gg.claim(escape, "rows", faster_than="shuffled", at=1024**2)
gg.claim(escape, "by_steps", faster_than="shuffled", at=1024**2)

# %%
# .. checks:: divisors
#
# .. checks:: escape
#
# In the map each order is held against the best one for the same work: first by turns, which were counted,
# then by time, which was measured.

# draw
counted = {
    label: facts[f"turns_{label}"].value
    for label in (
        *(f"escape_{name}" for name in ("by_steps", "tiles", "rows", "shuffled")),
        *(f"divisors_{name}" for name in ("by_cost", "in_order", "shuffled")),
    )
}


def measured(label):
    work, _, order = label.partition("_")
    if work == "divisors":
        return divisors.speedup("by_cost", order, 2**22).value
    return escape.speedup("by_steps", order, 1024**2).value


gg.plot_heatmap(
    [[turns, measured(label)] for label, turns in counted.items()],
    rows=[
        label.replace("escape", "pixels").replace("_", ", ", 1).replace("_", " ")
        for label in counted
    ],
    columns=["turns of warps", "time"],
    row_name="work and order",
    column_name="counted and measured",
    value_name="times the best order's",
    fmt="{:.2f}",
)

# %%
# .. finding::
#
#    Divisors in order take :measured:`turns_divisors_in_order` the turns of the best order, and by the clock
#    the best order is :measured:`divisors[by_cost, 2**22].speedup(in_order)` as fast. Regrouped is
#    :measured:`divisors[regrouped, 2**22].speedup(in_order)` as fast as in order, without knowing the cost.
#
# .. results:: divisors
#
# .. results:: escape
#
# Of the threads, :measured:`active_escape_shuffled` are active when pixels are shuffled,
# :measured:`active_escape_rows` in rows and :measured:`active_escape_tiles` in tiles. Where neighbours
# resemble each other, most of what sorting could gain is there already.
#
# By turns, sorted pixels should be :measured:`turns_escape_shuffled` as fast as shuffled ones; by the clock
# they are :measured:`escape[by_steps, 1024**2].speedup(shuffled)`.
#
# Counting turns leaves out what happens between warps. A :term:`block` keeps its place until its last warp is
# done, and the GPU is not free until its last block is. Nor do turns know that a list may send neighbours to
# distant memory.

# %%
# .. rst-class:: part-when-not-to
#
# When sorting costs more than waiting
# ------------------------------------
#
# A list must be made and read, and its elements lie apart, so that accesses are no longer
# :term:`coalesced <coalesced access>`. At 2\ :sup:`22` elements group first takes
# :measured:`recipes[group_first, 2**22].time` in all, where grouped takes
# :measured:`recipes[grouped, 2**22].time` with a list that is there, and mixed
# :measured:`recipes[mixed, 2**22].time` without sorting.
#
# These recipes are long; short ones leave less to gain. So do few elements: at 2\ :sup:`12` of them group
# first takes :measured:`recipes[group_first, 2**12].time` and mixed :measured:`recipes[mixed, 2**12].time`.
# Besides, the host has to :term:`launch` more kernels.
#
# A kernel that waits for memory most of the time hardly notices a branch. Look for divergence in long loops.

# %%
# .. rst-class:: part-on-your-gpu
#
# A warp is a warp
# ----------------
#
# All NVIDIA GPUs have warps of 32 threads. The counted turns are therefore the same on yours, and the ratios
# should be close. The times scale with its :term:`multiprocessors <multiprocessor>` and their clock.
#
# ``gpuguide run divergence`` measures them.

# %%
# .. rst-class:: part-your-turn
#
# Even and odd places
# -------------------
#
# In the exercise two recipes alternate along an array, so the kinds are known in advance. No list is needed;
# a formula for the index will do.
#
# .. exercise:: divergence
#
# .. question:: Half of a warp's threads return at once. Is the warp done sooner?
#
#    No. It is done when its last thread is, and nobody else can use the places of those that have left. Only
#    a warp whose 32 threads have all left makes room for another.
#
# .. question:: Does the guard if i < n make warps diverge?
#
#    One at most: the warp in which the array ends. Its threads beyond the end have nothing to do on the other
#    side, so they only wait. All other warps agree.

# %%
# .. rst-class:: part-next
#
# Kernels of your own
# -------------------
#
# Onward: :doc:`Exercises </practice/puzzles>` has more kernels to mend, each with a check. Sideways:
# :doc:`Primes </gallery/first_kernels/primes>` gets rid of divisions altogether, and
# :doc:`Numba's types </gallery/first_kernels/numba_types>` explains why ``np.uint32`` stands around each step
# here. Used here: :func:`gpuguide.plot_heatmap`, :func:`gpuguide.claim`, :class:`gpuguide.Study`.
