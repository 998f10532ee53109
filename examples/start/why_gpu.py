"""
Why a GPU
=========

From how many numbers on is a GPU faster than the CPU, and is the trip there worth it?
"""
# %%
# One formula, worked out for ten million numbers, takes NumPy :measured:`polynomial[numpy, 10**7].time`, and
# compiled code on all threads of the CPU :measured:`polynomial[threads, 10**7].time`. It takes the GPU
# :measured:`polynomial[gpu, 10**7].time` if it has the numbers already. If they have to go there and come
# back, it takes :measured:`polynomial[with_copies, 10**7].time` with :term:`pageable <pageable memory>`
# copies, and :measured:`polynomial[with_copies_pinned, 10**7].time` with :term:`pinned <pinned memory>` ones.
# For a thousand numbers NumPy needs :measured:`polynomial[numpy, 10**3].time`, and the GPU
# :measured:`polynomial[gpu, 10**3].time` without any trip.

# %%
# .. rst-class:: part-idea
#
# Many small workers, and a way to go
# -----------------------------------
#
# A CPU has a few strong cores, and each of them finishes a single task as soon as possible. A GPU has
# thousands of small arithmetic units. None of them is quick, but they all work at the same time. So a GPU
# wins where one task can be cut into very many that do not depend on each other, such as the same formula for
# each of many numbers.
#
# Two things stand against it. Python has to ask the GPU for each piece of work, and asking takes time. And
# the numbers have to be in the memory of the GPU, the :term:`device`. If they are in the memory of the
# CPU, the :term:`host`, they must cross the bridge between the two, and the results must come back.
#
# .. drawing:: why_gpu
#
#     Three rows of numbers. On one thread of the CPU a single worker takes one number after the other. On all
#     threads a few workers share the row. On the GPU there is a worker for every number, but a bridge lies
#     before them, and the numbers have to cross it both ways.

# %%
# .. rst-class:: part-bare
#
# The same line, twice
# --------------------
#
# Here is such a formula, a polynomial of degree seven. NumPy has a function for it, and CuPy has the same
# function for the GPU. The line differs in the name of the module, and in ``asarray``, which copies its
# arguments to the GPU.

import cupy as cp
import numpy as np

coefficients = [2, -3, 1, 4, -1, 3, -2, 5]
x = np.linspace(0, 1, 1_000_000, dtype=np.float32)
on_cpu = np.polyval(coefficients, x)
on_gpu = cp.polyval(cp.asarray(coefficients), cp.asarray(x))
print("NumPy:", on_cpu[:3], "...", on_cpu[-1])
print("CuPy: ", on_gpu[:3], "...", on_gpu[-1])

# %%
# .. rst-class:: part-predict
#
# What must be moved
# ------------------
#
# Before the clock starts, a guess. Each number has four bytes. It is read once, and its result is written
# once. In between lie a few multiplications, which a GPU does while it waits for the next bytes. So the time
# should follow from the bytes. The physical peak of the memory, the most bytes that its clock and its width
# let through, gives a bound. For 10\ :sup:`8` numbers this GPU needs:

import gpuguide as gg

gpu = gg.require_gpu()
bytes_moved = 2 * 4 * 10**8
predicted = gg.fact("predicted", bytes_moved / gpu.peak_memory_bandwidth, unit="s")
print(f"{bytes_moved / 1e6:.0f} MB in {predicted.value * 1e3:.2f} ms at least")

# %%
# When the numbers come from the host, the same bytes also have to cross the bridge. It is far narrower than
# the memory on either side of it. So the trip should cost much more than the work.

