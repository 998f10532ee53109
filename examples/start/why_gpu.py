"""
Why a GPU
=========

At what size does a GPU win, and is copying the data worth it?
"""
# %%
# Copy once, and do many things there: a GPU works out a formula for a hundred million numbers
# :measured:`polynomial[gpu_threads, 10**8].speedup(cpu_threads)` as fast as 16 virtual CPUs, which take
# :measured:`polynomial[cpu_threads, 10**8].time`, if the numbers are on it already. With pinned copies there
# and back the GPU takes :measured:`polynomial[with_copies_pinned, 10**8].time`, so a single formula is not
# worth the trip.
#
# .. list-table:: From the call until the result is there
#    :header-rows: 1
#
#    * - numbers
#      - 10\ :sup:`4`
#      - 10\ :sup:`8`
#    * - CuPy, the code of NumPy
#      - :measured:`polynomial[cupy, 10**4].time`
#      - :measured:`polynomial[cupy, 10**8].time`
#    * - compiled, 16 virtual CPUs
#      - :measured:`polynomial[cpu_threads, 10**4].time`
#      - :measured:`polynomial[cpu_threads, 10**8].time`
#    * - compiled, the GPU
#      - :measured:`polynomial[gpu_threads, 10**4].time`
#      - :measured:`polynomial[gpu_threads, 10**8].time`
#    * - the GPU with pinned copies
#      - :measured:`polynomial[with_copies_pinned, 10**4].time`
#      - :measured:`polynomial[with_copies_pinned, 10**8].time`

# %%
# One formula, in NumPy and in CuPy
# ---------------------------------
#
# Here is the formula, a polynomial of degree seven. CuPy is NumPy for the GPU. ``cp.asarray`` copies an
# array there, and the function takes either.

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
#    Call ``polynomial(2)``. It is 165. The function does not say where it runs. Its argument decides that.
#
# For ten million numbers NumPy takes :measured:`polynomial[numpy, 10**7].time` and CuPy
# :measured:`polynomial[cupy, 10**7].time`. That is one thread of a CPU against a whole GPU.
#
# .. kernel:: gpuguide.topics.why_gpu.study
#    :names: cupy
#    :fold: What is timed for CuPy

# %%

# record: The compiled loop and the kernel
import gpuguide as gg
from gpuguide.topics.why_gpu.kernels import cpu_threads, gpu_threads

# %%
# All threads of the CPU against the GPU
# --------------------------------------
#
# A CPU has a few fast cores. A GPU has thousands of arithmetic units, each slower than a core, that all
# work at the same time. So it suits tasks that can be cut into very many parts which do not depend on each
# other.
#
# .. drawing:: why_gpu
#
#     Three rows of numbers. On one thread of the CPU a single worker takes one number after the other. On
#     all threads a few workers share the row. On the GPU there is a worker for every number, but two arrows,
#     called the trip, show that the numbers have to get there and back.
#
# To be fair, Numba compiles the formula for both.

from numba import cuda, njit, prange

# %%
# NumPy and CuPy go through all the numbers once for each of the fourteen operators. The compiled loops read
# each number once. First the CPU, with all its threads:
#
# .. rung:: cpu_threads

out_host = np.empty_like(x_host)
cpu_threads(x_host, out_host)
print(out_host[:3])

# %%
# On the GPU the outer loop is gone. A function like this one is a kernel: each :term:`thread` of the GPU runs
# it for one number. :doc:`First kernel </gallery/first_kernels/first_kernel>` explains it line by line.
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
# Result: where the GPU overtakes the CPU
# ---------------------------------------

# draw
_ = gg.plot_time(
    results,
    variants=["numpy", "cpu_threads", "cupy", "gpu_threads"],
    crossover=("cpu_threads", "gpu_threads"),
).set_ylim(1e-6, 2)  # room for the words about the crossover, none below the fastest

# %%
# .. finding::
#
#    With the numbers on the GPU, it overtakes all threads of the CPU
#    :measured:`polynomial.crossover(cpu_threads, gpu_threads)`; at a million the two take about the same
#    time. At 10\ :sup:`8` numbers the GPU is :measured:`polynomial[gpu_threads, 10**8].speedup(cpu_threads)`
#    as fast, from the call until the result is there.

