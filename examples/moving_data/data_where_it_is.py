"""
Make data where you use them
============================

When is one operation worth a trip to the GPU?
"""
# %%
# If the GPU uses the numbers, make them there, and bring back only the result: 100 million random pairs and
# their scalar product then take :measured:`whole_gpu`. Do not send numbers there for one operation: made on
# the CPU and copied from pinned memory they take :measured:`whole_pinned`, and the CPU alone takes
# :measured:`whole_numpy_threads`.
#
# .. headline:: Making and copying the numbers takes nearly all of the time
#
# .. drawn:: data_where_it_is
#
#     import matplotlib.pyplot as plt
#     from gpuguide.charts.style import CPU, CUPY, GRID, INK, describe, style
#     from gpuguide.results.units import format_quantity
#
#     n = max(results.sizes)
#     product = results.time("on_gpu", n).value
#     words = []
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.1))[1]
#         for row, (bar, where, draw, dot) in enumerate(
#             (
#                 ("pageable copies", CPU, "random_numpy_threads", "with_copies"),
#                 ("pinned copies", CPU, "random_numpy_threads", "with_copies_pinned"),
#                 ("NumPy, all threads", CPU, "random_numpy_threads", "numpy_threads"),
#                 ("all on the GPU", CUPY, "random_cupy", "cublas_on_gpu"),
#             )
#         ):
#             made, rest = 2 * facts[draw].value, results.time(dot, n).value
#             copied = max(rest - product, 0.0) if dot.startswith("with_copies") else 0.0
#             whole = made + rest
#             total = format_quantity(whole, "s", 0.7 * whole, 1.3 * whole)  # as exact as in the text
#             ax.barh(row, made, height=0.66, color=where)
#             if where == CPU:
#                 ax.text(made / 2, row, "made", color=GRID, ha="center", va="center")
#             if copied:
#                 look = {"facecolor": "none", "edgecolor": CUPY, "linestyle": "--"}
#                 ax.barh(row, copied, left=made, height=0.6, **look)
#             else:
#                 ax.barh(row, rest, left=made, height=0.66, color=where, alpha=0.6)
#             if copied > made:
#                 ax.text(made + copied / 2, row, "copied", color=INK, ha="center", va="center")
#             end = {"textcoords": "offset points", "va": "center", "weight": "bold"}
#             ax.annotate(total, (made + rest, row), (6, 0), **end)
#             words.append(f"{bar}: {total}, of which {format_quantity(copied, 's')} copies")
#         ax.set_yticks(range(4), [label.partition(":")[0] for label in words])
#         ax.invert_yaxis()
#         ax.set_xticks([])
#         ax.set_xlim(0, 1.2 * ax.dataLim.x1)
#         ax.spines["bottom"].set_visible(False)
#         ax.grid(visible=False)
#         describe(ax, f"Bars of the time from random numbers to their product. {'; '.join(words)}.")

# %%
# Make random numbers on the GPU
# ------------------------------
#
# Draw random numbers with CuPy, and they are on the GPU from the start. Only the result, one number, crosses
# :term:`PCIe`, the link between the GPU and the host.

import cupy as cp
import numpy as np

rng = cp.random.default_rng(0)
a = rng.random(1_000_000, dtype=cp.float32)
b = rng.random(1_000_000, dtype=cp.float32)
product = cp.dot(a, b)  # an array without axes, still on the GPU
print("CuPy: ", float(product))  # float() fetches the number

a_host, b_host = a.get(), b.get()
print("NumPy:", float(np.dot(a_host, b_host)))

# %%
# .. try-it::
#
#    Write ``rng = np.random.default_rng(0)`` and print ``type(product)``. ``cp.dot`` does not complain: it
#    calls ``a.dot``, and for a NumPy array that is NumPy's method, on the CPU. Only ``a.get()`` raises an
#    error. Where the work is done depends on where the arrays are, not on the name in front.
#
# .. headline:: Two vectors cross the link, or one number
#
# .. drawing:: data_where_it_is
#
#     Two ways to a scalar product. In the first row random numbers are drawn on the host, and two vectors
#     cross PCIe before the GPU multiplies them. In the second row they are drawn on the GPU and multiplied
#     there, and one number crosses.
#
# For large vectors call cuBLAS, NVIDIA's library for linear algebra: write ``from cupy import cublas``, and
# ``cublas.dot(a, b)``. For 100 million pairs it takes :measured:`dot[cublas_on_gpu, 10**8].time`, where
# ``cp.dot`` takes :measured:`dot[on_gpu, 10**8].time`.
#
# .. dropdown:: Why cp.dot takes longer than cuBLAS
#
#     ``cp.dot`` writes the products of two vectors into a new array and then adds that up, so four vectors go
#     through the GPU's memory where two are enough; cuBLAS reads each vector once. Half the traffic does not
#     explain all of the difference. We think that the rest is CuPy's multiplication, which does not reach the
#     memory's speed. :evidence:`opinion`
#
# NumPy and CuPy draw different numbers even with the same seed. Compare such results by their means and
# spreads. If you need the very same numbers on both sides, draw them once and copy them once.

