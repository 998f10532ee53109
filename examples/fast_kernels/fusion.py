"""
Fusion
======

What does it save to make one kernel of several operations, and when does it not?
"""
# %%
# For 10\ :sup:`8` pairs, ``(x - y) * (x - y)`` takes :measured:`squared[three_steps, 10**8].time` as three
# kernels and :measured:`squared[fused, 10**8].time` as one, which moves a third of the bytes, at
# :measured:`squared[fused, 10**8].share` of what memory can do. Short arrays gain, too: a call keeps Python
# busy for :measured:`squared[fused, 10**4].launch` instead of :measured:`squared[three_steps, 10**4].launch`.

# %%
# One decorator: cp.fuse
# ----------------------
#
# CuPy runs an expression operator by operator. Each is a :term:`kernel`, and each leaves its result in a new
# array. ``cp.fuse`` calls the function once, with stand-ins for the arrays that note what is done with them,
# and compiles one kernel that does it all. Here ``y`` is a reversed view of an array.

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
#    Call ``fused(on_host, on_host)``. For NumPy's arrays a fused function is the plain one, so code for both
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
# Nine arrays through memory, or three
# ------------------------------------
#
# Count what moves. A difference reads two arrays and writes a third. So does a product. The expression takes
# the difference twice, and nothing notices that both are the same.
#
# .. drawing:: fusion
#
#     Left, three kernels above a box for memory: each has two arrows from there and one back, nine in all,
#     and the differences d and e are arrays. Right, one kernel with two arrows in and one out.
#
# .. list-table:: 10\ :sup:`8` numbers of eight bytes
#    :header-rows: 1
#
#    * - step
#      - arrays
#      - bytes
#      - time
#    * - ``d = x - y``
#      - 3
#      - 2.4 GB
#      - :measured:`difference[subtract, 10**8].time`
#    * - ``e = x - y``
#      - 3
#      - 2.4 GB
#      - the same
#    * - ``d * e``
#      - 3
#      - 2.4 GB
#      - :measured:`product[multiply, 10**8].time`
#    * - **three kernels**
#      - 9
#      - 7.2 GB
#      - :measured:`squared[three_steps, 10**8].time`
#    * - **fused**
#      - 3
#      - 2.4 GB
#      - :measured:`squared[fused, 10**8].time`
#
# The times follow the bytes: three kernels come to
# :measured:`squared[three_steps, 10**8].rate(numbers_moved)`, and the fused one to
# :measured:`squared[fused, 10**8].rate(numbers_moved)`. So the fused kernel is faster because it moves fewer
# bytes. :evidence:`count numbers_moved`
#
# Without ``cp.fuse`` you can at least compute the difference only once. That makes two kernels, and five
# arrays.
#
# .. rung:: two_steps

d = x - y
print(d[:3], (d * d)[:3])

# %%
# They take :measured:`squared[two_steps, 10**8].time`, a little more than five arrays should. The difference
# is as fast as before. But ``d * d`` moves its two arrays in :measured:`itself[square, 10**8].time`, which is
# :measured:`itself[square, 10**8].share` of the rate of a copy. We think that a thread with only one number
# to read asks for too little at a time. :evidence:`opinion`
#
# .. kernel:: gpuguide.topics.fusion.study
#    :names: three_steps, two_steps, fused, fuse, numbers_moved
#    :fold: The three ways as they were timed, and the count

# %%
# Bytes decide for long arrays, launches for short ones
# -----------------------------------------------------

# draw
gg.plot_time(results)

# %%
# .. finding::
#
#    At 10\ :sup:`8` numbers **fused** is :measured:`squared[fused, 10**8].speedup(three_steps)` as fast as
#    **three kernels**, and :measured:`squared[fused, 10**8].speedup(two_steps)` as fast as **two kernels**.
#    At 10\ :sup:`4` its work takes :measured:`squared[fused, 10**4].time`, and theirs
#    :measured:`squared[three_steps, 10**4].time` and :measured:`squared[two_steps, 10**4].time`.
#
# For short arrays it is not the GPU that you wait for. Three operators on 10\ :sup:`4` numbers keep Python
# busy for :measured:`squared[three_steps, 10**4].launch`, and the fused function for
# :measured:`squared[fused, 10**4].launch`. There fusion saves two of three launches.
#
# The reversed view costs nothing. For 10\ :sup:`8` numbers, the fused kernel takes
# :measured:`reversed[fused_reversed, 10**8].time` with ``y`` reversed, as long as without. A :term:`warp`
# still reads whole :term:`sectors <sector>`, in the other direction.
#
# .. results:: reversed

# %%
# float32: fused is not yet fast
# ------------------------------
#
# With numbers of four bytes, a fused kernel moves half as much. Yet it takes
# :measured:`single[fused_single, 10**8].time`, where it took :measured:`squared[fused, 10**8].time`, and
# reaches only :measured:`single[fused_single, 10**8].share` of what memory can do. CuPy gives each thread one
# element, in small blocks. With four per thread and larger blocks, a kernel of your own reaches
# :measured:`single[squared_four, 10**8].share`. So it is the shape of the launch that was wrong, above all
# the bytes per thread (:doc:`Kernel families </gallery/fast_kernels/kernel_families>`).
# :evidence:`variant squared_four`
#
# .. rung:: squared_four

from numba import cuda

a = cp.arange(2**20, dtype=cp.float32)
b, out = cp.ones_like(a), cp.empty_like(a)
squared_four[(a.size + 1023) // 1024, 256](a, b, out)
print("as fused:", bool((out == fused(a, b)).all()))

# %%
# A fused sum of two arrays: slower, not faster
# ---------------------------------------------
#
# A fused function may end in a sum, and then the squares need not even be written. But look at its time.
#
# .. rung:: sum_fused


@cp.fuse
def sum_of_squares(x, y):
    return cp.sum((x - y) * (x - y))


print("all of it fused:   ", sum_of_squares(x, y))
print("fused, then cp.sum:", fused(x, y).sum())

# %%
# It takes :measured:`total[sum_fused, 10**8].time`. The fused squares, and ``cp.sum`` of them, take
# :measured:`total[sum_apart, 10**8].time` together, although they move twice as much. The reason is CUB, the
# library to which CuPy leaves its sums, but only if there is a single array to read. If the difference is
# computed first, it and the fused sum of its squares take :measured:`total[sum_of_one_array, 10**8].time`
# together, because then CUB adds them up. :evidence:`variant sum_of_one_array` So end a fused function before
# the sum.
#
# .. kernel:: gpuguide.topics.fusion.study
#    :names: sum_of_squares, sum_of_one, sum_apart, sum_fused, sum_of_one_array
#    :fold: The three sums as they were timed

# %%
# What cp.fuse refuses: lambdas, branches, slices
# -----------------------------------------------
#
# The stand-ins know operators, CuPy's ufuncs, ``cp.where`` and a few reductions. Anything else raises an
# error, which sometimes does not say much:


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
# Your turn: fuse by hand
# -----------------------
#
# In a kernel of your own, nobody fuses for you.
#
# .. exercise:: fusion

# %%
# Next
# ----
#
# Onward: :doc:`Registers </gallery/fast_kernels/registers>`, on what a kernel keeps out of memory. Sideways:
# :doc:`Ufuncs on the GPU </gallery/first_kernels/ufuncs>`, with Numba's decorators.
