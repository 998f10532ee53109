"""
Launch overhead
===============

What does it cost the host to ask for a kernel?
"""
# %%
# To ask for a kernel with three arrays takes Python :measured:`launches[ufunc_3, 1024].launch` with a CuPy
# :term:`ufunc`. With a Numba kernel it takes :measured:`launches[bare_3, 1024].launch` if the arrays are
# CuPy's, and :measured:`launches[once_3, 1024].launch` if they were wrapped for Numba beforehand. None of
# that is the kernel's work.

# %%
# .. rst-class:: part-idea
#
# A form to fill in
# -----------------
#
# A :term:`launch` is a request, and the request has to be written. Which compiled version of the
# :term:`kernel` fits these types? Where does each array lie, and what is its shape? How large is the
# :term:`grid`, and into which :term:`stream` does it go? Python finds the answers, packs them, and hands them
# to the driver. All of this runs on the :term:`host`, before the :term:`device` hears of it.
#
# So the price depends on the number of arguments and on how hard each is to read. An array of Numba's own has
# its answers ready. A CuPy array must first *export* them, or be *wrapped*: put into a description that Numba
# can read. Both are work for the host, too. Only one thing makes the price grow without limit: a step that
# waits for the device.
#
# .. drawing:: launch_overhead
#
#     Three hosts over time. With arrays wrapped once a launch has three steps: kernel and grid, arguments,
#     driver. With bare arrays an export of each of three arrays comes in between. Wrapped each time by the
#     function that waits, the first array holds the host until the device has finished what was queued
#     before.

# %%
# .. rst-class:: part-bare
#
# CuPy's array in Numba's kernel
# ------------------------------
#
# A CuPy array can be handed to a Numba kernel as it is, as in the notebook that this page takes over. What
# the kernel writes stands in the CuPy array afterwards.

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def increment(x):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        x[row, column] += 1


x_device = cp.ones(shape=(256, 256))
increment[(16, 16), (16, 16)](x_device)
print("GPU:  ", x_device[0, :4], type(x_device))
print("NumPy:", np.ones((256, 256))[0, :4] + 1)

# %%
# How do the two understand each other? A CuPy array can say where it lies, what shape it has and which type.
# Numba asks, and makes a description of its own. That can be done once, beforehand. The result is a view: the
# same memory, seen by Numba.

view = cuda.as_cuda_array(x_device, sync=False)
increment[(16, 16), (16, 16)](view)
own = cuda.device_array((256, 256))  # an array that Numba has allocated itself
print("once more:", x_device[0, :4])
print("a view is of the class of Numba's own arrays:", type(view) is type(own))

# %%
# .. rst-class:: part-predict
#
# When is the work as long as the request?
# ----------------------------------------
#
# A kernel that takes the larger of two numbers moves twelve bytes an element: it reads two ``float32`` and
# writes one. The memory's rate for that mix was measured beforehand, and so was the host's time for launching
# an empty kernel in CUDA C++. From the two follows a size at which work and launch take equally long. Below
# that size the host is what you wait for.

import gpuguide as gg

best = {item.mix: item.value for item in gg.machine_ceilings().items}
request, rate = best["launch_host"], best["two_to_one"]
predicted = gg.fact(
    "predicted_elements",
    round(request * rate / 12),
    unit="1",
    note="host time of an empty launch x memory rate / 12 bytes",
)
print(
    f"{request * 1e6:.1f} us x {rate / 1e12:.2f} TB/s / 12 = {predicted.value:,} elements"
)