# %%
# .. rst-class:: part-code
#
# Four ways on one machine, and a trip
# ------------------------------------
#
# **Python.** A loop visits one number after the other. Each step makes objects and looks up what to do with
# them.
#
# .. kernel:: gpuguide.topics.why_gpu.study
#    :names: polynomial_python
#
# **NumPy.** The loops are compiled, but there are two for each coefficient, a multiplication and an addition,
# and each of them walks through the whole array. They run on one thread of the CPU.
#
# .. kernel:: gpuguide.topics.why_gpu.study
#    :names: polynomial_numpy
#
# **All threads.** Numba compiles the Python loop to machine code, walks through the array once, and shares
# the numbers out among all threads of the CPU. This is the fair rival of a GPU.
#
# .. kernel:: gpuguide.topics.why_gpu.kernels
#    :names: polynomial_threads
#
# **GPU.** The body of the loop becomes a :term:`kernel`, and each :term:`thread` of the GPU works out one
# number. :doc:`First kernel </gallery/first_kernels/first_kernel>` explains how such a kernel is written and
# started; here it only takes part.
#
# .. kernel:: gpuguide.topics.why_gpu.kernels
#    :names: polynomial_kernel
#
# .. kernel:: gpuguide.topics.why_gpu.study
#    :names: polynomial_gpu
#
# **GPU, pageable copies.** The same kernel, with the trip there and back, from and to NumPy's ordinary
# memory. **GPU, pinned copies** makes the trip from and to :term:`pinned memory`. Where the guide's own code
# says ``cupy()``, it means the module CuPy.
#
# .. kernel:: gpuguide.topics.why_gpu.study
#    :names: polynomial_gpu_with_copies, polynomial_gpu_pinned

# %%
# .. rst-class:: part-check
#
# The same answers first
# ----------------------
#
# A wrong answer is quick to get. So each of the six is held against a :term:`reference` before its time
# counts: once with whole numbers, where every digit must agree, and once with random ones.

from gpuguide.topics.why_gpu import study as why_gpu

study = why_gpu.study()
study

# %%
# .. rst-class:: part-measure
#
# From a thousand to a hundred million
# ------------------------------------
#
# Every way is timed as its user feels it: from the call until the result is there, the waiting included.
# Where one would take too long, it is left out, and the table under the charts says so. Four claims about
# the outcome must hold.

results = study.run()

# %%

# draw
gg.claim(results, "numpy", faster_than="gpu", at=10**3)
gg.claim(results, "gpu", faster_than="threads", at=10**8)
gg.claim(results, "gpu", faster_than="with_copies", at=10**8, by=2)
gg.claim(results, "threads", faster_than=["with_copies", "with_copies_pinned"], at=10**8)

# %%
# .. checks:: polynomial
#
# The first chart is for numbers that are on the GPU already. Dashed lines are the CPU's.

# draw
ax = gg.plot_time(
    results, variants=["numpy", "threads", "gpu"], crossover=("threads", "gpu")
)
_ = ax.set_ylim(top=2)  # room for the words about the crossover

# %%
# .. finding::
#
#    The line of the GPU hardly rises at first: most of that time is the launch. For 10\ :sup:`4` numbers the
#    GPU takes :measured:`polynomial[gpu, 10**4].time`, and NumPy on one thread about as long,
#    :measured:`polynomial[numpy, 10**4].time`. At 10\ :sup:`6` numbers the GPU is
#    :measured:`polynomial[gpu, 10**6].speedup(numpy)` as fast. It overtakes all threads of the CPU
#    :measured:`polynomial.crossover(threads, gpu)`, and at 10\ :sup:`8` it is
#    :measured:`polynomial[gpu, 10**8].speedup(threads)` as fast as they are.
#
# In the second chart the GPU has to fetch the numbers and to bring the results back, by pageable copies or by
# pinned ones.

# draw
gg.plot_time(results, variants=["numpy", "threads", "with_copies", "with_copies_pinned"])

# %%
# .. finding::
#
#    With pageable copies the GPU overtakes NumPy :measured:`polynomial.crossover(numpy, with_copies)`, with
#    pinned ones :measured:`polynomial.crossover(numpy, with_copies_pinned)`. With neither does it catch up
#    with all threads of the CPU at any of these sizes: for 10\ :sup:`8` numbers they take
#    :measured:`polynomial[threads, 10**8].time`, the GPU with pageable copies
#    :measured:`polynomial[with_copies, 10**8].time`, and with pinned ones
#    :measured:`polynomial[with_copies_pinned, 10**8].time`.
#
# .. results:: polynomial

