"""
Ufuncs on the GPU
=================

How far does one decorator take you, and what does it hide?
"""
# %%
# A decorator turns a function of two numbers into a kernel. On arrays that lie on the GPU the kernel finds
# the larger of two numbers, for 256\ :sup:`3` pairs, in :measured:`maximum[ufunc, 256**3].time`, and to
# launch it takes Python :measured:`maximum[ufunc, 256**3].launch`. Handed NumPy arrays, the same call takes
# :measured:`maximum[from_numpy, 256**3].time` from pageable and
# :measured:`maximum[from_pinned, 256**3].time` from pinned memory. All threads of the CPU, sharing a plain
# loop, need :measured:`maximum[cpu_loop, 256**3].time`.

# %%
# .. rst-class:: part-idea
#
# One pair of numbers is all you write
# ------------------------------------
#
# A :term:`ufunc` is a function of single numbers that somebody else calls for every element. NumPy's ``add``
# is one. With ``@vectorize`` Numba makes one of a function of yours. For the CPU it writes the loop around
# it. For the GPU it writes a :term:`kernel` in which each :term:`thread` takes one element, and it counts the
# threads and launches them. There is no :term:`grid` in sight, and no index.
#
# It hides something else as well. A kernel needs its data on the :term:`device`, and NumPy's arrays are on
# the :term:`host`. A ufunc that gets such arrays copies them there, makes room for the result, and copies the
# result back: at every call, without a word.
#
# .. drawing:: ufuncs
#
#     A function of one pair of numbers becomes, by @vectorize, a kernel with one thread for each pair. Under
#     it the way of the data: NumPy arrays are copied to the device, the kernel runs, and the result is copied
#     back to the host. With arrays on the GPU only the middle of it is left.

# %%
# .. rst-class:: part-bare
#
# Generic on the CPU, by signature on the GPU
# -------------------------------------------
#
# On the CPU a ufunc needs no types. It looks at what it is given, numbers or arrays, and compiles a version
# for those types when it first meets them.

import math
import textwrap

import cupy as cp
import numpy as np
from numba import vectorize


@vectorize
def log_of_sum(x, y):
    return math.log(x + y)


print("numbers:", log_of_sum(6, 7))
print("arrays: ", log_of_sum(np.arange(1.0, 4.0), np.ones(3)))
print("NumPy:  ", np.log(np.arange(1.0, 4.0) + np.ones(3)))
print("compiled for:", log_of_sum.types)

# %%
# The GPU's ufuncs are not generic. They know the types in their list, and no others; even a whole number is
# not turned into a float.


@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def log_of_sum_gpu(x, y):
    return math.log(x + y)


x, y = cp.linspace(1, 2, 2**20), cp.ones(2**20)
result = log_of_sum_gpu(x, y)
print("a result on the GPU:", type(result).__name__, result.shape, result.dtype)
print("GPU:  ", cp.asarray(result)[:3])
print("NumPy:", np.log(x.get() + y.get())[:3])
try:
    log_of_sum_gpu(np.arange(1, 4), np.arange(1, 4))
except TypeError as error:
    print(textwrap.fill(f"int64: {error}", 85))

# %%
# .. rst-class:: part-predict
#
# Two roads for the same bytes
# ----------------------------
#
# Take 256\ :sup:`3` pairs of ``float32``. Twelve bytes a pair have to move: two numbers are read, one is
# written. On the device they move at the rate of its memory. For NumPy arrays all twelve cross
# :term:`PCIe` as well, eight on the way there and four on the way back. The :term:`ceilings <ceiling>` of
# both roads were measured on this machine, so the times can be worked out before anything runs. The copies
# will take longer than this: NumPy's memory is :term:`pageable <pageable memory>`, and the ceiling of PCIe
# holds for :term:`pinned <pinned memory>` memory.

import gpuguide as gg

best = {item.mix: item.value for item in gg.machine_ceilings().items}
n = 256**3
facts = {
    "predicted_there": 8 * n / best["h2d"],
    "predicted_back": 4 * n / best["d2h"],
    "predicted_work": 12 * n / best["two_to_one"],
}
facts = {name: gg.fact(name, seconds, unit="s") for name, seconds in facts.items()}
for name, predicted in facts.items():
    print(f"{name:15} {predicted.value * 1e3:7.3f} ms at least")

