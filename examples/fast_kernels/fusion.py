"""
Fusion
======

What does it save to make one kernel of several operations, and when does it not?
"""
# %%
# For 10\ :sup:`8` pairs, ``(x - y) * (x - y)`` takes :measured:`squared[three_steps, 10**8].time` as three
# kernels and :measured:`squared[fused, 10**8].time` as one. Fused, it moves a third of the bytes, at
# :measured:`squared[fused, 10**8].share` of what memory allows. Short arrays gain as well: a call takes
# :measured:`squared[fused, 10**4].launch` instead of :measured:`squared[three_steps, 10**4].launch`.

# %%
# One decorator: cp.fuse
# ----------------------
#
# CuPy runs an expression operation by operation. Each operator is a :term:`kernel`, and each leaves its
# result in a new array in memory. ``cp.fuse`` runs the function once with stand-ins that note what is done
# with them, and writes one kernel of it. The array ``y`` is a reversed view here, which costs nothing to
# make.

import cupy as cp
import numpy as np


def squared_difference(x, y):
    return (x - y) * (x - y)


fused = cp.fuse(squared_difference)

x = cp.arange(10_000)
y = cp.arange(10_000)[::-1]
print("three kernels:", squared_difference(x, y)[:3])
print("fused:        ", fused(x, y)[:3])

on_host = np.arange(10_000)
print("NumPy:        ", squared_difference(on_host, on_host[::-1])[:3])

# %%
# .. try-it::
#
#    Call ``fused(on_host, on_host)``. With NumPy's arrays a fused function is the plain one, so code that is
#    written for both libraries may use it.

# %%

# record: The studies: one expression in three, two and one kernel, its steps, its sum, and float32
import gpuguide as gg
from gpuguide.topics.fusion import study as fusion

results = fusion.study().run()
backwards = fusion.reversed_study().run()
fusion.subtract_study().run()
fusion.multiply_study().run()
single = fusion.single_study().run()
sums = fusion.sum_study().run()

# %%

# draw
gg.claim(results, "fused", faster_than="three_steps", at=10**8, by=2.5)
gg.claim(results, "fused", faster_than="two_steps", at=10**8, by=1.4)
gg.claim(results, "fused", faster_than="three_steps", at=10**4, clock="launch", by=1.2)
gg.claim(results, "fused", share_at_least=0.95, at=10**8)
gg.claim(single, "squared_four", faster_than="fused_single", at=10**8, by=1.3)

# %%
# Nine arrays through memory, five, or three
# ------------------------------------------
#
# Count what moves. A difference reads two arrays and writes a third, and so does the product. The
# expression takes the difference twice, since nobody tells Python that both are the same.
#
# .. list-table:: 10\ :sup:`8` numbers of eight bytes
#    :header-rows: 1
#
#    * - step
#      - arrays moved
#      - time
#    * - ``x - y``
#      - 3
#      - :measured:`difference[subtract, 10**8].time`
#    * - ``x - y`` again
#      - 3
#      - the same
#    * - the product
#      - 3
#      - :measured:`product[multiply, 10**8].time`
#    * - **three kernels**
#      - 9
#      - :measured:`squared[three_steps, 10**8].time`
#    * - **two kernels**
#      - 5
#      - :measured:`squared[two_steps, 10**8].time`
#    * - **fused**
#      - 3
#      - :measured:`squared[fused, 10**8].time`
#
# The times follow the arrays: memory moves :measured:`squared[three_steps, 10**8].rate(numbers_moved)` for
# three kernels, :measured:`squared[two_steps, 10**8].rate(numbers_moved)` for two and
# :measured:`squared[fused, 10**8].rate(numbers_moved)` for one. So the fused kernel is faster because it
# moves fewer of them. :evidence:`count numbers_moved`
#
# .. drawing:: fusion
#
#     Left, three kernels above a box for memory: each has two arrows from there and one back, nine in all,
#     and the differences d and e are arrays. Right, one kernel with two arrows in and one out.
#
# Python's own way to say it once is ``d = x - y`` and then ``d * d``: two kernels.
#
# .. rung:: two_steps

d = x - y
print(d[:3], (d * d)[:3])

# %%

# draw
gg.plot_time(results)

# %%
# .. finding::
#
#    From 10\ :sup:`7` numbers on, the lines of **three kernels**, **two kernels** and **fused** lie apart as
#    their arrays do: at 10\ :sup:`8` the fused one is
#    :measured:`squared[fused, 10**8].speedup(three_steps)` as fast as three kernels and
#    :measured:`squared[fused, 10**8].speedup(two_steps)` as fast as two.
#
# .. kernel:: gpuguide.topics.fusion.study
#    :names: three_steps, two_steps, fused, fused_function
#    :fold: The three ways as they were timed

# %%
# Short arrays: one launch instead of three
# -----------------------------------------
#
# Up to a hundred thousand numbers or so, the kernels are shorter than the calls that launch them. For 10\
# :sup:`4` numbers the GPU works for :measured:`squared[fused, 10**4].time` on the fused kernel, and Python
# takes :measured:`squared[fused, 10**4].launch` to ask for it. Three operators take
# :measured:`squared[three_steps, 10**4].launch`.

# %%
# Reversed views and other strides
# --------------------------------
#
# The kernel above read ``y`` from its end. For 10\ :sup:`8` numbers that takes
# :measured:`reversed[fused_reversed, 10**8].time`, instead of :measured:`squared[fused, 10**8].time`.
# A warp still reads whole :term:`sectors <sector>`, from the other side. CuPy needs no copy for it, but
# compiles another kernel, which works out each address from the strides.

# %%
# Your turn: count what fusion saves
# ----------------------------------
#
# .. exercise:: count_the_passes

# %%
# Next
# ----
#
# Onward: :doc:`Kernel families </gallery/fast_kernels/kernel_families>`, on kernels that you write
# yourself. Sideways: :doc:`Ufuncs on the GPU </gallery/first_kernels/ufuncs>`, with Numba's decorators.
