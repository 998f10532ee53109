"""
How to time a GPU
=================

Six clocks, one operation: why do they disagree, and which one is right?
"""
# %%
# One kernel on 65 536 numbers takes :measured:`small_without_synchronising` by a clock that does not wait for
# it, :measured:`small_with_synchronising` by one that does, :measured:`small_with_the_first_call` if the
# first of five calls counts, and :measured:`small_behind_a_delay` by the clock of a GPU that need not wait
# for the host. Only the last figure is the work. The others measure other things, and each has its use.

# %%
# .. rst-class:: part-idea
#
# The host does not wait
# ----------------------
#
# Python does not run a :term:`kernel`, a function for the GPU. It asks for it, and goes on. The request, the
# :term:`launch`, goes into a queue called a :term:`stream`. The :term:`device`, which is the GPU, works
# through the queue in its own time. So a slow language can keep a GPU busy, and a clock on the
# :term:`host`, where Python runs, sees little of what happens.
#
# .. drawing:: how_to_time
#
#     Two lanes of time. On the host lane a launch, then time free for other work, then waiting. On the device
#     lane the kernel starts after the launch and ends when the host has waited. Reading the clock without
#     waiting spans the launch only.

# %%
# .. rst-class:: part-bare
#
# Two readings of one clock
# -------------------------
#
# A kernel adds one to 65 536 numbers. The host's clock is read when the launch has returned, and again after
# a line that waits for the device.