# %%
# .. rst-class:: part-code
#
# A function, and who may call it
# -------------------------------
#
# The function is the same for all. It says by itself what happens with a NaN, since Numba's ``max`` follows
# one rule on the CPU and another on the GPU.
#
# .. kernel:: gpuguide.topics.ufuncs.kernels
#    :names: larger
#
# **CPU ufunc** and **CPU ufunc, threads** are ufuncs for one thread and for all of them.
#
# .. kernel:: gpuguide.topics.ufuncs.kernels
#    :names: cpu_ufunc
#
# .. kernel:: gpuguide.topics.ufuncs.study
#    :names: maximum_cpu
#
# .. kernel:: gpuguide.topics.ufuncs.kernels
#    :names: cpu_threads_ufunc
#
# .. kernel:: gpuguide.topics.ufuncs.study
#    :names: maximum_cpu_threads
#
# **CPU loop, threads** is the rival that needs no ufunc: a plain loop whose rounds ``prange`` shares out
# among all threads. ``larger_on_cpu`` is the same function, compiled for the loop.
#
# .. kernel:: gpuguide.topics.ufuncs.kernels
#    :names: maximum_cpu_loop
#
# **GPU arrays** and **NumPy arrays, pageable** call one and the same ufunc. The first says where the result
# goes and in which :term:`stream` the work runs; it gets CuPy's arrays as views made for Numba beforehand.
# The second just calls it, as **NumPy arrays, pinned** does.
#
# .. kernel:: gpuguide.topics.ufuncs.kernels
#    :names: gpu_ufunc
#
# .. kernel:: gpuguide.topics.ufuncs.study
#    :names: maximum_ufunc, maximum_from_numpy, maximum_from_pinned
#
# **Own kernel** is what the decorator saves you: an index, a guard, a grid. ``larger_on_device`` is the same
# function once more, compiled for the GPU.
#
# .. kernel:: gpuguide.topics.ufuncs.kernels
#    :names: maximum_kernel
#
# .. kernel:: gpuguide.topics.ufuncs.study
#    :names: maximum

# %%
# The notebook that this page grew out of announced a more involved calculation, and then only took larger
# arrays. Here is one: Kepler's equation, which says where a planet stands when a given share of its year has
# passed. It has no solution in closed form. Eight steps of Newton's method solve it, with a sine and a cosine
# in each, for the same twelve bytes. Ufuncs divide by NumPy's rule, under which a division by zero is no
# error. The loop for all CPU threads is told to do the same, and is spared a test before each division.
#
# .. kernel:: gpuguide.topics.ufuncs.kernels_kepler
#    :names: anomaly, anomaly_cpu_loop
#
# Some functions need more than single numbers: the distance of two points needs all their coordinates. For
# these there is ``@guvectorize``. It is told which axes belong to the function, here one axis ``d`` of both
# inputs, and gives each thread a whole row.
#
# .. kernel:: gpuguide.topics.ufuncs.kernels_rows
#    :names: squared_distance, gpu_gufunc
#
# .. kernel:: gpuguide.topics.ufuncs.row_ufuncs
#    :names: distance_gufunc

# %%
# .. rst-class:: part-check
#
# What counts as right
# --------------------
#
# The larger number must equal its :term:`reference` to the last bit. A solution of Kepler's equation is put
# back into the equation. A distance may differ from its reference by what rounding explains.

from gpuguide.topics.ufuncs import kepler, kernels, row_ufuncs, study as ufuncs

study = ufuncs.study()
study

# %%
# .. rst-class:: part-measure
#
# From the small cube to the large one
# ------------------------------------
#
# The arrays have as many elements as cubes with edges from 16 to 512.

results = study.run()

# %%

# draw
gg.claim(results, "cpu", faster_than="from_numpy", at=32**3)
gg.claim(results, "cpu_loop", faster_than="cpu_threads", at=256**3)
gg.claim(results, "cpu_loop", faster_than="from_numpy", at=256**3)
gg.claim(results, "ufunc", faster_than="cpu_loop", at=256**3)

# %%
# The involved calculation runs at two of these sizes, and so does the distance.

orbits = kepler.study().run()
distances = row_ufuncs.study().run()

# %%

# draw
gg.claim(orbits, "from_numpy", faster_than=("cpu_loop", "cpu_threads"), at=128**3)

# %%
# .. checks:: maximum
#
# .. checks:: kepler
#
# .. checks:: distance
#
# Two of the lines, **GPU arrays** and **NumPy arrays, pageable**, belong to the same ufunc.

