"""
Benchmark well
==============

In which ways does a benchmark go wrong, and by how much?
"""
# %%
# A benchmark that does not wait for the GPU shows :measured:`no_wait_off` of the right time, one that counts
# the first call :measured:`first_call_off`, one that times an iteration on its own result
# :measured:`left_over_off`. Three more mistakes are harder to see. None of the six raises an error.

# %%
# .. rst-class:: part-idea
#
# What one sample needs
# ---------------------
#
# A benchmark answers a question: how long does this call take, from that state of the machine? The clock is
# only half of it. The other half is the state. Is the kernel compiled? What lies in the :term:`L2 cache`?
# What does the data look like? A :term:`sample` is worth something if all of this is as it is meant to be,
# each time. The six mistakes of this page have numbers, and each is made at one of the steps below.
#
# .. drawing:: benchmark_well
#
#     Steps in boxes. First a call that is not timed. Then, in a loop: put the data back, read other data,
#     start the clock, call, wait, stop the clock. The way back from the last step says many samples, and
#     their median. The numbers of six mistakes stand at the steps at which they are made: 2 at the call that
#     is not timed, 6 at the data, 4 and 5 at reading other data, 1 at waiting, 3 at the way back.

# %%
# .. rst-class:: part-bare
#
# A benchmark that needs no tools
# -------------------------------
#
# This is what it takes, without any help from this guide. The array ``other`` does two jobs. Reading it
# drives all other data out of the cache. It also keeps the :term:`device` busy while the :term:`host` queues
# the two :term:`events <event>` and the :term:`kernel`, so that the :term:`launch` does not lie between the
# events.

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def larger(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], b[i])


a, b = cp.random.random((2, 2**21), dtype=cp.float32)
out = cp.empty_like(a)
views = [cuda.as_cuda_array(x, sync=False) for x in (a, b, out)]  # wrapped once
other = cp.ones(2**28, dtype=cp.float32)  # much larger than the cache

