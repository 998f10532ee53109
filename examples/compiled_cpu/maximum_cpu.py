"""
Maximum on the CPU
==================

How fast is a CPU that is given a fair chance?
"""
# %%
# To find the larger number of each pair in two arrays of 32 768, a Python loop needs
# :measured:`maximum_cpu[python_loop, 32**3].time`, and the same loop compiled
# :measured:`maximum_cpu[loops, 32**3].time`. For 134 million pairs, NumPy needs
# :measured:`maximum_cpu[numpy, 512**3].time` on one thread, and 16 virtual CPUs together need
# :measured:`maximum_cpu[parallel, 512**3].time` by Numba's threads, and about as long by Python's. That is
# what a GPU has to beat.
#
# .. rungs:: maximum_cpu
#    :at: 32**3, 64**3, 512**3
#    :beside: numpy_new, numpy_threads, loops_threads

# %%
# One element at a time: the Python loop
# --------------------------------------
#
# Python asks the same questions for every element. Where is it in memory? What type is it? What does "larger"
# mean for that type? The comparison itself is the least of it. A compiler asks once, before the loop begins.
# A modern CPU then compares up to sixteen neighbouring ``float32`` in one instruction, which is called
# :term:`SIMD`, and its cores can share the arrays out.
#
# .. drawing:: maximum_cpu
#
#     Three rows over the same sixteen elements. In Python each element is a box of its own with four steps,
#     of which one compares. In compiled code one wide box covers all sixteen. With threads two wide boxes
#     cover one half each.
#
# .. rung:: python_loop

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
# With ``isnan`` the loop follows NumPy's rule. To compare the times of two functions that disagree about NaN
# would prove nothing. All variants here follow the same rule, and their inputs contain some NaN.

# %%
# np.maximum with out=
# --------------------
#
# NumPy's function is a compiled loop with SIMD. It runs on one thread.
#
# .. rung:: numpy

np.maximum(a, b, out=out)
print(out[0, 0, :5])

# %%
# With ``out=`` it fills an array that exists. Without it, each call makes a new array, and the operating
# system has to find memory for a large one while it is first written. At 256\ :sup:`3` elements, a call then
# takes :measured:`maximum_cpu[numpy_new, 256**3].time` instead of
# :measured:`maximum_cpu[numpy, 256**3].time`. :evidence:`variant numpy_new`

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
# The decorator hands the loop to Numba, which compiles it at the first call. This is called
# :term:`JIT compilation`. Compiled code does not check indices, so the function compares the shapes first.
# With ``nogil=True`` it releases Python's global lock, the GIL, as NumPy does; that matters further down.
#
# .. rung:: loops

loops(a, b, out)
print(out[0, 0, :5])

# %%
# A ufunc with @vectorize
# -----------------------
#
# Here only the comparison of two numbers is written. Numba puts the loop around it and makes a
# :term:`ufunc`, which takes arrays of any shape, with or without an array for the result.
#
# .. rung:: ufunc

with np.errstate(invalid="ignore"):  # else a comparison with NaN warns
    ufunc(a, b, out)
print(out[0, 0, :5])

# %%
# For 512 elements it takes :measured:`maximum_cpu[ufunc, 8**3].time`, the njit loops
# :measured:`maximum_cpu[loops, 8**3].time`. We think that the rest goes to what each call does besides its
# loop: ``np.errstate``, which is timed too, and a look at the arguments. :evidence:`opinion` For a new array
# of 256\ :sup:`3` elements it takes :measured:`maximum_cpu[ufunc_new, 256**3].time`.

# %%
# All threads with parallel=True
# ------------------------------
#
# ``prange`` says that the turns of the first loop do not depend on each other. So Numba starts a thread on
# each virtual CPU, and the threads share the turns.
#
# .. rung:: parallel

parallel(a, b, out)
print(numba.get_num_threads(), "threads:", out[0, 0, :5])

# %%
# Threads must be woken and waited for. For 512 elements, all of them together are slower than one thread:
# :measured:`maximum_cpu[parallel, 8**3].time` against :measured:`maximum_cpu[loops, 8**3].time`.
# :evidence:`variant loops` They overtake it :measured:`maximum_cpu.crossover(loops, parallel)`.
#
# .. kernel:: gpuguide.topics.maximum_cpu.study
#    :names: in_python_threads
#    :fold: How Python's threads share the work