# draw
gg.plot_time(results, variants=["cpu", "cpu_threads", "cpu_loop", "from_numpy", "ufunc"])

# %%
# .. finding::
#
#    For 256\ :sup:`3` pairs the call on pageable NumPy arrays takes
#    :measured:`maximum[from_numpy, 256**3].time`, the kernel on GPU arrays
#    :measured:`maximum[ufunc, 256**3].time`. The CPU needs :measured:`maximum[cpu, 256**3].time` with a ufunc
#    on one thread, and :measured:`maximum[cpu_loop, 256**3].time` with a loop on all threads.
#
# The decorator's own way to all threads, ``target="parallel"``, is a weak one for so short a function: for
# these pairs it takes :measured:`maximum[cpu_threads, 256**3].time` on as many threads as the loop. So it is
# the loop that the GPU is held against, here and in the tables.
#
# The second chart holds the simple calculation against the involved one, at 128\ :sup:`3` elements.

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.marks import draw_ranges, time_axis
from gpuguide.charts.style import SERIES, describe

ways = [info for info in orbits.variants if info.name != "from_pinned"]
figure, ax = plt.subplots()
words, ranges = [], []
for row, info in enumerate(ways):
    times = [found.time(info.name, 128**3) for found in (results, orbits)]
    simple, involved = (time.value for time in times)
    # A larger, hollow mark stays in sight where the two lie on one another.
    ax.plot(simple, row, "o", markersize=10, markerfacecolor="none", color=SERIES[0])
    ax.plot(involved, row, "s", color=SERIES[1])
    ranges += [(row, time, colour) for time, colour in zip(times, SERIES, strict=False)]
    words.append(f"{info.label} {' and '.join(map(str, times))}")
time_axis(ax, "x")
ax.set(xlabel="time of a call, median", yticks=range(len(ways)))
ax.set_yticklabels([info.label for info in ways])
ax.invert_yaxis()
draw_ranges(ax, ranges, along="x")
ax.legend(
    ax.lines[:2],
    ["larger of two", "Kepler's equation"],
    loc="lower left",
    bbox_to_anchor=(0, 1),
    ncols=2,
)
describe(ax, f"Times over five ways to call, two calculations: {'; '.join(words)}.")

# %%
# .. finding::
#
#    Kepler's equation takes one CPU thread :measured:`kepler[cpu, 128**3].time`. All threads need
#    :measured:`kepler[cpu_threads, 128**3].time` with a ufunc and :measured:`kepler[cpu_loop, 128**3].time`
#    with a loop. Sent to the GPU and back it takes :measured:`kepler[from_numpy, 128**3].time` from
#    pageable and :measured:`kepler[from_pinned, 128**3].time` from pinned memory.
#
# .. results:: maximum
#
# .. results:: kepler
#
# .. results:: distance

# %%
# .. rst-class:: part-reading
#
# What the decorator writes, and what it asks
# -------------------------------------------
#
# The kernel that the decorator writes is the one that you would write. At 512\ :sup:`3` pairs the ufunc
# takes :measured:`maximum[ufunc, 512**3].time` and our own kernel :measured:`maximum[kernel, 512**3].time`.
# For the distances of 128\ :sup:`3` pairs of points it is :measured:`distance[gufunc, 128**3].time` and
# :measured:`distance[kernel, 128**3].time`.
#
# We think they differ by the :term:`launch`. A ufunc takes the largest :term:`block` that its
# kernel allows, and :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` maps what that does to the
# memory. It also finds out anew at each call which types it has and how they fit together. That costs the
# host :measured:`maximum[ufunc, 32**3].launch` a call; launching our own kernel costs it
# :measured:`maximum[kernel, 32**3].launch`.
#
# More arithmetic pays for the trip, more data does not. At 512\ :sup:`3` pairs it still takes
# :measured:`maximum[from_pinned, 512**3].time` from pinned memory, and the loop on all CPU threads
# :measured:`maximum[cpu_loop, 512**3].time`. Kepler's equation keeps the copies and multiplies the work: at
# 128\ :sup:`3` the loop takes :measured:`kepler[cpu_loop, 128**3].time` in place of
# :measured:`maximum[cpu_loop, 128**3].time`. The trip from pageable memory takes
# :measured:`kepler[from_numpy, 128**3].time` with Kepler's equation and
# :measured:`maximum[from_numpy, 128**3].time` with the larger of two. The work is a small part of it, even
# for Kepler's equation: :measured:`kepler[ufunc, 128**3].time`.

