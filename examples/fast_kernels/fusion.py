"""
Fusion: one kernel, fewer bytes
===============================

How do you keep an expression of arrays from going through memory again and again?
"""
# %%
# Put ``@cp.fuse`` above a function of element-wise operations. For 10\ :sup:`8` numbers,
# ``(x - y) * (x - y)`` is then :measured:`squared[fused, 10**8].speedup(three_steps)` as fast, since it moves
# a third of the bytes. :evidence:`count numbers_moved` Leave sums outside: a fused sum takes
# :measured:`total[sum_apart, 10**8].speedup(sum_fused)` as long.
#
# .. headline:: Fused, the expression takes as long as a single operator
#
# .. drawn:: fusion
#
#     from gpuguide.charts.shapes import plot_values
#     from gpuguide.charts.style import CUPY
#
#     times = {
#         "(x - y) * (x - y)": results.time("three_steps", 10**8),
#         "d = x - y; d * d": results.time("two_steps", 10**8),
#         "fused": results.time("fused", 10**8),
#         "only x - y": difference.time("subtract", 10**8),
#     }
#     plot_values(times, "time of the squared difference of 10**8 numbers", colour=CUPY)

# %%
# One decorator: cp.fuse
# ----------------------
#
# CuPy runs an expression operator by operator. Each is a :term:`kernel`, and each leaves its result in a new
# array. ``cp.fuse`` calls the function once, with stand-ins for the arrays that note what is done with them,
# and compiles one kernel that does it all. In the example, ``y`` is a reversed view of an array, which costs
# nothing extra.

import cupy as cp
import numpy as np


def squared_difference(x, y):
    return (x - y) * (x - y)


fused = cp.fuse(squared_difference)  # or @cp.fuse above the function

x = cp.arange(10_000)
y = cp.arange(10_000)[::-1]
print("three kernels:", squared_difference(x, y)[:3])
print("fused:        ", fused(x, y)[:3])

on_host = np.arange(10_000)
print("NumPy:        ", squared_difference(on_host, on_host[::-1])[:3])

# %%
# .. try-it::
#
#    Call ``fused(on_host, on_host)``. For NumPy arrays a fused function is the plain one, so code for both
#    libraries may use it.
#
# A kernel is compiled when the function is called with a dtype or a number of axes that it has not met
# before, or for the first time with an array that is not contiguous. Other lengths need no new one.

# %%

# record: The studies: one expression in three, two and one kernel, its steps, its sum, and float32
import gpuguide as gg
from gpuguide.topics.fusion import study as fusion
from gpuguide.topics.fusion.kernels import squared_four

results = fusion.squared.run()
backwards = fusion.backwards.run()
difference = fusion.difference.run()
product = fusion.product.run()
itself = fusion.itself.run()
single = fusion.single.run()
sums = fusion.total.run()

# %%

# draw
gg.claim(results, "fused", faster_than="three_steps", at=10**8, by=2.5)
gg.claim(results, "fused", faster_than="two_steps", at=10**8, by=1.4)
gg.claim(results, "fused", faster_than="three_steps", at=10**4, clock="launch", by=1.5)
gg.claim(results, "fused", share_at_least=0.85, at=10**8)
gg.claim(backwards, "fused_reversed", share_at_least=0.85, at=10**8)
gg.claim(single, "squared_four", faster_than="fused_single", at=10**8, by=1.3)
gg.claim(single, "squared_four", share_at_least=0.85, at=10**8)
gg.claim(sums, "sum_apart", faster_than="sum_fused", at=10**8, by=20)

# %%
# Count the arrays that go through memory
# ---------------------------------------
#
# A difference reads two arrays and writes a third. So does a product. The expression takes the difference
# twice, and nothing notices that both are the same: three kernels move nine arrays, and the fused kernel
# three.
#
# .. drawing:: fusion
#
#     Left, three kernels above a box for memory: each has two arrows from there and one back, nine in all,
#     and the differences d and e are arrays. Right, one kernel with two arrows in and one out.
#
# The times follow this count, so you can tell beforehand what fusion will save.
# :evidence:`count numbers_moved`
#
# Without ``cp.fuse`` you can at least compute the difference only once. That makes two kernels, and five
# arrays.
#
# .. rung:: two_steps
#    :beside:

d = x - y
print(d[:3], (d * d)[:3])

# %%
# .. dropdown:: Why two kernels take a little more than five arrays should
#
#    The difference is as fast as before. But ``d * d`` moves its two arrays in
#    :measured:`itself[square, 10**8].time`, which is :measured:`itself[square, 10**8].share` of the rate of a
#    copy. We think that a thread with only one number to read asks for too little at a time.
#    :evidence:`opinion`
#
# .. kernel:: gpuguide.topics.fusion.study
#    :names: three_steps, two_steps, fused, fuse, numbers_moved
#    :fold: The three ways as they were timed, and the count

# %%
# Short arrays: two launches fewer
# --------------------------------
#
# For short arrays you do not wait for the GPU but for Python, which launches the kernels. Three operators on
# 10\ :sup:`4` numbers keep it busy for :measured:`squared[three_steps, 10**4].launch`, and the fused function
# for :measured:`squared[fused, 10**4].launch`.
#
# .. headline:: Fusion pays at every length