# draw: Six claims
gg.claim(results, "numpy", faster_than="gpu_threads", at=10**3)
gg.claim(results, "gpu_threads", faster_than=["cpu_threads", "cupy"], at=10**8, by=10)
gg.claim(results, "numpy_out", faster_than="numpy", at=10**7)
gg.claim(results, "gpu_threads", faster_than="with_copies_pinned", at=10**8, by=10)
gg.claim(results, "with_copies_pinned", faster_than="with_copies", at=10**8, by=2)
gg.claim(results, "cpu_threads", faster_than="with_copies", at=10**8, by=2)

# %%
# The bars are tall where the host decides: in one of the runs its processor was busy with other work.
#
# On the left more numbers hardly cost the GPU more time. It takes about
# :measured:`polynomial[gpu_threads, 10**5].time` for 10\ :sup:`5` numbers, and as long for a thousand. By the
# GPU's own clock the kernel alone takes :measured:`polynomial[kernel_alone, 10**3].time` of that for a
# thousand, and :measured:`polynomial[kernel_alone, 10**5].time` for 10\ :sup:`5`. The rest goes into the
# launch and into waiting for the end. :evidence:`variant kernel_alone` That part depends on the host, and
# takes longer when the host is busy.
#
# NumPy takes :measured:`polynomial[numpy, 10**6].time` for a million numbers and
# :measured:`polynomial[numpy, 10**7].time` for ten million. Part of that goes into the new arrays that it
# makes. The operating system hands out their memory page by page, when a page is first used. Most of it comes
# in large pages of 2 MiB. With ten million numbers this happens :measured:`faults_new` times in a call, a
# count that differs much from one run to the next. If all steps write into one array that exists,
# it happens :measured:`faults_out` times, and the call is
# :measured:`polynomial[numpy_out, 10**7].speedup(numpy)` as fast. :evidence:`variant numpy_out`

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
# Copies there and back
# ---------------------
#
# If the numbers are in the memory of the CPU, they must cross :term:`PCIe`, and the results must come back.
# From :term:`pinned memory` the GPU fetches them by itself:
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
# NumPy's ordinary memory is :term:`pageable <pageable memory>`. With copies from and to it the same trip is
# slower.
#
# .. kernel:: gpuguide.topics.why_gpu.study
#    :names: with_copies
#    :fold: The trip with pageable copies

# draw
_ = gg.plot_time(
    results, variants=["cpu_threads", "gpu_threads", "with_copies", "with_copies_pinned"]
).set_ylim(bottom=1e-6)

# %%
# .. finding::
#
#    For 10\ :sup:`8` numbers the GPU takes :measured:`polynomial[gpu_threads, 10**8].time`, with pinned
#    copies :measured:`polynomial[with_copies_pinned, 10**8].time`, with pageable ones
#    :measured:`polynomial[with_copies, 10**8].time`. All threads of the CPU take
#    :measured:`polynomial[cpu_threads, 10**8].time`.
#
# So for one cheap formula the CPU wins against pageable copies. Against pinned ones the race is close: the
# CPU won in every run, and may lose in the next. But the trip costs the same for one formula and
# for a hundred. By these times, pinned copies cost as much as :measured:`formulas_pinned` such formulas save,
# and pageable ones as much as :measured:`formulas_pageable`. So copy once, do many things on the GPU, and
# copy the result back at the end.

# draw: How many formulas save as much as the copies cost
n = 10**8
on_gpu = results.time("gpu_threads", n).value
saved = results.time("cpu_threads", n).value - on_gpu
for kind, variant in {"pinned": "with_copies_pinned", "pageable": "with_copies"}.items():
    trip = results.time(variant, n).value - on_gpu
    _ = gg.fact(
        f"formulas_{kind}",
        trip / saved,
        unit="1",
        note=f"cost of {kind} copies / saved by each formula",
    )

# %%
# When to stay on the CPU
# -----------------------
#
# For a thousand numbers NumPy takes :measured:`polynomial[numpy, 10**3].time`, and the GPU takes
# :measured:`polynomial[gpu_threads, 10**3].time` without any copy. And where each step needs the result of
# the one before, there is nothing to share out, however large the task.
#
# When somebody promises you a large factor, ask five things: against which code, on how many threads, with
# or without the copies, for how many numbers, of which type?
#
# .. results:: polynomial

# %%
# Your turn: find the crossing
# ----------------------------
#
# Write the function that finds in two columns of times where one overtakes the other, if it does at all.
#
# .. exercise:: crossing_point

# %%
# Next
# ----
#
# Onward: :doc:`Five minutes </gallery/start/five_minutes>`, the first program to run yourself. Sideways:
# :doc:`How to time a GPU </gallery/measuring/how_to_time>`, on why the clock has to wait.