# %%

# record: The study, every product compared, and the random numbers, timed apart
import gpuguide as gg
from gpuguide.topics.data_where_it_is import random_numbers
from gpuguide.topics.data_where_it_is import study as data_where_it_is

free, total = cp.cuda.Device().mem_info
print(f"{free / 1e9:.0f} GB of the GPU's {total / 1e9:.0f} GB are free.")
results = data_where_it_is.dot.run()
n = max(results.sizes)
for name, samples in random_numbers.time_drawing(n).items():
    gg.fact(name, float(np.median(samples)), unit="s", samples=samples)
for name, value in data_where_it_is.rounding(results).items():
    gg.fact(name, value, unit="1")

# %%
# The same numbers, brought from the host
# ---------------------------------------
#
# If the vectors are on the host, they have to be copied first. Make the numbers in :term:`pinned memory`,
# from which the GPU fetches them directly:

import cupyx

a_pinned = cupyx.empty_pinned(1_000_000, dtype=np.float32)
b_pinned = cupyx.empty_pinned(1_000_000, dtype=np.float32)
rng_host = np.random.default_rng(0)
for x_pinned in (a_pinned, b_pinned):
    rng_host.random(out=x_pinned, dtype=np.float32)  # made in pinned memory at once

a.set(a_pinned)
b.set(b_pinned)
print("CuPy: ", float(cp.dot(a, b)))
print("NumPy:", float(np.dot(a_pinned, b_pinned)))

# %%
# The two sums differ in their last digits, for each library adds up in another order.
#
# For 100 million pairs, copies and product take :measured:`dot[with_copies_pinned, 10**8].time`, and
# :measured:`dot[with_copies, 10**8].time` from :term:`pageable memory`, with ``cp.asarray``.
# :doc:`Fast copies with pinned memory </gallery/moving_data/transfers>` says why. The CPU reads the numbers
# from its own memory, and if every thread takes a part, it needs only
# :measured:`dot[numpy_threads, 10**8].time`. A scalar product uses each number just once, which alone is not
# worth the trip.
#
# .. kernel:: gpuguide.topics.data_where_it_is.study
#    :names: with_copies, with_copies_pinned, on_gpu, cublas_on_gpu
#    :fold: The scalar products on the GPU, as they are timed
#
# .. kernel:: gpuguide.topics.data_where_it_is.study
#    :names: numpy, numpy_threads
#    :fold: The scalar products on the CPU

# %%
# What a speed-up leaves out
# --------------------------
#
# How many times faster is the GPU, then? It is :measured:`born_one_thread` as fast as one thread of NumPy, if
# it makes the numbers itself. But against all threads of the CPU, and with numbers that come from there, it
# is slower: it takes :measured:`from_host_pageable` as long with pageable copies. Neither number is wrong,
# and neither is enough. When you read a speed-up, ask where the data were before, where the result went, and
# how many threads the CPU had.
#
# .. dropdown:: How much of it is the random numbers
#
#     On one thread NumPy takes :measured:`whole_numpy` from the random numbers to the product, and
#     :measured:`random_share` of that are the random numbers: such a speed-up compares generators.
#     ``np.random.rand`` draws ``float64``, and takes :measured:`rand_numpy` for each vector with the
#     conversion to ``float32``. ``np.random.default_rng`` draws ``float32`` directly, in
#     :measured:`random_numpy`, and with a generator for each thread in :measured:`random_numpy_threads`. On
#     the GPU the same two ways take :measured:`rand_cupy` and :measured:`random_cupy`.
#
#     With pinned copies it takes :measured:`from_host_threads` as long as the CPU alone. Both ways with
#     copies call ``cp.dot``. What cuBLAS would save is :measured:`saved_share` of the time with pinned
#     copies.
#
# .. kernel:: gpuguide.topics.data_where_it_is.random_numbers
#    :names: rand_numpy, random_numpy, random_numpy_threads, rand_cupy, random_cupy
#    :fold: The random numbers, as they are timed

