"""
When a GPU pays
===============

At what size does a GPU win, and is copying the data worth it?
"""
# %%
# Move work to the GPU if it takes many steps on millions of numbers, and copy them there once. For a formula
# of a hundred million numbers, a GPU needs :measured:`polynomial[gpu_threads, 10**8].time` if they are in its
# memory, and all 16 threads of the CPU need :measured:`polynomial[cpu_threads, 10**8].time`. With copies
# there and back the GPU takes :measured:`polynomial[with_copies, 10**8].time`, and loses.
#
# .. headline:: Beyond a million numbers the GPU wins, unless you copy them each time
#
# .. choices:: why_gpu
#    :of: Copies
#
#    .. choice:: pageable
#
#       def with_line(*more):
#           names = ["cpu_threads", "gpu_threads", *more]
#           ax = gg.plot_time(results, variants=names, crossover=("cpu_threads", "gpu_threads"))
#           ax.set_ylim(3e-6, 1)  # the same for all, with room for the words about the crossover
#           ax.figure.set_size_inches(7.2, 3.4)
#
#       with_line("with_copies")
#
#    .. choice:: pinned
#
#       with_line("with_copies_pinned")
#
#    .. choice:: none
#
#       with_line()

# %%
# From NumPy to CuPy: one formula
# -------------------------------
#
# CuPy is NumPy for the GPU. The function below works out a polynomial of degree seven, and takes an array of
# either library. ``cp.asarray`` copies a NumPy array into the memory of the GPU.

import cupy as cp
import numpy as np


def polynomial(x):
    return ((((((2 * x - 3) * x + 1) * x + 4) * x - 1) * x + 3) * x - 2) * x + 5


x_host = np.linspace(0, 1, 1_000_000, dtype=np.float32)
x_device = cp.asarray(x_host)  # a copy in the memory of the GPU
print("NumPy:", polynomial(x_host)[:3])
print("CuPy: ", polynomial(x_device)[:3])

# %%
# .. try-it::
#
#    Call ``polynomial(2)``. It is 165. The function does not say where it runs: its argument decides that.
#
# For a million numbers CuPy is :measured:`polynomial[cupy, 10**6].speedup(numpy)` as fast as NumPy, and for
# ten million :measured:`polynomial[cupy, 10**7].speedup(numpy)`. But that compares a whole GPU with a single
# thread of the CPU, as NumPy uses only one for such a formula.
#
# .. kernel:: gpuguide.topics.why_gpu.study
#    :names: cupy
#    :fold: What is timed for CuPy

# %%

# record: The compiled loop and the kernel
import gpuguide as gg
from gpuguide.topics.why_gpu.kernels import cpu_threads, gpu_threads

# %%
# A fair comparison: all threads of the CPU
# -----------------------------------------
#
# A CPU has a few fast cores. A GPU has thousands of arithmetic units, each slower than a core, that all work
# at the same time. It therefore suits work that can be cut into very many parts that do not depend on each
# other.
#
# .. headline:: The GPU has a thread for every number, but the numbers have to get there
#
# .. drawing:: why_gpu
#
#     Three rows of numbers. On one thread of the CPU a single worker takes one number after the other. On
#     all threads a few workers share the row. On the GPU there is a worker for every number, but two arrows,
#     called the trip, show that the numbers have to get there and back.
#
# To be fair to both sides, we let Numba compile the formula for the CPU and for the GPU.

from numba import cuda, njit, prange

# %%
# NumPy and CuPy go through all the numbers once for each of the fourteen operators, while a compiled loop
# reads each number once. On the CPU, ``prange`` shares the numbers out among all threads. Below the code
# stands what a hundred million numbers take:
#
# .. rung:: cpu_threads

out_host = np.empty_like(x_host)
cpu_threads(x_host, out_host)
print(out_host[:3])

# %%
# On the GPU the outer loop is gone. Such a function is a kernel: each :term:`thread` of the GPU runs it for
# one number. :doc:`/gallery/first_kernels/first_kernel` explains it line by line.
#
# .. rung:: gpu_threads

out_device = cp.empty_like(x_device)
blocks_per_grid = (x_device.size + 255) // 256
gpu_threads[blocks_per_grid, 256](x_device, out_device)
print(out_device[:3])

# %%

# record: The study: eight variants, six sizes, every result checked
from gpuguide.topics.why_gpu.study import study

results = study.run()

# %%
# From which size the GPU wins
# ----------------------------
#
# The chart at the top shows these two functions. With the numbers on the GPU, it draws level with all threads
# of the CPU at about a million numbers, and at ten million it is
# :measured:`polynomial[gpu_threads, 10**7].speedup(cpu_threads)` as fast.
#
# With fewer numbers the GPU does not get any faster: a thousand take as long as a million, about
# :measured:`polynomial[gpu_threads, 10**6].time`. Most of that goes into the :term:`launch` and into waiting
# for its end; the kernel itself takes :measured:`polynomial[kernel_alone, 10**6].time`.
# :evidence:`variant kernel_alone` A small task cannot be quicker than its launch, so join small tasks into a
# large one.

# draw: Six claims
gg.claim(results, "numpy", faster_than="gpu_threads", at=10**3)
gg.claim(results, "gpu_threads", faster_than=["cpu_threads", "cupy"], at=10**8, by=10)
gg.claim(results, "numpy_out", faster_than="numpy", at=10**7)
gg.claim(results, "gpu_threads", faster_than="with_copies_pinned", at=10**8, by=10)
gg.claim(results, "with_copies_pinned", faster_than="with_copies", at=10**8, by=2)
gg.claim(results, "cpu_threads", faster_than="with_copies", at=10**8, by=2)