# %%
# .. rst-class:: part-code
#
# Seven ways to launch
# --------------------
#
# Where the launcher sets the grid, it has four blocks of 256 threads. The arrays are so small that the work
# does not matter. With one array the kernel fills it with 0, 1, 2 and so on. With three or eight, the last
# takes the largest of the others. Of those the first counts up and nowhere is another one larger, so the
# result is the same.
#
# .. kernel:: gpuguide.topics.launch_overhead.kernels
#    :names: count_kernel, largest_of_two_kernel, largest_of_seven_kernel
#
# **Numba, wrapped once.** The launcher gets views that were made before. ``_chosen`` picks the kernel, and as
# many of the arrays as it takes.
#
# .. kernel:: gpuguide.topics.launch_overhead.study
#    :names: launch_once_wrapped
#
# **Numba, bare CuPy arrays.** This is what the first cell did.
#
# .. kernel:: gpuguide.topics.launch_overhead.study
#    :names: launch_bare
#
# **Numba, wrapped each time.** The same views, made anew for every launch.
#
# .. kernel:: gpuguide.topics.launch_overhead.study
#    :names: launch_wrapping
#
# **Numba, wrapped each time, waiting.** Without ``sync=False`` the function that makes a view waits for the
# stream, in case somebody is still writing to the array.
#
# .. kernel:: gpuguide.topics.launch_overhead.study
#    :names: launch_wrapping_and_waiting
#
# **RawKernel.** CUDA C++ through CuPy, which looks at nothing but the pointers.
#
# .. kernel:: gpuguide.topics.launch_overhead.study
#    :names: launch_raw
#
# **CuPy ufunc, and ElementwiseKernel,** which is the machinery behind it and takes any number of arrays. Both
# look at types and shapes, and choose the grid themselves.
#
# .. kernel:: gpuguide.topics.launch_overhead.study
#    :names: launch_ufunc, launch_elementwise

# %%
# .. rst-class:: part-check
#
# The request must be right, too
# ------------------------------
#
# A launch that loses an argument would be a fast one. So each way has to give what the :term:`reference` says
# before its launches are timed. Listed here are the ways with three arrays; the study has most of them with
# one and with eight, too.

from gpuguide.topics.launch_overhead import study as launch_overhead

study = launch_overhead.study()
launch_overhead.study(counts=(3,))

# %%
# .. rst-class:: part-measure
#
# By the number and the kind of arrays
# ------------------------------------
#
# The clock takes many launches in a row, and stops before the device has finished. The kinds take turns,
# because a host has fast and slow phases. For Numba's kinds a fact is kept besides: what a further array
# adds, on average from one array to eight.

results = study.run()

# %%

# draw
for kind in ("once", "bare", "wrapping"):
    one, eight = (results.quantity(f"{kind}_{n}", 1024, "launch").value for n in (1, 8))
    gg.fact(f"adds_{kind}", (eight - one) / 7, unit="s", note="(8 arrays - 1 array) / 7")
gg.claim(results, "ufunc_3", faster_than="bare_3", at=1024, clock="launch")
gg.claim(results, "once_8", faster_than="waiting_8", at=1024, clock="launch")

# %%
# A kernel without arguments leaves nothing that could be checked, so it is timed apart. Beside it stand views
# and arrays that Numba has allocated itself, three of each.

from gpuguide.topics.launch_overhead.kernels import (
    RAW_NOTHING,
    largest_of_two_kernel,
    nothing_kernel,
)
from gpuguide.measure.turns import launches_in_turns

arrays = [cp.ones(1024, dtype=cp.float32) for _ in range(3)]
views = [gg.numba_view(x) for x in arrays]
owned = [cuda.device_array(1024, np.float32) for _ in range(3)]


def nothing_numba():
    nothing_kernel[4, 256]()


calls = {
    "nothing_numba": nothing_numba,
    "nothing_raw": lambda: RAW_NOTHING((4,), (256,), ()),
    "views": lambda: largest_of_two_kernel[4, 256](*views),
    "owned": lambda: largest_of_two_kernel[4, 256](*owned),
}
facts = {}
for name, samples in launches_in_turns(calls).items():
    facts[name] = gg.fact(name, float(np.median(samples)), unit="s", samples=samples)
    print(f"{name:14} {facts[name].value * 1e6:6.1f} us")

# %%
# .. checks:: launches
#
# All of Numba's lines begin at the same place, since without an array there is nothing to wrap. From there
# they rise, most steeply where each launch wraps its arrays. Beside them CuPy's lines hardly rise.

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.marks import draw_ranges
from gpuguide.charts.style import SERIES, describe