# %%
# There is one more hidden wait. Numba wraps a bare CuPy array anew at each call of a ufunc, and by default
# that waits for the array's stream. To show it, the GPU is first kept busy for a while by a
# :term:`delay kernel`, and then the ufunc is called: with CuPy arrays, and with views made once by
# ``gg.numba_view``.

from gpuguide.machine.backends import current_stream
from gpuguide.topics.ufuncs.ufunc_parts import BUSY_NS, host_time_while_busy

arrays = [cp.zeros(32**3, cp.float32) for _ in range(3)]
views = [gg.numba_view(array) for array in arrays]
for name, (a, b, out) in (("bare", arrays), ("views", views)):

    def call(a=a, b=b, out=out):
        kernels.gpu_ufunc()(a, b, out=out, stream=current_stream())

    samples = host_time_while_busy(call)
    busy = gg.fact(f"busy_{name}", float(np.median(samples)), unit="s", samples=samples)
    facts[busy.name] = busy
_ = gg.fact("busy", BUSY_NS / 1e9, unit="s", note="how long the other work takes")

# %%
# While the GPU is busy for :measured:`busy`, the call returns to Python after :measured:`busy_bare` with CuPy
# arrays, and after :measured:`busy_views` with views.

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: one clock around everything
# ---------------------------------------------
#
# The notebook timed its GPU ufunc on NumPy arrays of 32\ :sup:`3` elements and found
# :claimed:`s1_vectorize_cuda`, against :claimed:`s1_vectorize` on the CPU. (It called the CPU
# ":claimed:`s1_cpu_faster`"; by its own figures it was far more.) One of its runs took
# :claimed:`s1_cuda_slowest` as long as the best: the first one, which compiled. Another of our sources timed
# nothing but such a first call. So here is the first call of a fresh ufunc.

# wrong: the clock holds the compiler, the copies, the launch and the work
from time import perf_counter

from gpuguide.topics.ufuncs import ufunc_parts

a_host, b_host = study.make_inputs(256**3, exact=False)
small = a_host[: 32**3], b_host[: 32**3]
fresh = ufunc_parts.fresh_ufunc()
start = perf_counter()
fresh(*small)
print(f"the first call takes {(perf_counter() - start) * 1e3:.1f} ms")

# %%
# The right way takes the parts apart, in turns with the whole: of the first call, of the next one with the
# same small arrays, which is called *again* below, and of a *later* one with the arrays of 256\ :sup:`3`
# elements.

for call, taken in (
    ("first", ufunc_parts.first_call_parts(*small)),
    ("again", ufunc_parts.later_call_parts(*small)),
    ("later", ufunc_parts.later_call_parts(a_host, b_host)),
):
    for part, samples in taken.items():
        name = f"{call}_{part}"
        facts[name] = gg.fact(name, float(np.median(samples)), unit="s", samples=samples)
        print(f"{name:14} {facts[name].value * 1e3:9.3f} ms")

# %%
# In these lines *work* is what the host waits for: the launch, the kernel and the wait for its end. The
# sums take launch and kernel from the study above instead, where each has a clock of its own. The first
# call's own copies cannot be timed apart, so those of the next call stand in for them.

# draw
for call, copied, edge in (("first", "again", 32), ("later", "later", 256)):
    parts = [facts[f"{copied}_there"].value, facts[f"{copied}_back"].value]
    parts += [
        results.quantity("ufunc", edge**3, what).value for what in ("launch", "time")
    ]
    if call == "first":
        parts.append(facts["first_compile"].value)
    _ = gg.explained(f"{call}_call", parts, facts[f"{call}_whole"].value)

# %%
# Both wrong figures, and under each its parts. Launch and work are among them, too short to be seen:

# draw
bars = {}
for call, copied, edge in (("first", "again", 32), ("later", "later", 256)):
    bars[f"{call} call, {edge}³"] = {"one clock": facts[f"{call}_whole"]}
    copies = facts[f"{copied}_there"].value + facts[f"{copied}_back"].value
    compiled = {"compile": facts["first_compile"]} if call == "first" else {}
    bars[f"{call} call, parts"] = compiled | {
        "copies": copies,
        "launch": results.quantity("ufunc", edge**3, "launch"),
        "work": results.quantity("ufunc", edge**3, "time"),
    }