# draw: From random numbers to the product; the copies are what remains of the time with copies
n = max(results.sizes)
on_gpu = results.time("on_gpu", n)
ways = {
    "whole_numpy": ("random_numpy", "numpy"),
    "whole_numpy_threads": ("random_numpy_threads", "numpy_threads"),
    "whole_pageable": ("random_numpy_threads", "with_copies"),
    "whole_pinned": ("random_numpy_threads", "with_copies_pinned"),
    "whole_gpu": ("random_cupy", "cublas_on_gpu"),
}
wholes = {
    name: 2 * facts[draw].value + results.time(dot, n).value
    for name, (draw, dot) in ways.items()
}
for name, seconds in wholes.items():
    gg.fact(name, seconds, unit="s", note="random numbers, copies and product")
ratios = {
    "born_one_thread": ("whole_numpy", "whole_gpu"),
    "from_host_threads": ("whole_pinned", "whole_numpy_threads"),
    "from_host_pageable": ("whole_pageable", "whole_numpy_threads"),
}
for name, (slower, faster) in ratios.items():
    gg.fact(name, wholes[slower] / wholes[faster], unit="ratio")
share = 2 * facts["random_numpy"].value / wholes["whole_numpy"]
gg.fact("random_share", share, unit="share")
saved = on_gpu.value - results.time("cublas_on_gpu", n).value
pinned = results.time("with_copies_pinned", n).value
_ = gg.fact("saved_share", saved / pinned, unit="share")

# %%
# When the copies pay
# -------------------
#
# Do not ask whether a GPU is faster, but where the data are and where the result is needed. If an array comes
# from a formula, from a random generator or from the step before, make it on the GPU and leave it there. An
# array from a file or a sensor starts on the host; copy it if the GPU uses it often enough to pay for that.
#
# .. headline:: With pinned copies, one product beats one thread of the CPU, but not all of them

# draw
ax = gg.plot_time(
    results,
    variants=["numpy", "numpy_threads", "with_copies_pinned", "cublas_on_gpu"],
)
_ = ax.set_ylabel("time of the product, copies included")

# %%

# draw: Seven claims
gg.claim(results, "cublas_on_gpu", faster_than="on_gpu", at=10**8, by=2)
gg.claim(results, "cublas_on_gpu", faster_than=["numpy", "numpy_threads"], at=10**8, by=3)
gg.claim(results, "with_copies_pinned", faster_than="with_copies", at=10**8, by=2)
gg.claim(results, "cublas_on_gpu", faster_than="with_copies_pinned", at=10**8, by=5)
gg.claim(results, "numpy_threads", faster_than="with_copies_pinned", at=10**8, by=1.1)
gg.claim(results, "numpy", faster_than="with_copies", at=10**8, by=1.1)
gg.claim(results, "numpy", faster_than=["cublas_on_gpu", "with_copies_pinned"], at=10**3)

# %%
# When float32 sums drift
# -----------------------
#
# Look at the sum before you praise the speed, and on the CPU convert to ``float64`` or add up parts. For 100
# million pairs the sum is :measured:`right` in ``float64``, and ``np.dot`` in ``float32`` is off by
# :measured:`off_numpy`: the larger a sum has grown, the more of each further product is lost in rounding.
# Sums of parts stay smaller, so that the version for all threads is off by :measured:`off_numpy_threads`
# only. :evidence:`variant numpy_threads` On the GPU ``cp.dot`` and cuBLAS are as near as ``float32`` can be.

# %%
# .. remember::
#
#    - Make numbers where they are used: random numbers and the scalar product of 100 million pairs take
#      :measured:`whole_gpu` on the GPU, and :measured:`whole_pinned` if the numbers are made on the CPU.
#    - Leave a single operation on data of the CPU to the CPU: a scalar product of 100 million pairs takes
#      :measured:`dot[numpy_threads, 10**8].time` there, and :measured:`dot[with_copies, 10**8].time` with
#      pageable copies to the GPU.

# %%
# Your turn: a scalar product from the host
# -----------------------------------------
#
# The two vectors were made on the host, and one number has to come back. The check counts every copy.
#
# .. exercise:: fill_in_dot

# thumbnail
from gpuguide.charts import thumbnail
from gpuguide.charts.style import CUPY

ways = {"copied to the GPU": facts["whole_pinned"], "made on the GPU": facts["whole_gpu"]}
_ = thumbnail.bars(ways, "time, random numbers included", [CUPY, CUPY])

# %%
# Next
# ----
#
# Next: :doc:`Slice before or after the copy </gallery/moving_data/slicing>` decides where to cut an array of
# which you need a part. See also: :doc:`When a GPU pays </gallery/start/why_gpu>` has a formula that does
# more with each number.