# %%

# record: The study: nine variants, six sizes, every answer compared bit for bit
from gpuguide.topics.maximum_cpu.study import maximum_cpu

results = maximum_cpu.run()

# %%
# Result: inside the caches and beyond them
# -----------------------------------------
#
# The machine has :measured:`cpu_threads` virtual CPUs, of which two may share a core. A core has
# :measured:`l2_bytes` of second-level cache (L2), and all cores share :measured:`l3_bytes` of last-level
# cache (L3). Two arrays are read and one is written, so an element moves twelve bytes. At 256\ :sup:`3`
# elements, the three arrays are still smaller than the last-level cache; at 512\ :sup:`3` they are about
# five times as large.

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
# .. finding::
#
#    At 256\ :sup:`3` elements, which the last-level cache could hold, Numba's threads move
#    :measured:`maximum_cpu[parallel, 256**3].rate` and NumPy's
#    :measured:`maximum_cpu[numpy_threads, 256**3].rate`. At 512\ :sup:`3`, beyond it, they hardly differ:
#    :measured:`maximum_cpu[parallel, 512**3].rate` and :measured:`maximum_cpu[numpy_threads, 512**3].rate`.
#
# **NumPy, all threads** cuts the arrays into one part for each of Python's threads. NumPy releases the GIL
# while it computes, so the parts are done at the same time. It moves the same twelve bytes per element as
# Numba's threads. Is its loop slower, or do the threads cost more?
#
# The variant **njit loops, Python's threads** hands Numba's loop to the same threads. At 256\ :sup:`3`
# elements it takes :measured:`maximum_cpu[loops_threads, 256**3].time`, NumPy on all threads
# :measured:`maximum_cpu[numpy_threads, 256**3].time`, and njit parallel
# :measured:`maximum_cpu[parallel, 256**3].time`. Which loop Python's threads call makes little difference, so
# it is these threads that cost. :evidence:`variant loops_threads`

# draw
gg.plot_time(results, variants=["parallel", "numpy_threads", "loops_threads"])

# %%
# .. finding::
#
#    At 32\ :sup:`3` elements, NumPy takes :measured:`maximum_cpu[numpy, 32**3].time` on one thread and
#    :measured:`maximum_cpu[numpy_threads, 32**3].time` on Python's threads. The njit loops take
#    :measured:`maximum_cpu[loops, 32**3].time` on one thread and
#    :measured:`maximum_cpu[loops_threads, 32**3].time` on Python's.
#
# This cost grows far more slowly than the arrays, and beyond the cache it is small beside the work. There we
# think that the memory decides. :evidence:`opinion` One thread is slower there, too: with NumPy it moves
# :measured:`maximum_cpu[numpy, 512**3].rate` at 512\ :sup:`3` elements and
# :measured:`maximum_cpu[numpy, 64**3].rate` at 64\ :sup:`3`, and with njit loops about as much.
#
# .. results:: maximum_cpu

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
# When NumPy is enough
# --------------------
#
# On one thread, the compiled loops are about as fast as NumPy:
# :measured:`maximum_cpu[loops, 32**3].speedup(numpy)` at 32\ :sup:`3` elements and
# :measured:`maximum_cpu[loops, 512**3].speedup(numpy)` at 512\ :sup:`3`. Where NumPy has the very function,
# there is little for a compiler to gain. Compile where NumPy has none, or where it would take several passes
# over the data.

# %%
# Your turn: make a comparison fair
# ---------------------------------
#
# The exercise compares a CPU with a GPU and makes most of the mistakes one can make. Mend it. The check
# runs it on two simulated machines, so it needs no GPU.
#
# .. exercise:: fair_comparison

# %%
# Next
# ----
#
# Onward: :doc:`What compiling costs </gallery/compiled_cpu/compile_cost>`, on the price of a first call.
# Sideways: :doc:`How many threads, how many blocks </gallery/first_kernels/launch_sizes>`, which takes the
# same maximum to the GPU.