kinds = {
    "waiting": "Numba, wrapped each time, waiting",
    "wrapping": "Numba, wrapped each time",
    "bare": "Numba, bare CuPy arrays",
    "once": "Numba, wrapped once",
    "elementwise": "CuPy ElementwiseKernel",
    "raw": "RawKernel",
}
figure, ax = plt.subplots()
words, ranges = [], []
for (kind, label), colour, marker in zip(kinds.items(), SERIES, "s^oDv*", strict=False):
    counts = [n for n in (1, 3, 8) if kind != "elementwise" or n > 1]
    times = [results.quantity(f"{kind}_{n}", 1024, "launch") for n in counts]
    if kind != "elementwise":
        begin = facts["nothing_raw" if kind == "raw" else "nothing_numba"]
        counts, times = [0, *counts], [begin, *times]
    cells = [time.value * 1e6 for time in times]
    ax.plot(counts, cells, marker=marker, color=colour, label=label)
    ranges += [(n, time, colour) for n, time in zip(counts, times, strict=True)]
    words.append(f"{label} up to {times[-1]}")
ax.set(xlabel="arrays handed to the kernel", ylabel="µs a launch, host", ylim=(0, None))
draw_ranges(ax, ranges, scale=1e6)
ax.legend()
describe(ax, f"Host time of a launch against the number of arrays. {'; '.join(words)}.")

# %%
# .. finding::
#
#    With eight arrays a launch takes :measured:`launches[bare_8, 1024].launch` bare and
#    :measured:`launches[once_8, 1024].launch` wrapped once. A RawKernel takes
#    :measured:`launches[raw_8, 1024].launch`.
#
# The same in figures, with the ufunc.
#
# .. list-table:: Host time of a launch, by kind and number of arrays
#    :header-rows: 1
#    :stub-columns: 1
#
#    * - arrays
#      - 0
#      - 1
#      - 3
#      - 8
#    * - RawKernel
#      - :measured:`nothing_raw`
#      - :measured:`launches[raw_1, 1024].launch`
#      - :measured:`launches[raw_3, 1024].launch`
#      - :measured:`launches[raw_8, 1024].launch`
#    * - CuPy ElementwiseKernel
#      -
#      -
#      - :measured:`launches[elementwise_3, 1024].launch`
#      - :measured:`launches[elementwise_8, 1024].launch`
#    * - CuPy ufunc
#      -
#      -
#      - :measured:`launches[ufunc_3, 1024].launch`
#      -
#    * - Numba, wrapped once
#      - :measured:`nothing_numba`
#      - :measured:`launches[once_1, 1024].launch`
#      - :measured:`launches[once_3, 1024].launch`
#      - :measured:`launches[once_8, 1024].launch`
#    * - Numba, bare CuPy arrays
#      - :measured:`nothing_numba`
#      - :measured:`launches[bare_1, 1024].launch`
#      - :measured:`launches[bare_3, 1024].launch`
#      - :measured:`launches[bare_8, 1024].launch`
#    * - Numba, wrapped each time
#      - :measured:`nothing_numba`
#      - :measured:`launches[wrapping_1, 1024].launch`
#      - :measured:`launches[wrapping_3, 1024].launch`
#      - :measured:`launches[wrapping_8, 1024].launch`
#    * - Numba, wrapped each time, waiting
#      - :measured:`nothing_numba`
#      - :measured:`launches[waiting_1, 1024].launch`
#      - :measured:`launches[waiting_3, 1024].launch`
#      - :measured:`launches[waiting_8, 1024].launch`
#
# Here the last kind has nothing to wait for: such small kernels are done before the next launch comes. So it
# takes about as long as the kind above it.
#
# And what is that worth beside the work? Here are two ways to take the maximum of two vectors. **CuPy
# maximum** is the ufunc. **Four a thread** is a Numba kernel whose launcher first checks the arrays; that is
# part of its launch.
#
# .. kernel:: gpuguide.topics.launch_sizes.maximum
#    :names: maximum_cupy, maximum
#
# The kernel behind it is the best one of :doc:`Launch sizes </gallery/first_kernels/launch_sizes>`.
#
# .. kernel:: gpuguide.topics.launch_sizes.kernels
#    :names: four_elements
#
# The sizes lie close together where work and launch should cross. For either way the first size with more
# work than launch is kept.