from time import perf_counter

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def plus_one(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1.0


x, out = cp.arange(65_536.0), cp.zeros(65_536)
for _ in range(10):
    plus_one[256, 256](x, out)  # the first call compiles
cp.cuda.Device().synchronize()

start = perf_counter()
plus_one[256, 256](x, out)
launched = perf_counter()
cp.cuda.Device().synchronize()
finished = perf_counter()
print("GPU:  ", out[:4], "   NumPy:", np.arange(4.0) + 1)
print(f"until the launch returned: {(launched - start) * 1e6:6.1f} us")
print(f"until the work was done:   {(finished - start) * 1e6:6.1f} us")

# %%
# Both figures are mostly launch. The second is what a user waits for, but it is not the work. One reason why
# the launch takes longer here than further down: Numba is handed CuPy arrays, and has to translate each of
# them at every launch. From here on they are translated once, beforehand.
# :doc:`Launch overhead </gallery/first_kernels/launch_overhead>` takes the difference apart.

# %%
# .. rst-class:: part-predict
#
# What each clock should see
# --------------------------
#
# For each number the kernel reads eight bytes and writes eight, a megabyte in all. That fits into the
# :term:`L2 cache` and is little for a GPU: the work should be done before Python has even returned from the
# launch. So a clock that sees the launch should show about the same figure for 65 536 numbers as for a
# thousand times as many, while a clock that sees the work should grow with the numbers. The test is to time
# both sizes.

# %%
# .. rst-class:: part-code
#
# Five clocks in five functions
# -----------------------------
#
# The operation is the kernel from above, with its launcher, the function that checks the arguments and
# launches. It has three rivals: NumPy, a compiled loop on the whole CPU, and the kernel with copies, from
# :term:`pageable memory` or from :term:`pinned memory`. ``launch.check`` looks at shapes and types on the
# host, and ``cupy()`` is this guide's door to CuPy.
#
# .. kernel:: gpuguide.topics.how_to_time.kernels
#    :names: add_one_kernel, add_one_threads
#
# .. kernel:: gpuguide.topics.how_to_time.study
#    :names: add_one, add_one_numpy, add_one_with_copies, add_one_with_copies_pinned
#
# **Without synchronising.** The clock of a loop that never waits. It tells how fast the host can launch.
#
# .. kernel:: gpuguide.topics.how_to_time.six_clocks
#    :names: without_synchronising
#
# **With synchronising.** One call, then :term:`synchronise`: launch, work, and the host's wake-up. It is what
# a user of your program waits for.
#
# .. kernel:: gpuguide.topics.how_to_time.six_clocks
#    :names: with_synchronising
#
# **With the first call.** An average that holds the compilation: a loop over a kernel that was never called
# before.
#
# .. kernel:: gpuguide.topics.how_to_time.six_clocks
#    :names: with_the_first_call
#
# **Events around a launch.** The device itself notes the time when it reaches an :term:`event`. But between
# the two events it waits for the host to launch, and with a short kernel it does little else.
#
# .. kernel:: gpuguide.topics.how_to_time.six_clocks
#    :names: events_around_a_launch
#
# **Behind a delay.** A :term:`delay kernel` keeps the device busy while the host queues the events and the
# work, so that only the work lies between the events. Very short kernels are put many at a time into one
# :term:`CUDA graph`. This is the guide's own clock; :doc:`How we measure </method>` rebuilds it in a few
# lines.
#
# .. kernel:: gpuguide.topics.how_to_time.six_clocks
#    :names: behind_a_delay
#
# The sixth clock is CuPy's ``cupyx.profiler.benchmark``. It uses events around bare calls, of which the first
# few do not count.

# %%
# .. rst-class:: part-check
#
# What is compared, and with what
# -------------------------------
#
# Two studies make sure that the kernel equals its :term:`reference` before any clock is held against it. The
# first adds one on the CPU, with the Numba kernel, and with copies in both directions around it.

import gpuguide as gg
from gpuguide.topics.how_to_time import kernels, six_clocks, study as how_to_time

study = how_to_time.study()
study

# %%
# The second is a longer operation, the QR factorisation of a 512 by 512 matrix, by **NumPy** and by **CuPy**.
#
# .. kernel:: gpuguide.topics.how_to_time.study
#    :names: qr_numpy, qr_cupy
#
# QR has no single right answer, since signs may differ. So three properties are checked instead of one
# reference: Q has orthonormal columns, R is upper triangular, and their product is the matrix.

qr = how_to_time.qr_study().run(sizes=(512**2,))

# %%

# draw
gg.claim(qr, "cupy", faster_than="numpy", at=512**2)

# %%
# .. rst-class:: part-measure
#
# Six clocks at two sizes
# -----------------------
#
# First the study, at seven sizes by the guide's own clocks. Then the six clocks, at 65 536 numbers and at
# 2\ :sup:`26`, a thousand times as many.

results = study.run()

# %%

# draw
gg.claim(results, "numba", faster_than=["with_copies", "with_copies_pinned"], at=2**26)

# %%
# Each clock is asked for the same call. Every answer is kept, :term:`sample` by sample.

from cupyx.profiler import benchmark

synchronize = cp.cuda.Device().synchronize
answers = {}
for size, n in (("small", 2**16), ("large", 2**26)):
    source = cp.arange(n, dtype=cp.float64)
    x, out = gg.numba_view(source), gg.numba_view(cp.zeros(n))

    def call(x=x, out=out):
        how_to_time.add_one(x, out)

    def fresh(x=x, out=out):
        kernel = cuda.jit(kernels.add_one_kernel.py_func)
        return lambda: kernel[x.size // 256, 256](x, out)

    call()
    answers[size] = {
        "without_synchronising": six_clocks.without_synchronising(call, synchronize, 20),
        "with_synchronising": six_clocks.with_synchronising(call, synchronize),
        "with_the_first_call": six_clocks.with_the_first_call(fresh, synchronize),
        "events": six_clocks.events_around_a_launch(call),
        "benchmark": benchmark(call, n_repeat=50, n_warmup=5).gpu_times[0].tolist(),
        "behind_a_delay": six_clocks.behind_a_delay(call),
    }

# %%
# In a table, in microseconds:

facts = {}
print(f"{'clock':24}{'65 536':>12}{'2**26':>12}")
for clock in answers["small"]:
    medians = []
    for size in ("small", "large"):
        samples = answers[size][clock]
        name = f"{size}_{clock}"
        facts[name] = gg.fact(name, float(np.median(samples)), unit="s", samples=samples)
        medians.append(facts[name].value * 1e6)
    print(f"{clock:24}{medians[0]:12.1f}{medians[1]:12.1f}")

# %%
# .. checks:: add_one
#
# The longer the line between its two sizes, the larger the share of the work in a clock's figure.

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.marks import draw_ranges
from gpuguide.charts.style import MUTED, SERIES, describe

clocks = [name.removeprefix("small_") for name in facts if name.startswith("small_")]
words = {"events": "events around a launch", "benchmark": "CuPy's benchmark"}
medians = {
    words.get(clock, clock.replace("_", " ")): [
        facts[f"{size}_{clock}"].value * 1e6 for size in ("small", "large")
    ]
    for clock in clocks
}
figure, ax = plt.subplots()
for row, ends in enumerate(medians.values()):
    ax.plot(ends, [row, row], color=MUTED, linewidth=1)
small, large = zip(*medians.values(), strict=True)
rows = range(len(medians))
ax.plot(small, rows, "o", color=SERIES[0], markersize=9, label="65 536 numbers")
ax.plot(large, rows, "s", color=SERIES[1], label="67 108 864 numbers")
ax.set(xscale="log", xlabel="time a call, median", yticks=rows, yticklabels=medians)
ax.set_xticks([1, 10, 100, 1e3, 1e4], ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"])
ax.invert_yaxis()
for size, colour in (("small", SERIES[0]), ("large", SERIES[1])):
    times = [facts[f"{size}_{clock}"] for clock in clocks]
    ranges = [(row, time, colour) for row, time in enumerate(times)]
    draw_ranges(ax, ranges, along="x", scale=1e6)
ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
shown = [f"{facts[f'small_{c}'].shown} and {facts[f'large_{c}'].shown}" for c in clocks]
words = map(" ".join, zip(medians, shown, strict=True))
describe(ax, f"Six clocks, time a call at two sizes, logarithmic: {'; '.join(words)}.")

# %%
# .. finding::
#
#    Without synchronising, the clock says :measured:`small_without_synchronising` for the small vector and
#    :measured:`large_without_synchronising` for the large one. Behind a delay it says
#    :measured:`small_behind_a_delay` and :measured:`large_behind_a_delay`. With the first call, both sizes
#    show the compiler.
#
# The second chart is the study, by the guide's own clocks: the kernel without its launch, beside NumPy and
# the kernel with pageable copies.

# draw
ax = gg.plot_time(
    results, variants=["numpy", "numba", "with_copies"], crossover=("numpy", "numba")
)
_ = ax.set_xlim(left=2**5.5)  # room for the words about the crossover

# %%
# .. finding::
#
#    :term:`Kernel only <kernel only>`, the GPU overtakes NumPy for good
#    :measured:`add_one.crossover(numpy, numba)`.
#    For 2\ :sup:`26` numbers it needs :measured:`add_one[with_copies, 2**26].time` with pageable copies,
#    :measured:`add_one[with_copies_pinned, 2**26].time` with pinned ones, and
#    :measured:`add_one[numba, 2**26].time` for the kernel alone. NumPy, which copies nothing, needs
#    :measured:`add_one[numpy, 2**26].time`, and the whole CPU :measured:`add_one[threads, 2**26].time`.
#
# .. results:: add_one
#
# .. results:: qr

# %%
# .. rst-class:: part-reading
#
# One question for each clock
# ---------------------------
#
# *How fast can Python launch?* Read the clock without waiting, over many calls. For the small vector that is
# :measured:`small_without_synchronising`, for the large one :measured:`large_without_synchronising`. The work
# grows by far more than that, and this clock does not see it.
#
# *How long does the user wait?* Read the clock after synchronising. At 65 536 numbers this gives
# :measured:`small_with_synchronising`, most of it launch.
#
# *How long does the GPU work?* Use events, but behind a delay. Around the bare launch they say
# :measured:`small_events`, CuPy's benchmark says :measured:`small_benchmark`, and behind the delay
# :measured:`small_behind_a_delay` is left. For the large vector the launch still shows:
# :measured:`large_events` against :measured:`large_behind_a_delay`.
#
# *What does the first call cost?* Time it alone, and say so. Averaged over five calls, as here, it lifts the
# small figure to :measured:`small_with_the_first_call`, which is neither the first call nor a later one.
#
# .. list-table:: Growth from 65 536 numbers to 2\ :sup:`26`
#    :header-rows: 1
#
#    * -
#      - predicted
#      - measured
#    * - without synchronising
#      - hardly any
#      - from :measured:`small_without_synchronising` to :measured:`large_without_synchronising`
#    * - behind a delay
#      - with the numbers
#      - from :measured:`small_behind_a_delay` to :measured:`large_behind_a_delay`
#
# QR keeps the GPU busy for longer. NumPy takes :measured:`qr[numpy, 512**2].time` on the whole CPU and CuPy
# :measured:`qr[cupy, 512**2].time`, which makes CuPy :measured:`qr[cupy, 512**2].speedup(numpy)` as fast on
# this machine. An introduction to CuPy that waits for the device found :claimed:`s3_qr_cpu` and
# :claimed:`s3_qr_gpu` on another one.

# %%
# Does the guide's clock agree with those of others? Where they measure the same thing, it must. It is held
# against CuPy's benchmark, Triton's and NVIDIA's nvbench, each in its own mode: :term:`warm`, :term:`cold`
# with the cache emptied by the same means on both sides, or many launches in one graph. The work takes what
# ``about`` names. How far our figure lies above or below the peer's stands under ``apart``, and how far it
# may lie under ``wanted``. CuPy's figure of a short kernel holds a part of the launch. So it may lie above
# ours, if the time that CuPy needs to launch, ``launch us``, accounts for the difference.

from gpuguide.topics.how_to_time.peers import agreement

print(agreement())

# %%
# .. rst-class:: part-wrong
#
# Wrong on purpose: time booked on the wrong step
# -----------------------------------------------
#
# A program has steps, and one wants to know which of them takes the time. A timer for that lets steps have
# names, and adds up the times of each name. The one below is found in teaching material. It waits for the
# device, but it books each time on the name that was *created* last. As long as every name is used once, this
# is the right one. When a name comes back, its time goes elsewhere.
#
# Here are three steps to be timed, of which the first and the last have the same name.

host = np.random.default_rng(0).random(2**24)
result = np.empty_like(host)


def three_steps(step, there="copy", back="copy"):
    with step(there):
        device = cp.asarray(host)
    with step("work"):
        device.sort()
    with step(back):
        device.get(out=result)


# %%
# When the copy back ends, the name created last is ``work``.


# wrong: the time of a name that comes back is booked on the name created last
class LastNameTimer:
    def __init__(self):
        self.seconds = {}

    def __call__(self, name):
        self.seconds.setdefault(name, 0.0)
        return self

    def __enter__(self):
        self.start = perf_counter()

    def __exit__(self, *_):
        synchronize()
        self.seconds[list(self.seconds)[-1]] += perf_counter() - self.start


three_steps(LastNameTimer())  # the first run compiles and allocates
wrong = LastNameTimer()
three_steps(wrong)
print(
    "wrong:", {name: f"{seconds * 1e3:.1f} ms" for name, seconds in wrong.seconds.items()}
)

# %%
# The right timer keeps a stack of the steps that are open. It waits for the device where a step begins and
# where it ends, and books the time between on the innermost open step.
#
# .. kernel:: gpuguide.measure.step_timer
#    :names: StepTimer
#
# It times the same three steps, first with the name that comes back, then with a name for each, so that the
# parts of the wrong figure are known. The two timers take turns: copies of ordinary host memory are fast in
# one moment and slow in another, and both should see the same moments. ``whole_turns`` takes a turn again
# when :doc:`others used the processor </method>` meanwhile.

from gpuguide.measure.step_timer import StepTimer
from gpuguide.measure.turns import whole_turns

right = StepTimer(synchronize)
three_steps(right.step)
print(
    "right:", {name: f"{seconds * 1e3:.1f} ms" for name, seconds in right.seconds.items()}
)


def both_timers():
    wrong, apart = LastNameTimer(), StepTimer(synchronize)
    three_steps(wrong)
    three_steps(apart.step, there="copy there", back="copy back")
    return {
        "wrong_work": wrong.seconds["work"],
        "step_work": apart.seconds["work"],
        "step_copy_back": apart.seconds["copy back"],
    }


for key, samples in whole_turns(both_timers, 10).items():
    facts[key] = gg.fact(key, float(np.median(samples)), unit="s", samples=samples)

# %%

# draw
parts = [facts["step_work"].value, facts["step_copy_back"].value]
_ = gg.explained("wrong_explained", parts, facts["wrong_work"].value)

# %%
# The bar of the wrong timer, and what it is made of:

# draw
gg.plot_decomposition(
    {
        "wrong timer: work": {"booked on work": facts["wrong_work"]},
        "timed apart": {
            "work": facts["step_work"],
            "copy back": facts["step_copy_back"],
        },
    }
)

# %%
# .. finding::
#
#    The wrong timer books :measured:`wrong_work` on the work. The work takes :measured:`step_work`, and the
#    copy back to pageable memory :measured:`step_copy_back`. The two explain :measured:`wrong_explained` of
#    the figure.

# %%
# .. rst-class:: part-when-not-to
#
# When a stopwatch is enough
# --------------------------
#
# Waiting for the device has a price. It empties the queue, and a program that waits after every step no
# longer works on host and device at the same time. So a step timer belongs in an investigation and not in
# the program.
#
# For a whole program that reads a file and writes another, the host's clock around everything is right. It
# may even say that the GPU is not needed. At 2\ :sup:`26` numbers adding one takes
# :measured:`add_one[with_copies_pinned, 2**26].time` with pinned copies there and back, and the whole CPU
# does it in :measured:`add_one[threads, 2**26].time` without leaving the host.

# %%
# .. rst-class:: part-on-your-gpu
#
# Your CPU decides about the launch
# ---------------------------------
#
# The launch depends on your CPU and on Python, and so does every figure that contains it. The work depends on
# the memory of the GPU. On a slower GPU the work outgrows the launch at a smaller size. From there on a
# clock that waits is nearly right; one that does not wait is wrong at every size.
#
# ``gpuguide run how_to_time`` measures the two studies on your machine.

# %%
# .. rst-class:: part-your-turn
#
# Mend a benchmark
# ----------------
#
# The benchmark below does not wait, counts the first call, and has two more faults. Mend it until it measures
# the work and nothing but the work. The check runs it on simulated machines, whose true times are known, so
# it needs no GPU.
#
# .. exercise:: lying_benchmark
#
# .. question:: How do you find out whether a clock saw the work or only the launch?
#
#    Call the function on ten times as much data, and on a hundred times as much. A launch puts a few
#    addresses and numbers into a queue, whatever they stand for, so a clock whose answer hardly changes has
#    seen a launch. Try it with a function of yours and the five clocks above.
#
# .. question:: Is it enough to wait for the device before the clock is stopped?
#
#    No. Work may still be in the queue when the clock is started, and it would be counted as well. So wait
#    before the start, too. And call the function once before that, or the figure contains the compiler.

# %%
# .. rst-class:: part-next
#
# From clocks to limits
# ---------------------
#
# Onward: :doc:`Know your GPU </gallery/measuring/know_your_gpu>` measures what the memory can do, with the
# right clock, and :doc:`Benchmark well </gallery/measuring/benchmark_well>` brings what is timed into the
# right state. Sideways: :doc:`Launch overhead </gallery/first_kernels/launch_overhead>` shows what a launch
# is made of, and :doc:`First kernel </gallery/first_kernels/first_kernel>` what a first call is made of. Used
# here: :class:`gpuguide.Study`, :func:`gpuguide.fact`, :func:`gpuguide.claim`.