# %%
# .. dropdown:: Why NumPy takes so long: part of it is new arrays
#
#     NumPy takes :measured:`polynomial[numpy, 10**6].time` for a million numbers and
#     :measured:`polynomial[numpy, 10**7].time` for ten million. Part of that goes into the new arrays that
#     each operator makes. The operating system hands out their memory page by page, when a page is first
#     used; most of it comes in large pages of 2 MiB. With ten million numbers this happens
#     :measured:`faults_new` times in a call, a count that differs much from one run to the next. If all steps
#     write into one array that exists, as below, it happens :measured:`faults_out` times, and the call is
#     :measured:`polynomial[numpy_out, 10**7].speedup(numpy)` as fast. :evidence:`variant numpy_out`

# %%

# fold: The same steps without new arrays
np.multiply(x_host, 2, out=out_host)
for coefficient in (-3, 1, 4, -1, 3, -2):
    np.add(out_host, coefficient, out=out_host)
    np.multiply(out_host, x_host, out=out_host)
np.add(out_host, 5, out=out_host)
assert (out_host == polynomial(x_host)).all()

# %%

# record: Page faults of a call with ten million numbers
from resource import RUSAGE_SELF, getrusage

from gpuguide.topics.why_gpu.study import numpy_out

x_large = np.linspace(0, 1, 10**7, dtype=np.float32)
out_large = np.zeros_like(x_large)
calls = {
    "faults_new": lambda: polynomial(x_large),
    "faults_out": lambda: numpy_out(x_large, out_large),
}
for name, call in calls.items():
    call()
    before = getrusage(RUSAGE_SELF).ru_minflt
    call()
    gg.fact(name, getrusage(RUSAGE_SELF).ru_minflt - before, unit="1")

# %%
# Count the copies there and back
# -------------------------------
#
# Numbers in the memory of the CPU have to cross :term:`PCIe`, and the results have to come back. That is
# quickest from and to :term:`pinned memory`, which the GPU reads and writes by itself:
#
# .. rung:: with_copies_pinned
#    :beside:

import cupyx

x_pinned = cupyx.empty_pinned(x_host.shape, np.float32)
out_pinned = cupyx.empty_pinned(x_host.shape, np.float32)
x_pinned[:] = x_host  # in a program of your own, make the numbers here

x_device.set(x_pinned)
gpu_threads[blocks_per_grid, 256](x_device, out_device)
out_device.get(out=out_pinned)
print(out_pinned[:3])

# %%
# An ordinary NumPy array lies in :term:`pageable memory`. The same trip is slower from there:
#
# .. kernel:: gpuguide.topics.why_gpu.study
#    :names: with_copies
#    :fold: The trip with pageable copies
#
# .. headline:: A hundred million numbers: the copies decide who wins

# draw
from gpuguide.charts.shapes import plot_bars

variants = ["cpu_threads", "gpu_threads", "with_copies_pinned", "with_copies"]
_ = plot_bars(results, variants, at=10**8)

# %%
# For a single formula the trip does not pay, though with pinned copies it comes close. But the trip costs
# the same for one formula and for a hundred. If you work out several with the same numbers, the GPU wins,
# copies included: with pinned copies from :measured:`formulas_pinned` formulas on, and with pageable ones
# from :measured:`formulas_pageable` on.

# draw: How many formulas save more than the copies cost
from math import ceil

n = 10**8
on_gpu = results.time("gpu_threads", n).value
saved = results.time("cpu_threads", n).value - on_gpu
for kind, variant in {"pinned": "with_copies_pinned", "pageable": "with_copies"}.items():
    trip = results.time(variant, n).value - on_gpu
    _ = gg.fact(
        f"formulas_{kind}",
        ceil(trip / saved),
        unit="1",
        note=f"cost of {kind} copies / saved by each formula, rounded up",
    )

# %%
# When the GPU is slower than NumPy
# ---------------------------------
#
# Stay on the CPU in these cases:
#
# - **The arrays are small.** For a thousand numbers NumPy takes :measured:`polynomial[numpy, 10**3].time`,
#   and the GPU :measured:`polynomial[gpu_threads, 10**3].time` without any copy.
# - **The data go there for one cheap step** and come back at once.
# - **Each step needs the result of the one before.** Then there is nothing to share out, however large the
#   task.
#
# When somebody promises you a large factor, ask five things: against which code, on how many threads, with or
# without the copies, for how many numbers, of which type?

# %%
# .. remember::
#
#    - Use a GPU for millions of numbers, and join small tasks into a large one.
#    - Copy to the GPU once, do many steps there, and copy the result back at the end: with pinned copies this
#      pays from :measured:`formulas_pinned` cheap formulas on, not for a single one.

# %%
# Your turn: one copy each way
# ----------------------------
#
# The program of this exercise computes on the GPU, but copies after every step. Make it copy once there and
# once back. Run your answer on any computer, or in a notebook with a GPU.
#
# .. exercise:: count_transfers

# thumbnail
from gpuguide.charts import thumbnail

sides = {"CPU": "cpu_threads", "GPU": "gpu_threads", "copies": "with_copies"}
curves = {
    label: (results.sizes, [results.time(name, n) for n in results.sizes])
    for label, name in sides.items()
}
_ = thumbnail.lines(curves, "time, by how many numbers")

# %%
# Next
# ----
#
# Next: :doc:`/gallery/start/five_minutes`, a first program to run yourself. See also:
# :doc:`/gallery/measuring/how_to_time`, on why a clock has to wait for the GPU.