from gpuguide.topics.launch_sizes import maximum as maximum_topic

sizes = [2**k for k in (12, 16, 20, 21, 22, 23, 24, 25, 26, 28)]
work = maximum_topic.study().run(variants=["cupy", "four_elements"], sizes=sizes)

# %%

# draw
for name in ("cupy", "four"):
    longer = [
        size
        for size in work.sizes
        if work.quantity(name, size, "time").value
        > work.quantity(name, size, "launch").value
    ]
    gg.fact(
        f"outweighs_at_{name}",
        longer[0],
        unit="1",
        note="first size with more work than launch",
    )
    print(f"{name}: from {longer[0]:,} elements on the work is longer")

# %%
# .. checks:: maximum
#
# Dashed lines are launches, full lines are work.

# draw
figure, ax = plt.subplots()
words, ranges = [], []
for name, colour in (("cupy", SERIES[0]), ("four", SERIES[1])):
    label = work.variant(name).label
    for clock, line in ((None, "-"), ("launch", "--")):
        sizes = work.series(name, clock).sizes
        times = [work.time(name, size, clock) for size in sizes]
        what = f"{label}, {clock or 'work'}"
        micros = [1e6 * time.value for time in times]
        ax.plot(sizes, micros, line, marker="o", color=colour, label=what)
        ranges += [(size, time, colour) for size, time in zip(sizes, times, strict=True)]
        words.append(f"{what} {times[0]} to {times[-1]}")
ax.set_xscale("log", base=2)
ax.set_yscale("log")
ax.set(xlabel="elements", ylabel="µs")
draw_ranges(ax, ranges, scale=1e6)
ax.legend()
describe(ax, f"Work and launch against elements, both logarithmic. {'; '.join(words)}.")

# %%
# .. finding::
#
#    With 4096 elements the ufunc's work takes :measured:`maximum[cupy, 2**12].time` and its launch
#    :measured:`maximum[cupy, 2**12].launch`. Its work is longer than its launch from
#    :measured:`outweighs_at_cupy` elements on, and the Numba kernel's from :measured:`outweighs_at_four`.
#
# .. results:: launches
#
# .. results:: maximum

# %%
# .. rst-class:: part-reading
#
# What each array adds
# --------------------
#
# An empty Numba kernel takes :measured:`nothing_numba` to launch, an empty RawKernel :measured:`nothing_raw`.
# That is the form without any entry: find the kernel, find the stream, call the driver.
#
# From a view Numba reads what it wants to know, because the view has it ready. Each further one adds
# :measured:`adds_once`. Who has allocated the memory hardly matters: three views take :measured:`views`,
# three arrays of Numba's own take :measured:`owned`.
#
# A bare CuPy array adds :measured:`adds_bare`. It is asked anew at each launch, and twice: once to learn its
# type, which decides about the compiled version, and once for its address. The answer comes through a
# protocol named DLPack, which makes and tears down an object each time. It does not wait for the device.
#
# Wrapping by hand at each launch is no cure. It asks similar questions, in Python, and each array adds
# :measured:`adds_wrapping`. The cure is to wrap once, where the array is made, and to keep the view.
#
# .. list-table:: Elements from which on the work is longer than the launch
#    :header-rows: 1
#
#    * - predicted, for an empty launch
#      - measured, CuPy maximum
#      - measured, four a thread
#    * - :measured:`predicted_elements`
#      - :measured:`outweighs_at_cupy`
#      - :measured:`outweighs_at_four`
#
# The measured sizes are those of the sweep, so each is up to twice too large. Neither way is an empty launch:
# its request takes longer, which moves the size up. And CuPy's kernel is slower than the memory, which moves
# its size down again.
#
# A library call is a row of launches. CuPy's QR factorisation of a small matrix is many kernels with little
# to do, and the host has to ask for every one of them. The notebook on CuPy from which this comparison comes
# saw the GPU behind NumPy at 64 by 64, and ahead from 128 by 128 on.
#
# .. kernel:: gpuguide.topics.how_to_time.study
#    :names: qr_numpy, qr_cupy

