"""
Data where it is
================

Does a GPU pay for one operation, and how much depends on where its numbers are made?
"""
# %%
# On the GPU the scalar product of 10\ :sup:`8` pairs takes :measured:`dot[cublas_on_gpu, 10**8].time`, and on
# 16 virtual CPUs :measured:`dot[numpy_threads, 10**8].time`. With copies from pinned memory it takes
# :measured:`dot[with_copies_pinned, 10**8].time`. To make the numbers takes the 16 virtual CPUs
# :measured:`both_random_numpy_threads`, and the GPU :measured:`both_random_cupy`.
#
# .. list-table:: Two vectors of 10\ :sup:`8` numbers
#    :header-rows: 1
#
#    * - way
#      - random numbers
#      - copies and scalar product
#    * - NumPy, one thread
#      - :measured:`both_random_numpy`
#      - :measured:`dot[numpy, 10**8].time`
#    * - NumPy, 16 virtual CPUs
#      - :measured:`both_random_numpy_threads`
#      - :measured:`dot[numpy_threads, 10**8].time`
#    * - NumPy, 16 virtual CPUs; then pageable copies, CuPy
#      - :measured:`both_random_numpy_threads`
#      - :measured:`dot[with_copies, 10**8].time`
#    * - NumPy, 16 virtual CPUs; then pinned copies, CuPy
#      - :measured:`both_random_numpy_threads`
#      - :measured:`dot[with_copies_pinned, 10**8].time`
#    * - CuPy, on the GPU
#      - :measured:`both_random_cupy`
#      - :measured:`dot[on_gpu, 10**8].time`
#    * - CuPy, on the GPU; then cuBLAS
#      - :measured:`both_random_cupy`
#      - :measured:`dot[cublas_on_gpu, 10**8].time`

# %%
# Make random numbers on the GPU
# ------------------------------
#
# CuPy draws random numbers on the GPU. Only the result, one number, crosses :term:`PCIe`, the link between
# the GPU and the host.

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
#    calls ``a.dot``, and for NumPy's arrays that is NumPy's, on the CPU. Only ``a.get()`` raises:
#    NumPy's arrays have no such method. Where the arrays are decides where the work is done, not the name in
#    front.
#
# The two sums may differ in their last digits, as the products are added up in another order.
#
# ``cp.dot`` writes the products of two vectors into a new array and then adds that up, so four vectors go
# through the GPU's memory where two are enough. cuBLAS, NVIDIA's library for linear algebra, reads each
# vector once. Write ``from cupy import cublas``, and ``cublas.dot(a, b)``: 10\ :sup:`8` pairs take
# :measured:`dot[cublas_on_gpu, 10**8].time`, against :measured:`dot[on_gpu, 10**8].time` with ``cp.dot``.
# Half the traffic does not explain all of that. We think that the rest is CuPy's multiplication, which does
# not reach the memory's speed. :evidence:`opinion`
#
# .. drawing:: data_where_it_is
#
#     Two ways to a scalar product. In the first row random numbers are drawn on the host, and two vectors
#     cross PCIe before the GPU multiplies them. In the second row they are drawn on the GPU and multiplied
#     there, and one number crosses.

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
# If the vectors are on the host, they are copied first. From pinned memory the GPU fetches them directly.
#
# .. rung:: with_copies_pinned

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
# From :term:`pageable memory`, with ``cp.asarray``, the copies and the product of 10\ :sup:`8` pairs take
# :measured:`dot[with_copies, 10**8].time`, which is
# :measured:`dot[with_copies_pinned, 10**8].speedup(with_copies)` as long as with pinned copies.
# :doc:`Transfers </gallery/moving_data/transfers>` says why.
#
# .. kernel:: gpuguide.topics.data_where_it_is.study
#    :names: with_copies, with_copies_pinned, on_gpu, cublas_on_gpu
#    :fold: The scalar products on the GPU, as they are timed
#
# Both ways with copies call ``cp.dot``. What cuBLAS would save is :measured:`saved_share` of the time with
# pinned copies.
#
# A scalar product reads each number once and does next to nothing with it. The CPU reads them from its own
# memory and needs no copies. ``np.dot`` takes a single thread for vectors:
# :measured:`dot[numpy, 10**8].time`. If every thread gets a part, it is
# :measured:`dot[numpy_threads, 10**8].time`.
#
# .. kernel:: gpuguide.topics.data_where_it_is.study
#    :names: numpy, numpy_threads
#    :fold: The scalar products on the CPU

# %%
# Result: bars instead of one speed-up
# ------------------------------------

# draw: The bars, of which the copies are what remains of the time with copies
from gpuguide.charts.shapes import plot_decomposition

n = max(results.sizes)
on_gpu = results.time("on_gpu", n)
bars = {}
for bar, (draw, dot) in {
    "NumPy, one thread": ("random_numpy", "numpy"),
    "NumPy, all threads": ("random_numpy_threads", "numpy_threads"),
    "CuPy, pageable": ("random_numpy_threads", "with_copies"),
    "CuPy, pinned": ("random_numpy_threads", "with_copies_pinned"),
    "cuBLAS, on the GPU": ("random_cupy", "cublas_on_gpu"),
}.items():
    whole = results.time(dot, n).value
    copies = whole - on_gpu.value if dot.startswith("with_copies") else 0.0
    # Two vectors.
    bars[bar] = {
        "random numbers": 2 * facts[draw].value,
        "copies": max(copies, 0.0),
        "product": whole - max(copies, 0.0),
    }
