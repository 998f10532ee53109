"""
Pictures
========

What does a drawn cell state?
"""

# %%
# A fact.
#
# .. headline:: The product takes
#    :measured:`sums[dot, 65536].time`
#
# .. drawn:: pictures
#
#    plt.plot(np.arange(3), np.arange(3))
#
# .. choices:: pictures
#    :of: bend | way
#
#    .. choice:: straight | up
#
#       plt.plot([0, 1], [0, 1])
#
#    .. choice:: straight | down
#
#       plt.plot([0, 1], [1, 0])
#
#    .. choice:: bent | up
#
#       plt.plot([0, 1, 2], [0, 1, 4])
#
#    .. choice:: bent | down
#
#       plt.plot([0, 1, 2], [4, 1, 0])

import gpuguide as gg
import numpy as np

print("   indented", flush=True)

gg.fact("answer", 42, unit="1")
with open("ran.txt", "a") as counter:
    counter.write("once ")
half = np.float64(0.5)
half

# %%
# A study that does not run.

from gpuguide.topics.toy import study as toy

toy.study()

# %%
# A figure and another fact.

# draw
_ = plt.plot(np.arange(5), np.arange(5) ** 2)

# %%

# draw
_ = gg.fact("twice", 2 * facts["answer"].value, unit="1")

# %%

# record: The study
from gpuguide.topics.toy.kernels import dot, halves, slow

results = toy.study().run()

# %%
# One product
# -----------
# A row of ones would do. :evidence:`count sum_reference`
#
# .. rung:: dot

out = np.empty(1)
print(dot(np.arange(4.0), out))

# %%
# .. rung:: slow

# wrong: one at a time
print(slow(np.arange(4.0), out))

# %%
# Two halves
# ----------
# Fewer conflicts. :evidence:`counter bank_conflicts`
#
# .. rung:: halves

import math

print(halves(np.arange(4.0), out), math.pi > 3)

# %%
# The reference is slow and sure.
#
# .. kernel:: gpuguide.topics.toy.study
#    :names: sum_reference
#    :fold: The reference
#
# .. exercise:: add_one

# %%
# What is a warp?
# ---------------
# The term ``warp`` and `a warp elsewhere <https://warp.example>`__, :measured:`twice` *two
# warps*, the third warp, and Shared
# memory before memory. See :doc:`/other`.
#
# It waits. :evidence:`variant halves` Nobody knows. :evidence:`opinion` Not :claimed:`tenfold`; a
# reading takes :rule:`0.2 s`, and 2\ :sup:`20` steps.
#
# .. drawing:: idea
#
#    Two boxes
#    and a wire.
#
# The product takes :measured:`sums[dot, 65536].time`.
#
# .. kernel:: gpuguide.topics.toy.shown
#    :names: SCALE_SOURCE, add_one_kernel
#
# .. kernel:: gpuguide.topics.toy.shown
#    :names: half
#    :fold: Another kernel
#
# .. list-table:: Foretold
#    :header-rows: 1
#
#    * - predicted
#      - measured
#    * - much
#      - :measured:`answer`
#
# .. csv-table::
#    :header: a | b
#    :delim: |
#
#    one, two | :measured:`twice`
#
# .. note:: Mind the gap.
#
# .. try-it::
#
#    Replace ``1`` with *two*.
#
# .. remember::
#
#    - Multiply: it takes :measured:`sums[dot, 65536].time`.
#    - Read :doc:`Other </other>`.

# %%

# thumbnail
from gpuguide.charts import thumbnail

_ = thumbnail.bars({"NumPy": results.time("numpy", 65536), "dot": results.time("dot", 65536)}, "time")