# %%
# Here it is again in single precision, at the same sizes. More than one pair of arrays is a right answer, so
# their properties are checked instead of a reference.

qr = launch_overhead.qr_study().run()

# %%

# draw
gg.claim(qr, "cupy", faster_than="numpy", at=2048**2)

# %%
# .. checks:: qr
#
# The dashed orange line is what the host takes to ask for CuPy's kernels. On the left it lies above their own
# time, and the launches decide. On the right the arithmetic does. Where the line falls,
# the library seems to turn to a method with less to ask for.

# draw
from gpuguide.charts.marks import label_ends

ax = gg.plot_time(qr)
sizes, asked = qr.series("cupy", "launch")
ax.plot(sizes, asked, "--", marker="D", color=SERIES[1])
draw_ranges(ax, [(size, qr.time("cupy", size, "launch"), SERIES[1]) for size in sizes])
label_ends(ax, [(sizes[-1], asked[-1], "CuPy, launch", SERIES[1])])
ax.set_ylabel("time (warm cache)")
words = []
for label, name, clock in (
    ("NumPy", "numpy", None),
    ("CuPy", "cupy", None),
    ("CuPy, launch", "cupy", "launch"),
):
    at = qr.series(name, clock).sizes
    first, last = (qr.time(name, size, clock) for size in (at[0], at[-1]))
    words.append(f"{label} from {first} at {at[0]} to {last} at {at[-1]}")
describe(ax, f"Time against matrix elements, both logarithmic. {'; '.join(words)}.")

# %%
# .. finding::
#
#    At 64 by 64 CuPy's kernels work for :measured:`qr[cupy, 64**2].time`, and the host needs
#    :measured:`qr[cupy, 64**2].launch` to ask for them; NumPy takes :measured:`qr[numpy, 64**2].time`. At
#    2048 by 2048 CuPy's work for :measured:`qr[cupy, 2048**2].time` and NumPy takes
#    :measured:`qr[numpy, 2048**2].time`.
#
# .. results:: qr

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: a launch that waits for the queue
# ---------------------------------------------------
#
# Launches are :term:`asynchronous`: they return while earlier work is still in the queue. Leave out one
# argument, and they do not. The views below are made by ``cuda.as_cuda_array(x)``, which looks harmless, and
# is harmless as long as the queue is empty. So here the queue is kept busy by a :term:`delay kernel` of a
# known length.

# wrong: as_cuda_array(x) without sync=False waits until the stream is empty
from time import perf_counter

from gpuguide.machine.backends import current_stream
from gpuguide.topics.launch_overhead.kernels import delay_kernel

delay_ns = launch_overhead.DELAY_NS
stream = cp.cuda.Stream(non_blocking=True)


def launch_behind_work(wrap):
    stream.synchronize()
    delay_kernel()((1,), (1,), (np.uint64(delay_ns),))
    start = perf_counter()
    largest_of_two_kernel[4, 256, current_stream()](*map(wrap, arrays))
    return perf_counter() - start


with stream:
    pairs = [
        (launch_behind_work(cuda.as_cuda_array), launch_behind_work(gg.numba_view))
        for _ in range(25)
    ]
waiting, going_on = zip(*pairs[5:], strict=True)
for name, samples in (("launch_waiting", waiting), ("launch_going_on", going_on)):
    facts[name] = gg.fact(name, float(np.median(samples)), unit="s", samples=samples)
    print(f"{name:16} {facts[name].value * 1e6:7.0f} us")
_ = gg.fact("queued_before", delay_ns / 1e9, unit="s", note="set by us")