# %%
# .. rst-class:: part-reading
#
# Bring the data once
# -------------------
#
# Python takes :measured:`polynomial[python, 10**6].time` for a million numbers, NumPy
# :measured:`polynomial[numpy, 10**6].time`. This step, from interpreted to compiled code, needs no GPU. Where
# a GPU is compared with a loop in Python, it is credited with this step as well.
#
# The next step needs none either: :measured:`polynomial[threads, 10**6].time` with all threads. Not all of
# it comes from the threads. The compiled loop also walks through the array once, where NumPy does so twice
# for each coefficient. Only what is left after that is due to the GPU. That is why a fair comparison names
# the code on the CPU and the number of threads.
#
# The time on the GPU was predicted from the bytes:
#
# .. list-table:: 10\ :sup:`8` numbers that are on the GPU
#    :header-rows: 1
#
#    * - predicted, at the physical peak
#      - measured
#    * - :measured:`predicted`
#      - :measured:`polynomial[gpu, 10**8].time`
#
# The prediction is a bound that no kernel reaches. Besides, the :term:`launch` and the waiting are part of
# the measured time, as they are of the :measured:`polynomial[gpu, 10**3].time` for a thousand numbers. What
# the rest is due to was not measured here. :doc:`First kernel </gallery/first_kernels/first_kernel>` times a
# similar kernel without its launch.
#
# What is to be done about the trip? It costs the same whether one formula is worked out over there or a
# hundred. A program that copies its data once, does many things with it on the GPU, and copies the result
# back at the end, pays once.

# %%
# .. rst-class:: part-when-not-to
#
# When the CPU should keep it
# ---------------------------
#
# For a thousand numbers NumPy is done in :measured:`polynomial[numpy, 10**3].time`. The GPU takes
# :measured:`polynomial[with_copies, 10**3].time` with pageable copies, and
# :measured:`polynomial[with_copies_pinned, 10**3].time` with pinned ones. And for a single cheap formula on
# numbers that the host has and wants back, look at all threads of the CPU first: at 10\ :sup:`8` numbers they
# take :measured:`polynomial[threads, 10**8].time`, the GPU with pinned copies
# :measured:`polynomial[with_copies_pinned, 10**8].time`.
#
# Some tasks cannot be cut into pieces at all, because each step needs the one before. They stay on the CPU as
# well, however large they are.

# %%
# .. rst-class:: part-on-your-gpu
#
# Your computer, another crossing
# -------------------------------
#
# Where the lines cross depends on both sides. A laptop has fewer threads and slower memory, and so has its
# GPU. The left end, where the line of the GPU hardly rises, is a matter of the CPU and of Python. The right
# end follows the memory, and the trip follows the bridge, :term:`PCIe`. ``gpuguide run why_gpu`` measures
# your machine.

# %%
# .. rst-class:: part-your-turn
#
# Find the crossing
# -----------------
#
# Two columns of times say more than a headline. Write the function that finds where one overtakes the other,
# if it does at all.
#
# .. exercise:: crossing_point
#
# .. question:: Why does the line of the GPU hardly rise at first?
#
#     For few numbers most of the time is the :term:`launch`: Python prepares it, and then waits. The work
#     itself is a small part. Only when the work takes about as long as the launch does the line begin to
#     rise.
#
# .. question:: A library promises a large factor on the GPU. What do you ask?
#
#     Against which code, on how many threads of which CPU? With the copies or without? For how many numbers,
#     and of which type? Was the result checked, and did the clock wait for the GPU?

# %%
# .. rst-class:: part-next
#
# From here
# ---------
#
# Onward: :doc:`Five minutes </gallery/start/five_minutes>` is the first program to run. Sideways:
# :doc:`How to time a GPU </gallery/measuring/how_to_time>` says why the clock has to wait, and
# :doc:`Sort and search </gallery/cupy/sort_search>` has a task with more work for each number. Used here:
# :class:`gpuguide.Study`, :func:`gpuguide.claim`, :func:`gpuguide.plot_time`.