gg.plot_decomposition(bars)

# %%
# .. finding::
#
#    The first call takes :measured:`first_whole`. Nearly all of it is the compiler, which needs
#    :measured:`first_compile` when it is timed alone, on another fresh ufunc. It never takes the same time
#    twice, so the parts need not add up: they come to :measured:`first_call` of the whole. A later call with
#    256\ :sup:`3` pairs takes :measured:`later_whole`. The copies take :measured:`later_there` there and
#    :measured:`later_back` back, and all parts together come to :measured:`later_call` of the call.
#
# .. list-table:: 256\ :sup:`3` pairs
#    :header-rows: 1
#
#    * -
#      - predicted, at least
#      - measured
#    * - copies there, pageable
#      - :measured:`predicted_there`
#      - :measured:`later_there`
#    * - copy back, pageable
#      - :measured:`predicted_back`
#      - :measured:`later_back`
#    * - work
#      - :measured:`predicted_work`
#      - :measured:`maximum[ufunc, 256**3].time`
#
# The way back carries half as many bytes as the way there, but its time does not shrink with them, we
# think because it ends in a new NumPy array, for which the operating system has to find the memory first.
#
# The study above timed the same call at another moment and on other arrays, and found
# :measured:`maximum[from_numpy, 256**3].time`. Copies of pageable memory may vary, so a whole and its parts
# are compared only where they took turns.

# %%
# .. rst-class:: part-when-not-to
#
# When the arrays should stay at home
# -----------------------------------
#
# If the arrays are NumPy's, and the function is a comparison, a sum or a product, leave them where they are.
# At 32\ :sup:`3` pairs, the size of the source, one CPU thread is done in
# :measured:`maximum[cpu, 32**3].time`, and the trip to the GPU takes
# :measured:`maximum[from_numpy, 32**3].time` from pageable and
# :measured:`maximum[from_pinned, 32**3].time` from pinned memory. A GPU ufunc pays when the data stays on the
# device between calls. It also pays when the function is as long as Kepler's and the arrays are large. At
# 32\ :sup:`3` even Kepler's trip takes :measured:`kepler[from_pinned, 32**3].time` from pinned memory, and
# the loop on all CPU threads :measured:`kepler[cpu_loop, 32**3].time`.
#
# Nor is it the tool for many short calls on GPU arrays. There the launch decides, and a kernel of your own is
# launched with fewer questions asked; :doc:`Launch overhead </gallery/first_kernels/launch_overhead>` says
# what remains. And what needs neighbours or :term:`shared memory` needs ``@cuda.jit``.

# %%
# .. rst-class:: part-on-your-gpu
#
# PCIe decides, or arithmetic
# ---------------------------
#
# The simple call on NumPy arrays is limited by the connection between host and device and by the memory of
# the host. A better GPU changes little there. On GPU arrays the memory of the device decides, and the time
# goes down as its :term:`bandwidth` goes up. Kepler's equation on GPU arrays is limited, we think, by
# ``float32`` arithmetic, in which consumer GPUs are strong; the function takes care not to slip into
# ``float64``, in which they are not.
#
# ``gpuguide run ufuncs`` measures yours.

# %%
# .. rst-class:: part-your-turn
#
# A literal that changes the type
# -------------------------------
#
# Kepler's function subtracts from ``ONE``, a ``float32``, and not from ``1.0``. The exercise shows why: its
# kernel is right, and a single literal makes it compute in another type than its data.
#
# .. exercise:: float64_by_accident
#
# .. question:: A ufunc gets one NumPy array and one array on the GPU. Where is the result?
#
#    On the GPU. If any of the arrays lies there, Numba copies the others to it and leaves the result there.
#    Only if all of them are NumPy's does the result come back.
#
# .. question:: What does out= save on the GPU?
#
#    Without it every call allocates memory for its result, and the driver has to find some. With it the
#    result goes where the last one went. In a loop that is one thing less for each turn.

# %%
# .. rst-class:: part-next
#
# From one element to its neighbours
# ----------------------------------
#
# Onward: :doc:`Grids in 2-D and 3-D </gallery/first_kernels/grids_2d_3d>` gives each thread a place in a
# matrix. Sideways: :doc:`What compiling costs </gallery/compiled_cpu/compile_cost>` takes the first call of
# CPU functions apart. Used here: :func:`gpuguide.numba_view`, :func:`gpuguide.explained`.
