"""
Make the CPU fast before you compare
====================================

How fast is a CPU that is given a fair chance?
"""
# %%
# Take NumPy's function or compile your loop with Numba, and let all threads work on large arrays. For 262 144
# pairs of numbers, a Python loop takes :measured:`maximum_cpu[python_loop, 64**3].time` to find the larger
# ones, the compiled loop :measured:`maximum_cpu[loops, 64**3].time`, and all threads of this CPU
# :measured:`maximum_cpu[parallel, 64**3].time`. That is what a GPU has to beat, not Python.
#
# .. headline:: Compiling gains most, and threads gain where there is much to do
#
# .. drawn:: maximum_cpu
#
#     from matplotlib.colors import same_color
#
#     from gpuguide.charts.style import CPU, SERIES
#
#     ax = gg.plot_time(results, variants=["python_loop", "loops", "parallel"])
#     for artist in (*ax.lines, *ax.texts, *ax.collections):  # all threads: one colour in all charts
#         if same_color(artist.get_color(), CPU):
#             artist.set_color(SERIES[6])
#         elif same_color(artist.get_color(), SERIES[6]):
#             artist.set_color(CPU)

# %%
# One element at a time: the Python loop
# --------------------------------------
#
# Python asks the same questions for every element. Where is it in memory? What type is it? What does "larger"
# mean for that type? A compiler asks once, before the loop begins. A modern CPU then compares up to sixteen
# neighbouring ``float32`` in one instruction, which is called :term:`SIMD`, and its cores can share the
# arrays out.
#
# .. headline:: Compiled code does for many elements at once what Python does for one
#
# .. drawing:: maximum_cpu
#
#     Three rows over the same sixteen elements. In Python each element is a box of its own with four steps,
#     of which one compares. In compiled code one wide box covers all sixteen. With threads two wide boxes
#     cover one half each.

from math import isnan

import numba
import numpy as np
from numba import njit, prange, vectorize