_ = plot_decomposition(bars)

# %%
# .. finding::
#
#    From random numbers to the product, NumPy takes :measured:`whole_numpy` on one thread and
#    :measured:`whole_numpy_threads` on all. With numbers from all threads and pinned copies the GPU takes
#    :measured:`whole_pinned`, and with numbers of its own :measured:`whole_gpu`.
#
# How many times faster is the GPU, then? By these bars :measured:`born_one_thread`, if you compare one
# thread with numbers made on the GPU. Against all threads, with numbers from the host, it loses: it takes
# :measured:`from_host_threads` as long with pinned copies, and :measured:`from_host_pageable` as long with
# pageable ones. None of these is wrong, and a single one says little. Ask for the bars.
#
# On one thread the random numbers take :measured:`random_share` of the time. A speed-up that includes them
# compares generators. ``np.random.rand`` draws ``float64``, and takes :measured:`rand_numpy` for each vector
# with the conversion to ``float32``. ``np.random.default_rng`` draws ``float32`` directly, in
# :measured:`random_numpy`, and with a generator for each thread in :measured:`random_numpy_threads`. On the
# GPU the same two ways take :measured:`rand_cupy` and :measured:`random_cupy`.
#
# .. kernel:: gpuguide.topics.data_where_it_is.random_numbers
#    :names: rand_numpy, random_numpy, random_numpy_threads, rand_cupy, random_cupy
#    :fold: The random numbers, as they are timed

# draw
ways = {
    "whole_numpy": "NumPy, one thread",
    "whole_numpy_threads": "NumPy, all threads",
    "whole_pageable": "CuPy, pageable",
    "whole_pinned": "CuPy, pinned",
    "whole_gpu": "cuBLAS, on the GPU",
}
wholes = {name: sum(bars[bar].values()) for name, bar in ways.items()}
for name, seconds in wholes.items():
    gg.fact(name, seconds, unit="s", note="random numbers, copies and product")
for name in ("random_numpy", "random_numpy_threads", "random_cupy"):
    gg.fact(f"both_{name}", 2 * facts[name].value, unit="s", note="two vectors")
ratios = {
    "born_one_thread": ("whole_numpy", "whole_gpu"),
    "from_host_threads": ("whole_pinned", "whole_numpy_threads"),
    "from_host_pageable": ("whole_pageable", "whole_numpy_threads"),
}
for name, (slower, faster) in ratios.items():
    gg.fact(name, wholes[slower] / wholes[faster], unit="ratio")
share = bars["NumPy, one thread"]["random numbers"] / wholes["whole_numpy"]
gg.fact("random_share", share, unit="share")
saved = on_gpu.value - results.time("cublas_on_gpu", n).value
pinned = results.time("with_copies_pinned", n).value
_ = gg.fact("saved_share", saved / pinned, unit="share")

# %%
# Where the product alone is worth the copies
# -------------------------------------------

# draw
_ = gg.plot_time(
    results,
    variants=[
        "numpy",
        "numpy_threads",
        "with_copies",
        "with_copies_pinned",
        "on_gpu",
        "cublas_on_gpu",
    ],
)

# %%
# .. finding::
#
#    With pinned copies CuPy overtakes NumPy on one thread
#    :measured:`dot.crossover(numpy, with_copies_pinned)`. But 10\ :sup:`8` pairs take it
#    :measured:`dot[with_copies_pinned, 10**8].time`, and **NumPy, all threads**
#    :measured:`dot[numpy_threads, 10**8].time`. If the numbers are on the GPU already, cuBLAS takes
#    :measured:`dot[cublas_on_gpu, 10**8].time`.
#
# With pageable copies CuPy loses 10\ :sup:`8` pairs even to one thread. So the question is not whether a GPU
# is faster, but where the data are and where the result is needed. If an array comes from a file or from a
# sensor, it starts on the host, and must be used often enough on the GPU to pay for the copy. If it comes
# from a formula, from a random generator or from the step before, make it on the GPU and leave it there.
#
# The generators of CuPy and NumPy differ, so the same seed gives other numbers. Compare such results by their
# means and spreads. If you need the very same numbers on both sides, draw them once and copy them once.

# draw
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
# Look at the sum before you praise the speed. For 10\ :sup:`8` pairs it is :measured:`right` in ``float64``.
# ``np.dot`` in ``float32`` is off by :measured:`off_numpy`. The larger a sum has grown, the more of each
# further product is lost in rounding. The sums of parts stay smaller: the version for all threads is off by
# :measured:`off_numpy_threads`. :evidence:`variant numpy_threads` ``cp.dot`` and cuBLAS are off by
# :measured:`off_cublas`, and no ``float32`` is nearer: numbers of this size are 2 apart.
#
# .. results:: dot

# %%
# Your turn: a scalar product from the host
# -----------------------------------------
#
# The two vectors were made on the host, and one number has to come back. The check counts every copy.
#
# .. exercise:: fill_in_dot

# %%
# Next
# ----
#
# Onward: :doc:`Slicing </gallery/moving_data/slicing>`, on copying a part of an array or all of it.
# Sideways: :doc:`Why a GPU </gallery/start/why_gpu>`, on a formula that does more with each number.