# draw
gg.plot_time(results)

# %%
# float32: a kernel of your own is faster still
# ---------------------------------------------
#
# On ``float32`` arrays, a kernel of your own is :measured:`single[squared_four, 10**8].speedup(fused_single)`
# as fast as a fused one. Four bytes instead of eight for each number gain little in the fused kernel, which
# takes :measured:`single[fused_single, 10**8].time` instead of :measured:`squared[fused, 10**8].time`: CuPy
# gives each thread one element, in small blocks. With four per thread and larger blocks, the kernel below
# reaches :measured:`single[squared_four, 10**8].share` of the memory's speed.
# :evidence:`variant squared_four` :doc:`Which kind of kernel to write
# </gallery/fast_kernels/kernel_families>` says when it is worth it.
#
# .. rung:: squared_four
#    :beside:

from numba import cuda

a = cp.arange(2**20, dtype=cp.float32)
b, out = cp.ones_like(a), cp.empty_like(a)
squared_four[(a.size + 1023) // 1024, 256](a, b, out)
print("as fused:", bool((out == fused(a, b)).all()))

# %%
# What goes wrong: a sum inside a fused function
# ----------------------------------------------
#
# A fused function may end in a sum, which looks like a good idea, since the squares need not even be written.
# The result is right, and takes :measured:`total[sum_fused, 10**8].time` for 10\ :sup:`8` numbers:
#
# .. rung:: sum_fused
#    :beside:


@cp.fuse
def sum_of_squares(x, y):
    return cp.sum((x - y) * (x - y))


print("all of it fused:   ", sum_of_squares(x, y))
print("fused, then cp.sum:", fused(x, y).sum())

# %%
# End the fused function before the sum, and call ``cp.sum``: the second line takes
# :measured:`total[sum_apart, 10**8].time` in all, although it moves twice as much. CuPy leaves a sum to CUB,
# a library for that, but only if there is a single array to read; a fused sum of two arrays gets a slow
# kernel instead. :evidence:`variant sum_of_one_array`
#
# .. kernel:: gpuguide.topics.fusion.study
#    :names: sum_of_squares, sum_of_one, sum_apart, sum_fused, sum_of_one_array
#    :fold: The three sums as they were timed

# %%
# What goes wrong: lambdas, branches, slices
# ------------------------------------------
#
# Inside a fused function, operators, CuPy's ufuncs, ``cp.where`` and a few reductions are allowed. Anything
# else raises an error, which sometimes does not say much:


from textwrap import shorten


def outcome(function, *arguments):
    try:
        return f"works: {cp.fuse(function)(*arguments)}"
    except Exception as error:
        # What the compiler says begins with the name of a file.
        text = str(error).partition("error: ")[2] or str(error)
        return f"{type(error).__name__}: {shorten(text, 60)}"


def absolute(z):
    return z if z > 0 else -z


def steps(z):
    return z[1:] - z[:-1]


def exponential(z):
    return np.exp(z)


def shifted(z):
    return z + z0


z = cp.arange(-1, 2, dtype=cp.float32)
z0 = z.copy()
print("lambda:       ", outcome(lambda z: z * z, z))
print("branch:       ", outcome(absolute, z))
print("slice:        ", outcome(steps, z))
print("NumPy's ufunc:", outcome(exponential, z))
print("other array:  ", outcome(shifted, z))
print("NumPy's array:", outcome(squared_difference, z, z.get()))

# %%
# - A *lambda* has no name that would do for a kernel in C++. Give it one:
#   ``cp.fuse(kernel_name="square")(lambda z: z * z)``.
# - For a *branch*, use ``cp.where``, which works out both sides and chooses.
# - Take *slices* before the call, and hand *other arrays* over as arguments. ``z[::-1]`` is allowed inside.
# - Use ``cp.exp`` and not ``np.exp``, although outside of fused functions both work for arrays on the GPU.
# - Arguments have no names: ``fused(x=x, y=y)`` raises ``TypeError``.
#
# Python's numbers may be arguments. As elsewhere in CuPy, they leave the dtype of the arrays as it is.

# %%
# .. remember::
#
#    - Fuse expressions of several operators with ``@cp.fuse``, and expect the ratio of the arrays that are
#      read and written: ``(x - y) * (x - y)`` is :measured:`squared[fused, 10**8].speedup(three_steps)` as
#      fast.
#    - Write a fused function with ``def``, pass all its arrays as arguments, and sum outside of it.

# %%
# Your turn: fuse by hand
# -----------------------
#
# In a kernel of your own, nobody fuses for you.
#
# .. exercise:: fusion

# thumbnail
from gpuguide.charts import thumbnail
from gpuguide.charts.style import CUPY

names = {"(x - y) * (x - y)": "three_steps", "with @cp.fuse": "fused"}
times = {label: results.time(name, 10**8) for label, name in names.items()}
_ = thumbnail.bars(times, "time", [CUPY, CUPY])

# %%
# Next
# ----
#
# Next: :doc:`Random numbers inside a kernel </gallery/fast_kernels/random_in_kernels>`, which never go
# through memory. See also: :doc:`Ufuncs: one decorator for costly functions </gallery/first_kernels/ufuncs>`,
# with Numba's decorators.