def python_loop(a, b, out):
    """Compare one pair of elements after the other."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                x, y = a[i, j, k], b[i, j, k]
                out[i, j, k] = x if x > y or isnan(x) else y


a, b = np.random.default_rng(0).random((2, 32, 32, 32), dtype=np.float32)
a[0, 0, 0] = np.nan
out = np.empty_like(a)
python_loop(a, b, out)
print("Python:", out[0, 0, :5])
print("NumPy: ", np.maximum(a, b)[0, 0, :5])

# %%
# .. try-it::
#
#    Write ``out[i, j, k] = max(x, y)`` into the loop, and then ``max(y, x)``. One of them loses the NaN.
#    With Python's ``max`` the result depends on the order of the arguments. With ``np.maximum`` it does not:
#    there NaN wins.
#
# With ``isnan`` the loop follows NumPy's rule, and so do all functions on this page. Comparing the times of
# two functions that disagree about NaN would prove nothing.

# %%
# np.maximum with out=
# --------------------
#
# Look for a NumPy function first. This one is a compiled loop with SIMD, and runs on one thread.

np.maximum(a, b, out=out)
print(out[0, 0, :5])

# %%
# With ``out=`` it fills an array that exists. Without it, each call makes a new array, and the operating
# system has to find memory for a large one while it is first written. For 256\ :sup:`3` elements, that takes
# :measured:`maximum_cpu[numpy_new, 256**3].time` instead of :measured:`maximum_cpu[numpy, 256**3].time`.
# :evidence:`variant numpy_new`

# %%

# record: The CPU, and the compiled functions of this page
import gpuguide as gg
from gpuguide.machine.cpu import cpu_info
from gpuguide.topics.maximum_cpu.kernels import loops, parallel, ufunc

cpu = cpu_info()
caches = dict(cpu.caches)
gg.fact("cpu", cpu.model, unit="text")
gg.fact("cpu_threads", cpu.n_cpus, unit="1")
gg.fact("l2_bytes", caches.get("L2", 0), unit="B")
gg.fact("l3_bytes", caches.get("L3", 0), unit="B")
print(cpu.model, "with", cpu.n_cpus, "virtual CPUs and the caches", caches)

# %%
# The same loop with @njit
# ------------------------
#
# Where NumPy has no such function, or would go over the data several times, let Numba compile your loop. It
# does so at the first call, by :term:`JIT compilation`. Compiled code does not check indices, so the function
# compares the shapes first. On one thread it is about as fast as NumPy.
#
# .. kernel:: gpuguide.topics.maximum_cpu.kernels
#    :names: loops

loops(a, b, out)
print(out[0, 0, :5])

# %%
# A ufunc with @vectorize
# -----------------------
#
# If each result depends on one element of each array, write only what happens to these. Numba puts the loop
# around it and makes a :term:`ufunc`, which takes arrays of any shape, with or without an array for the
# result.
#
# .. kernel:: gpuguide.topics.maximum_cpu.kernels
#    :names: ufunc

with np.errstate(invalid="ignore"):  # else a comparison with NaN warns
    ufunc(a, b, out)
print(out[0, 0, :5])

# %%
# For large arrays it is as fast as the loops. A call costs more: for 512 elements it takes
# :measured:`maximum_cpu[ufunc, 8**3].time`, and the loops :measured:`maximum_cpu[loops, 8**3].time`.
#
# .. dropdown:: Why a short call costs more
#
#    We think that the rest goes into ``np.errstate``, which is timed too, and into a look at the arguments.

# %%
# All threads with parallel=True
# ------------------------------
#
# ``prange`` says that the steps of the first loop do not depend on each other. Numba starts a thread on each
# virtual CPU, and the threads share the steps.
#
# .. kernel:: gpuguide.topics.maximum_cpu.kernels
#    :names: parallel

parallel(a, b, out)
print(numba.get_num_threads(), "threads:", out[0, 0, :5])

# %%
# Threads must be woken and waited for, so a small array is better left to one of them.
# :evidence:`variant loops` All threads overtake it :measured:`maximum_cpu.crossover(loops, parallel)`.
#
# .. list-table:: Time for few pairs of numbers, and for many
#    :header-rows: 1
#
#    * - code
#      - 512 pairs
#      - 262 144 pairs
#      - 134 million pairs
#    * - Python loop
#      - :measured:`maximum_cpu[python_loop, 8**3].time`
#      - :measured:`maximum_cpu[python_loop, 64**3].time`
#      - too slow
#    * - ``np.maximum`` with ``out=``
#      - :measured:`maximum_cpu[numpy, 8**3].time`
#      - :measured:`maximum_cpu[numpy, 64**3].time`
#      - :measured:`maximum_cpu[numpy, 512**3].time`
#    * - ``@njit``
#      - :measured:`maximum_cpu[loops, 8**3].time`
#      - :measured:`maximum_cpu[loops, 64**3].time`
#      - :measured:`maximum_cpu[loops, 512**3].time`
#    * - ``parallel=True``
#      - :measured:`maximum_cpu[parallel, 8**3].time`
#      - :measured:`maximum_cpu[parallel, 64**3].time`
#      - :measured:`maximum_cpu[parallel, 512**3].time`

# %%

# record: The study: nine variants, six sizes, every answer compared bit for bit
from gpuguide.topics.maximum_cpu.study import maximum_cpu

results = maximum_cpu.run()

# %%
# Inside the caches and beyond them
# ---------------------------------
#
# Compare at a size like your own. The :measured:`cpu_threads` virtual CPUs share :measured:`l3_bytes` of
# last-level cache (L3). While the arrays fit, Numba's threads move
# :measured:`maximum_cpu[parallel, 256**3].rate`. The arrays of 134 million pairs do not, and it is
# :measured:`maximum_cpu[parallel, 512**3].rate`: there, we think, the memory decides.
#
# .. headline:: All threads move the most while the arrays fit into the cache

# draw
ax = gg.plot_rate(results, variants=["numpy", "parallel", "numpy_threads"])
ax.set_ylim(0, 450)  # a wide range would press the lines together
for name, words in (("l2_bytes", "one L2"), ("l3_bytes", "L3")):
    if facts[name].value:
        ax.axvline(facts[name].value / 12, color="#5a6370", linestyle=":")
        ax.annotate(
            words, (facts[name].value / 12, 0.97), (3, 0), xycoords=("data", "axes fraction"),
            textcoords="offset points", color="#5a6370",
        )  # fmt: skip

# %%
# **For large arrays, Python's own threads are an alternative to Numba.** *NumPy, all threads* cuts the arrays
# into one part for each of them, which works as NumPy lets go of Python's global lock (GIL) while it
# computes. For 134 million pairs it takes :measured:`maximum_cpu[numpy_threads, 512**3].time`, about as long
# as Numba's threads, but for 262 144 it takes :measured:`maximum_cpu[numpy_threads, 64**3].time`, longer than
# one thread alone.
#
# .. kernel:: gpuguide.topics.maximum_cpu.study
#    :names: in_python_threads
#    :fold: How Python's threads share the work
#
# .. dropdown:: Why Numba's threads win below the size of the cache
#
#    .. drawn:: maximum_cpu
#
#        gg.plot_time(results, variants=["parallel", "numpy_threads", "loops_threads"])
#
#    Is NumPy's loop slower, or do Python's threads cost more? *njit loops, Python's threads* hands Numba's
#    loop to the same threads; ``nogil=True`` lets go of the lock. At 256\ :sup:`3` elements it takes
#    :measured:`maximum_cpu[loops_threads, 256**3].time`, NumPy on all threads
#    :measured:`maximum_cpu[numpy_threads, 256**3].time`, and njit parallel
#    :measured:`maximum_cpu[parallel, 256**3].time`. Which loop Python's threads call makes little difference,
#    so it is these threads that cost. :evidence:`variant loops_threads` This cost grows far more slowly than
#    the arrays.
#
#    One thread is slower beyond the cache, too: with NumPy it moves
#    :measured:`maximum_cpu[numpy, 512**3].rate` at 512\ :sup:`3` elements and
#    :measured:`maximum_cpu[numpy, 64**3].rate` at 64\ :sup:`3`.

# draw
gg.claim(results, "loops", faster_than="python_loop", at=32**3, by=100)
gg.claim(results, "numpy", faster_than="numpy_new", at=256**3)
# Other work on the host slows threads down most. So what they cost is certain, and what they gain only where
# there is much to do.
for one, several in (("numpy", "numpy_threads"), ("loops", "loops_threads")):
    gg.claim(results, one, faster_than=several, at=32**3, by=10)
gg.claim(results, "loops", faster_than="parallel", at=8**3, by=2)
gg.claim(results, "parallel", faster_than="loops", at=512**3)
gg.claim(results, "numpy_threads", faster_than="numpy", at=512**3)

# %%
# .. remember::
#
#    - On the CPU, call the NumPy function with ``out=`` if there is one, and else compile your loop with
#      ``@njit``, with ``parallel=True`` from about 2\ :sup:`18` elements on.
#    - Compare a GPU with all threads of the CPU: on 134 million pairs they are
#      :measured:`maximum_cpu[parallel, 512**3].speedup(numpy)` as fast as one thread of NumPy, which would
#      flatter it.

# %%
# Your turn: make a comparison fair
# ---------------------------------
#
# The exercise compares a CPU with a GPU and makes most of the mistakes one can make. Mend it. The check
# runs it on two simulated machines, so it needs no GPU.
#
# .. exercise:: fair_comparison

# thumbnail
from gpuguide.charts import thumbnail

names = {"Python loop": "python_loop", "compiled": "loops", "all threads": "parallel"}
times = {label: results.time(name, 64**3) for label, name in names.items()}
_ = thumbnail.bars(times, "time of a maximum")

# %%
# Next
# ----
#
# Next: :doc:`Pay for compiling only once </gallery/compiled_cpu/compile_cost>`, on the price of a first call.
# See also: :doc:`How many threads, how many blocks </gallery/first_kernels/launch_sizes>`, which takes the
# same maximum to the GPU.