# %%

# draw
parts = [facts["queued_before"].value, facts["launch_going_on"].value]
_ = gg.explained("waiting_explained", parts, facts["launch_waiting"].value)

# %%
# The right one differs in ``sync=False``. ``gg.numba_view(x)`` sets it, and leaves it to you to launch into
# the stream in which the array was made.

# draw
gg.plot_decomposition(
    {
        "as_cuda_array(x)": {"whole": facts["launch_waiting"]},
        "timed apart": {
            "work queued before": facts["queued_before"],
            "launch": facts["launch_going_on"],
        },
    }
)

# %%
# .. finding::
#
#    Behind work of :measured:`queued_before` the launch takes :measured:`launch_waiting`, and without waiting
#    :measured:`launch_going_on`. The waiting launch takes about as long as the queued work and the other
#    launch together.
#
# In a loop of such launches the host and the device take turns instead of working together. Which of Numba's
# four ways do wait? Here each is timed behind the same work:

busy = launch_overhead.busy_study().run()

# %%

# draw
gg.claim(busy, "bare", faster_than="waiting", at=1024, clock="launch")

# %%
# .. list-table:: Host time of two launches: the delay kernel, and three arrays behind it
#    :stub-columns: 1
#
#    * - wrapped once
#      - :measured:`busy[once, 1024].launch`
#    * - bare CuPy arrays
#      - :measured:`busy[bare, 1024].launch`
#    * - wrapped each time
#      - :measured:`busy[wrapping, 1024].launch`
#    * - wrapped each time, waiting
#      - :measured:`busy[waiting, 1024].launch`
#
# .. checks:: busy
#
# Only the last one waits. Hold these four against each other, not against the table further up: here each
# time has the launch of the delay kernel in it.

# %%
# .. rst-class:: part-when-not-to
#
# When a launch is not worth a thought
# ------------------------------------
#
# With 2\ :sup:`28` elements the Numba kernel works for :measured:`maximum[four, 2**28].time` and is asked for
# in :measured:`maximum[four, 2**28].launch`. While it works, the host writes the next requests. So as long as
# the queue does not run dry, launches add nothing to the time of a program. Save them where kernels are short
# and many. And where a kernel is shorter than its launch, ask whether the CPU would be done by then:
# :doc:`Maximum on the CPU </gallery/compiled_cpu/maximum_cpu>` has its figures.

# %%
# .. rst-class:: part-on-your-gpu
#
# Your CPU writes the request
# ---------------------------
#
# What a launch takes depends on your CPU, and on the versions of Python, Numba, CuPy and the driver. The GPU
# hardly matters. Newer versions may change the distances between the kinds. Waiting for the queue remains.
#
# ``gpuguide run launch_overhead`` measures yours.

# %%
# .. rst-class:: part-your-turn
#
# A thousand launches too many
# ----------------------------
#
# The cheapest launch is the one that does not happen. Here is a loop over rows that launches twice in every
# round. Write it with a single launch; the check counts them.
#
# .. exercise:: one_launch
#
# .. question:: Is there any reason to wait for the stream when a view is made?
#
#    Yes, if another stream is still writing to the array. Then somebody has to wait, and the host is the
#    simplest. It is cheaper to let the streams wait for each other, by an :term:`event`, or to work in one
#    stream.
#
# .. question:: Why not wrap all CuPy arrays as soon as they are made?
#
#    A view takes some time to make, and it keeps the memory alive as long as it lives. For arrays that are
#    handed over again and again it pays at once. For one that is handed over once, bare is fine.

# %%
# .. rst-class:: part-next
#
# From a launch a number to a thread a number
# -------------------------------------------
#
# Onward: :doc:`Primes </gallery/first_kernels/primes>` begins with thousands of launches and ends with one.
# Sideways: :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` chooses how many
# :term:`threads <thread>` and :term:`blocks <block>`. Used here: :func:`gpuguide.numba_view`,
# :func:`gpuguide.claim`, :func:`gpuguide.explained`.