larger[2**21 // 256, 256](*views)  # compiles, and is not timed
other.sum()  # likewise
samples = []
for _ in range(20):
    other.sum()
    start = cp.cuda.get_current_stream().record()
    larger[2**21 // 256, 256](*views)
    stop = cp.cuda.get_current_stream().record()
    stop.synchronize()
    samples.append(cp.cuda.get_elapsed_time(start, stop) * 1000)
print("GPU:  ", out[:3], "   NumPy:", np.maximum(a[:3].get(), b[:3].get()))
print(f"median of {len(samples)}: {np.median(samples):.1f} us,", end=" ")
print(f"from {min(samples):.1f} to {max(samples):.1f} us")

# %%
# If one sample lies far above the others, the host was probably held up for longer than reading ``other``
# takes. Then the device has to wait for it, and the launch lies between the events after all. The guide's own
# clock notices this and tries again with a longer delay.

# %%
# .. rst-class:: part-predict
#
# A time that cannot be beaten
# ----------------------------
#
# There is one check that needs no clock. Each element moves twelve bytes: two ``float32`` are read, one is
# written. The bytes of 2\ :sup:`26` elements, divided by the physical peak of the memory, give a time. The
# cache can save at most its own size of these bytes, a small part. So a clock that shows clearly less is
# wrong, whatever it is.

import gpuguide as gg

info = gg.require_gpu()
peak = info.peak_memory_bandwidth
gg.fact("peak", peak, unit="B/s", note="memory clock times bus width")
least = gg.fact(
    "least", 12 * 2**26 / peak, unit="s", note="12 bytes an element / physical peak"
)
print(f"{least.value * 1e6:.0f} us at the physical peak, for 2**26 elements")

# %%
# .. rst-class:: part-code
#
# A maximum and a square root
# ---------------------------
#
# **One a thread.** The maximum from above: each :term:`thread` takes one element. Where one of the two is NaN
# (not a number), so is the result, as in NumPy.
#
# .. kernel:: gpuguide.topics.launch_sizes.kernels
#    :names: larger, one_element
#
# **Four a thread.** Its rival. A benchmark usually has to decide between two, and a wrong one may decide
# wrongly.
#
# .. kernel:: gpuguide.topics.launch_sizes.kernels
#    :names: four_elements
#
# One launcher serves both.
#
# .. kernel:: gpuguide.topics.launch_sizes.maximum
#    :names: maximum
#
# **Newton's method.** This kernel improves guesses of square roots in place, until a step changes them by no
# more than rounding. How long it takes depends on how good the guesses are, and afterwards they are good.
#
# .. kernel:: gpuguide.topics.benchmark_well.kernels
#    :names: improve_kernel
#
# .. kernel:: gpuguide.topics.benchmark_well.square_roots
#    :names: improve
#
# Its rival **math.sqrt** does not look at the guesses.
#
# .. kernel:: gpuguide.topics.benchmark_well.kernels
#    :names: square_root_kernel
#
# .. kernel:: gpuguide.topics.benchmark_well.square_roots
#    :names: square_root

# %%
# .. rst-class:: part-check
#
# Right results first
# -------------------
#
# The maximum is measured twice, :term:`cold` and :term:`warm`. Before that, every result is compared with the
# :term:`reference`. A benchmark of a wrong result is the seventh mistake, and the worst.

from gpuguide.topics.benchmark_well import study as benchmark_well

study = benchmark_well.study()
study

# %%
# The square roots start from the same far guesses each time: before each call they are put back, and the
# cache is emptied.

roots_study = benchmark_well.roots_study()
roots_study

# %%
# .. rst-class:: part-measure
#
# The right figures
# -----------------
#
# The wrong clocks further down will be held against these. The samples of the variants are taken in turns.

cold = study.run()
warm = benchmark_well.warm_study().run()
roots = roots_study.run()

# %%

# draw
gg.claim(cold, "four", faster_than="one", at=2**26)
gg.claim(warm, "four", faster_than="one", at=2**26)
gg.claim(roots, "sqrt", faster_than="newton", at=2**22)

# %%
# .. checks:: cold
#
# .. checks:: roots
#
# The first chart has the rate at which *one a thread* moves its bytes, from either state of the cache.

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.marks import draw_ranges
from gpuguide.charts.style import MUTED, SERIES, describe

figure, ax = plt.subplots()
words, ranges = [], []
for results, colour, marker in ((warm, SERIES[1], "o"), (cold, SERIES[0], "s")):
    sizes = results.series("one").sizes
    rates = [results.rate("one", n) for n in sizes]
    drawn = [rate.value / 1e12 for rate in rates]
    ax.plot(sizes, drawn, color=colour, marker=marker, label=results.cache)
    ranges += [(n, rate, colour) for n, rate in zip(sizes, rates, strict=True)]
    words.append(
        f"{results.cache} from {rates[0]} at {sizes[0]} to {rates[-1]} at {sizes[-1]}"
    )
ax.axhline(facts["peak"].value / 1e12, color=MUTED, linestyle="--", label="physical peak")
ax.set_xscale("log", base=2)
ax.set_xticks([n for n in sizes if n != 2**20])  # too close to 2**21 for both
ax.set(xlabel="elements", ylabel="TB/s, one a thread, kernel only", ylim=(0, None))
draw_ranges(ax, ranges, scale=1e-12)
ax.legend(loc="lower right")
describe(
    ax,
    f"TB/s of one a thread against elements, and the peak of {facts['peak'].value / 1e12:.2f}: "
    f"{'; '.join(words)}.",
)

# %%
# .. finding::
#
#    At 2\ :sup:`21` elements *one a thread* takes :measured:`warm[one, 2**21].time` warm and
#    :measured:`cold[one, 2**21].time` cold. At 2\ :sup:`26` elements, which the cache cannot hold, it takes
#    :measured:`warm[one, 2**26].time` and :measured:`cold[one, 2**26].time`.
#
# Not all of the difference at small sizes is the cache. Short warm calls are timed many in a row, in a
# :term:`CUDA graph`. A cold call can only be timed alone, between two events, and the price of starting
# one kernel is in it each time. Clock four below times both states alone.
#
# The second chart has every single sample at 2\ :sup:`21` elements.

# draw
ax = gg.plot_samples(cold, 2**21)
ax.set_xscale("linear")
ax.xaxis.set_major_formatter(lambda seconds, _: f"{seconds * 1e6:g} µs")

# %%
# .. finding::
#
#    Each mark is one call, and each bar a :term:`median`: :measured:`cold[one, 2**21].time` for *one a
#    thread*, :measured:`cold[four, 2**21].time` for *four a thread*.
#
# .. results:: cold
#
# .. results:: warm
#
# .. results:: roots

# %%
# .. rst-class:: part-reading
#
# What the right figures say
# --------------------------
#
# .. list-table:: 2\ :sup:`26` elements
#    :header-rows: 1
#
#    * - bytes / physical peak
#      - four a thread, cold
#      - one a thread, cold
#    * - :measured:`least`
#      - :measured:`cold[four, 2**26].time`
#      - :measured:`cold[one, 2**26].time`
#
# Warm and cold are two questions. A warm figure at a small size is a figure of the cache: at 2\ :sup:`21`
# elements *four a thread* moves :measured:`warm[four, 2**21].rate`, where the physical peak of the memory is
# :measured:`peak`. Whoever has to choose between rivals should ask from the state that is meant. At this size
# *four a thread* is :measured:`warm[four, 2**21].speedup(one)` as fast as *one a thread* warm, and
# :measured:`cold[four, 2**21].speedup(one)` cold. A part of the difference between the two ratios is the
# start of a kernel, which is in each cold figure and the same for both.
#
# Newton's method needs :measured:`roots[newton, 2**22].time` for 2\ :sup:`22` roots, and math.sqrt
# :measured:`roots[sqrt, 2**22].time`.

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: six clocks
# ----------------------------
#
# Each of the following clocks makes one mistake and no other. ``keep`` keeps its figure, ``compare`` divides
# that by the right one.

from gpuguide.topics.benchmark_well import wrong_clocks
from gpuguide.measure.turns import beside_launches
from gpuguide.topics.launch_sizes.maximum import maximum
from gpuguide.topics.launch_sizes.kernels import one_element
from gpuguide.topics.benchmark_well.square_roots import count_steps, improve
from gpuguide.measure.turns import gpu_clock, in_turns

gpu = gpu_clock()


def vectors(n):
    a, b = cp.random.random((2, n), dtype=cp.float32)
    cp.cuda.Device().synchronize()  # the clocks use a stream of their own
    return [gg.numba_view(x) for x in (a, b, cp.empty_like(a))]


def keep(name, samples):
    middle = float(np.median(samples))
    gg.fact(name, middle, unit="s", samples=samples)
    print(f"{name:18}{middle * 1e6:10.1f} us")


# %%


# draw
def compare(name, right):
    ratio = facts[name].value / right
    gg.fact(f"{name}_off", ratio, unit="ratio", note="wrong figure / right figure")
    print(f"{name:18}{ratio:7.2f} times what is right")


# %%
# **One: nobody waits.** The launches are timed and the work is not.
#
# .. kernel:: gpuguide.topics.benchmark_well.wrong_clocks
#    :names: without_waiting
#
# To know what it really saw, launches alone are timed as well, in turns with it.

# wrong: the clock stops before the GPU does
large = vectors(2**26)


def call_large():
    maximum(*large, items_per_thread=1)


samples, alone = beside_launches(
    lambda: wrong_clocks.without_waiting(call_large, gpu), call_large, n_turns=20
)
keep("no_wait", samples)
_ = gg.fact("launch_alone", float(np.median(alone)), unit="s", samples=alone)

# %%

# draw
right = cold.quantity("one", 2**26, "time").value
compare("no_wait", right)
whole = facts["no_wait"].value
_ = gg.explained("no_wait_explained", [facts["launch_alone"].value], whole)

# %%
# It says :measured:`no_wait`, and the bytes alone take :measured:`least` at the physical peak. The launch
# alone comes to :measured:`no_wait_explained` of the figure.
#
# **Two: the first call counts.** It compiles.
#
# .. kernel:: gpuguide.topics.benchmark_well.wrong_clocks
#    :names: ten_calls, compile_alone
#
# The same clock comes close to the right figure when the kernel is compiled already.

# wrong: the first of the ten calls compiles
signature = "void(float32[::1], float32[::1], float32[::1])"


def fresh_call():
    kernel = cuda.jit(one_element.py_func)
    return lambda: kernel[2**26 // 256, 256](*large)


taken = in_turns(
    {
        "first_call": lambda: wrong_clocks.ten_calls(fresh_call(), gpu),
        "compiled": lambda: wrong_clocks.ten_calls(call_large, gpu),
        "compiler": lambda: wrong_clocks.compile_alone(one_element, signature),
    },
    n_turns=10,
)
keep("first_call", taken["first_call"])
keep("compiled", taken["compiled"])
compiler, note = float(np.median(taken["compiler"])), "compiling one kernel, once"
_ = gg.fact("compiler", compiler, unit="s", samples=taken["compiler"], note=note)

# %%

# draw
for name in ("first_call", "compiled"):
    compare(name, right)
parts = [facts["compiler"].value / 10, facts["compiled"].value]
_ = gg.explained("first_call_explained", parts, facts["first_call"].value)

# %%
# More calls would only thin the compiler out. It is worse where the decorator stands inside what is timed:
# then every call compiles anew.

# draw
gg.plot_decomposition(
    {
        "a tenth of ten calls": {"not taken apart": facts["first_call"]},
        "timed apart": {
            "a tenth of compiling": facts["compiler"].value / 10,
            "a later call": facts["compiled"],
        },
    }
)

# %%
# .. finding::
#
#    The clock says :measured:`first_call` a call. The compiler takes :measured:`compiler` once, a later call
#    :measured:`compiled`. A tenth of the one and one of the other explain :measured:`first_call_explained`.
#
# A first call is worth knowing, as long as it stands apart. An introduction to CuPy that prints its first
# determinant, :claimed:`s3_det_first`, before the later ones, :claimed:`s3_det_later`, shows both.
#
# **Three: one reading.** Waited for, compiled, and read once.
#
# .. kernel:: gpuguide.topics.benchmark_well.wrong_clocks
#    :names: one_reading
#
# Here are a hundred of them. Any could have been the only one; the slowest is divided by their median.

# wrong: one reading, whichever it happens to be
small = vectors(2**21)


def call_small():
    maximum(*small, items_per_thread=1)


readings = in_turns({"one": lambda: wrong_clocks.one_reading(call_small, gpu)}, 100)[
    "one"
]
gg.fact("readings", float(np.median(readings)), unit="s", samples=readings)
keep("one_reading", [max(readings)])

# %%

# draw
from gpuguide.results.statistics import median_interval

readings, device = facts["readings"].samples, cold.measurement("one", 2**21)
middle = float(np.median(readings))
for name, ends, of in (
    ("readings_apart", (min(readings), max(readings)), middle),
    ("median_apart", median_interval(readings), middle),
    ("device_apart", (min(device.samples_s), max(device.samples_s)), device.median_s),
):
    gg.fact(name, (ends[1] - ends[0]) / of, unit="share", note="width / median")
    print(f"{name:18}{ends[0] * 1e6:10.1f} to {ends[1] * 1e6:.1f} us")
compare("one_reading", facts["readings"].value)

# %%
# In the newest run the fastest and the slowest lie :measured:`readings_apart` of the median apart. So two
# single readings of one and the same kernel can pass for a speed-up. The interval of the median is
# :measured:`median_apart` wide, but it speaks of this run alone: on another machine start the median moved
# much further. On the device's clock, in the chart of all samples, the marks of this kernel lie
# :measured:`device_apart` apart.
#
# **Four: warm where cold is meant.** The call is timed right after the same call, whose data is still in the
# cache. **Five: emptied by writing.** A memset, which fills memory with zeros, drives the data out as well as
# reading does. But what it wrote is only in the cache so far, in :term:`dirty lines <dirty line>`. The kernel
# needs their places, and they have to be written to memory first.
#
# .. kernel:: gpuguide.topics.benchmark_well.wrong_clocks
#    :names: device_time, on_the_same_arrays, after_a_memset
#
# Both are taken in turns with the right clock, at a size that fits into the cache and at one that does not.

# wrong: the cache holds the data already, or lines that must be written first
scratch = cp.empty(2 * info.l2_bytes, dtype=cp.uint8)
middle_sized = vectors(2**24)


def call_middle():
    maximum(*middle_sized, items_per_thread=1)


for call, suffix in ((call_small, ""), (call_middle, "_large")):
    taken = in_turns(
        {
            "same_arrays": lambda call=call: wrong_clocks.on_the_same_arrays(call, gpu),
            "memset": lambda call=call: wrong_clocks.after_a_memset(call, gpu, scratch),
            "read": lambda call=call: wrong_clocks.device_time(gpu.flush, call, gpu),
        },
        n_turns=50,
    )
    for name, samples in taken.items():
        keep(name + suffix, samples)

# %%

# draw
for size, suffix in ((2**21, ""), (2**24, "_large")):
    right = cold.quantity("one", size, "time").value
    for name in ("same_arrays", "memset", "read"):
        compare(name + suffix, right)

# %%
# At 2\ :sup:`21` elements the right clock says :measured:`read`, on the same arrays it is
# :measured:`same_arrays`, and after the memset :measured:`memset`. At 2\ :sup:`24` elements the vectors are
# larger than the cache. There the three say :measured:`read_large`, :measured:`same_arrays_large` and
# :measured:`memset_large`. The second is no longer the smallest, we think because calling again leaves dirty
# lines, too: the kernel's own result.
#
# **Six: the data has changed.** This clock waits, has compiled, and empties the cache. But the second call
# finds what the first one has left.
#
# .. kernel:: gpuguide.topics.benchmark_well.wrong_clocks
#    :names: on_what_was_left
#
# What it leaves are roots. To know what the clock saw, roots are put in the place of the guesses on purpose.

# wrong: nobody puts the first guesses back
number = 1 + (2.0**40 - 1) * cp.random.random(2**22)
guess, done = number.copy(), cp.sqrt(number)
arrays = gg.numba_view(guess), gg.numba_view(number)
cp.cuda.Device().synchronize()


def call_roots():
    improve(*arrays)


def put_roots():
    cp.copyto(guess, done)
    gpu.flush()


taken = in_turns(
    {
        "left_over": lambda: wrong_clocks.on_what_was_left(call_roots, gpu),
        "on_roots": lambda: wrong_clocks.device_time(put_roots, call_roots, gpu),
    }
)
for name, samples in taken.items():
    keep(name, samples)
host = number[:100_000].get()
for name, start in (("steps_far", host), ("steps_left", np.sqrt(host))):
    steps = float(count_steps(start, host).mean())
    gg.fact(name, steps, unit="1", note="steps of Newton's method, on average")

# %%

# draw
right = roots.quantity("newton", 2**22, "time").value
for name in ("left_over", "on_roots"):
    compare(name, right)
whole = facts["left_over"].value
_ = gg.explained("left_over_explained", [facts["on_roots"].value], whole)

# %%
# From a far guess the method makes :measured:`steps_far` steps, from a root :measured:`steps_left`. A call
# on roots explains :measured:`left_over_explained` of the figure. Sorting what is sorted is the same
# mistake. The maximum is safe from it, because its result is not its input.
#
# All six together, each held against its right figure:

# draw
names = ["no_wait", "first_call", "one_reading", "same_arrays", "memset", "left_over"]
labels = [
    "1 nobody waits",
    "2 the first call counts",
    "3 one reading, the slowest",
    "4 warm where cold is meant",
    "5 emptied by writing",
    "6 the data has changed",
]
ratios = [facts[f"{name}_off"].value for name in names]
shown = [facts[f"{name}_off"].shown for name in names]
figure, ax = plt.subplots()
ax.axvline(1, color=SERIES[2])
for row, ratio in enumerate(ratios):
    ax.plot([1, ratio], [row, row], color=MUTED, linewidth=1)
    ax.plot(ratio, row, "o", color=SERIES[4])
    x, side = (8, "left") if ratio > 1 else (-8, "right")
    words, point = shown[row], (ratio, row)
    ax.annotate(words, point, (x, -4), textcoords="offset points", ha=side)
ax.set(xscale="log", xlabel="wrong figure / right figure", yticks=range(len(labels)))
ax.set_yticklabels(labels)
ax.xaxis.set_major_formatter(lambda ratio, _: f"{ratio:g}×")
ax.invert_yaxis()
ax.margins(x=0.2)
ranges = [(row, facts[f"{name}_off"], SERIES[4]) for row, name in enumerate(names)]
draw_ranges(ax, ranges, along="x")
words = (f"{label} {ratio}" for label, ratio in zip(labels, shown, strict=True))
describe(ax, f"Wrong over right figure on a logarithmic axis: {'; '.join(words)}.")

# %%
# .. finding::
#
#    Mistakes about the cache look plausible: four shows :measured:`same_arrays_off` of the right figure,
#    five :measured:`memset_off`. One, two and six are far off, with :measured:`no_wait_off`,
#    :measured:`first_call_off` and :measured:`left_over_off`. Three may be right by luck; its slowest reading
#    shows :measured:`one_reading_off`.
#
# .. list-table:: The figures of the six clocks
#    :header-rows: 1
#
#    * - mistake
#      - wrong
#      - right
#      - at
#    * - 1 nobody waits
#      - :measured:`no_wait`
#      - :measured:`cold[one, 2**26].time`
#      - 2\ :sup:`26`
#    * - 2 the first call counts
#      - :measured:`first_call`
#      - :measured:`cold[one, 2**26].time`
#      - 2\ :sup:`26`
#    * - 3 one reading, the slowest
#      - :measured:`one_reading`
#      - :measured:`readings`
#      - 2\ :sup:`21`
#    * - 4 warm where cold is meant
#      - :measured:`same_arrays`
#      - :measured:`cold[one, 2**21].time`
#      - 2\ :sup:`21`
#    * - 5 emptied by writing
#      - :measured:`memset`
#      - :measured:`cold[one, 2**21].time`
#      - 2\ :sup:`21`
#    * - 6 the data has changed
#      - :measured:`left_over`
#      - :measured:`roots[newton, 2**22].time`
#      - 2\ :sup:`22` roots
#
# The sizes are elements and, in the last row, roots. The third clock is a host's: its right figure is the
# median of its own readings, with launch and wait in it.

# %%
# .. rst-class:: part-when-not-to
#
# When warm is right, and when a stopwatch is
# -------------------------------------------
#
# Cold is no law. A kernel that follows the one that wrote its input finds it in the cache, if it fits, and
# :measured:`same_arrays` is the honest figure then, not :measured:`read`. Measure from the state in which the
# program will call.
#
# And not every question deserves all this care. If a change takes the program from minutes to seconds, one
# reading shows it. And where the host's clock reads :measured:`readings` for a call whose kernel takes
# :measured:`cold[one, 2**21].time`, a better kernel is not what the user waits for.

# %%
# .. rst-class:: part-on-your-gpu
#
# The mistakes travel, their sizes do not
# ---------------------------------------
#
# How far off the first three are is decided by your CPU, by Python and by the compiler. The fourth and the
# fifth depend on your cache: data of half its size shows them well, and with data of four times its size the
# fourth hardly matters. The sixth is arithmetic. On a consumer GPU, whose ``float64`` units are slow, the
# wrong figure is further from the right one.
#
# ``gpuguide run benchmark_well`` measures the three studies on your machine.

# %%
# .. rst-class:: part-your-turn
#
# The mistake before the clock
# ----------------------------
#
# Nothing should be timed that is not right. But what is right, if two orders of adding give two sums? Write
# the function that decides, for sums in ``float32``: it must forgive rounding, and nothing else. The check of
# your function needs no GPU.
#
# .. exercise:: choose_tolerance
#
# .. question:: A clock shows the same time for a vector and for a much longer one. What did it see?
#
#    Something that does not depend on the length. Mostly this is a launch, because nobody waited. If both
#    vectors are short, it may be the start of a kernel, which takes the same time for any length.
#
# .. question:: Why is the median shown, and not the mean or the fastest sample?
#
#    One sample that was interrupted moves the mean as far as it likes. The fastest one is what the machine
#    can do on its luckiest day, and the more samples, the luckier it gets. The median moves little either
#    way, and its interval needs no assumption on how samples are spread.

# %%
# .. rst-class:: part-next
#
# From the clock to the code
# --------------------------
#
# Onward: :doc:`Maximum on the CPU </gallery/compiled_cpu/maximum_cpu>` gives the other side of a comparison
# the same care, and :doc:`Launch sizes </gallery/first_kernels/launch_sizes>` asks why four a thread are
# faster than one. Sideways: :doc:`How to time a GPU </gallery/measuring/how_to_time>` has clocks that answer
# other questions, and :doc:`How we measure </method>` the rules that this guide keeps. Used here:
# :class:`gpuguide.Study`, :func:`gpuguide.explained`, :func:`gpuguide.plot_samples`.
