"""
Time a GPU: wait, then stop the clock
=====================================

Which clock says how long your GPU code takes?
"""
# %%
# Wait for the GPU before you start the clock, and again before you stop it. A clock that does not wait sees
# only the launch: for a kernel on 2\ :sup:`26` numbers it says :measured:`not_waiting`, while the work takes
# :measured:`waiting`.
#
# .. headline:: A clock that does not wait shows the same time for any amount of work
#
# .. drawn:: how_to_time
#
#     import matplotlib.pyplot as plt
#
#     from gpuguide.charts.style import KERNELS, describe
#
#     sizes, (launch, waited) = arrays["curve_sizes"], 1e6 * arrays["curves"].T
#     figure, ax = plt.subplots(figsize=(7.2, 3.2))
#     for times, colour, words, place in (
#         (waited, KERNELS[0], "the clock waits", (-14, -4)),
#         (launch, KERNELS[1], "it does not", (0, 8)),
#     ):
#         ax.plot(sizes, times, "o-", color=colour)
#         ax.annotate(words, (sizes[-1], times[-1]), place, textcoords="offset points",
#                     color=colour, ha="right")
#     ax.set_xscale("log", base=2)
#     ax.set(xlabel="numbers", ylabel="time (µs)", ylim=(0, 1.1 * max(waited)))
#     describe(ax, f"Time of one call against numbers: a clock that waits goes from {waited[0]:.0f} to "
#              f"{waited[-1]:.0f} microseconds, one that does not from {launch[0]:.0f} to {launch[-1]:.0f}.")

# %%
# Wait, time, wait: four lines around the call
# --------------------------------------------
#
# Put your own work into ``call``, whether CuPy or a :term:`kernel` does it. Its first call compiles, so it is
# made before the clock starts.

from time import perf_counter

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def add_one(x, out):
    """Each thread adds one to its element."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1.0


x = cp.arange(2**26, dtype=float)
out = cp.zeros_like(x)
views = cuda.as_cuda_array(x), cuda.as_cuda_array(out)  # made once, outside the clock


def call():
    add_one[(x.size + 255) // 256, 256](*views)


call()  # the first call compiles, so it is not timed

cp.cuda.Device().synchronize()
begin = perf_counter()
call()
cp.cuda.Device().synchronize()
taken = perf_counter() - begin

print(f"{taken * 1e6:.0f} us for {out[:4]}")

# %%
# .. try-it::
#
#    Leave out the second ``synchronize()``: the time falls to that of the launch. Then write ``2**24``, with
#    the line and without it. A time that does not shrink with the data is the time of a launch.
#
# One reading is not enough, since other programs may hold up the host at any moment. Time the call twenty
# times, take the median, and look at the range: it says how far you can trust the median.


def time_call(call, repeat=20):
    """Return the seconds of each call, from the launch until the GPU is done."""
    call()  # compiles, and is not timed
    samples = []
    for _ in range(repeat):
        cp.cuda.Device().synchronize()
        begin = perf_counter()
        call()
        cp.cuda.Device().synchronize()
        samples.append(perf_counter() - begin)
    return samples


us = np.array(time_call(call)) * 1e6
print(f"median {np.median(us):.0f} us, from {us.min():.0f} to {us.max():.0f} us")

# %%
# Which clock to use
# ------------------
#
# **Time a program with these four lines, and a kernel with** ``gg.benchmark(call)``. Without this package,
# take ``cupyx.profiler.benchmark``, which is right for a kernel that runs for :rule:`1 ms` or longer. For a
# short kernel the choice matters most: four clocks give four times, and each answers a question of its own.
#
# .. list-table:: Four clocks for one kernel
#    :header-rows: 1
#
#    * - clock
#      - 2\ :sup:`16` numbers
#      - 2\ :sup:`26` numbers
#      - right for
#    * - wait, time, wait
#      - :measured:`small_end_to_end`
#      - :measured:`large_end_to_end`
#      - what a user waits for
#    * - two :term:`CUDA events <event>` around the launch
#      - :measured:`small_events`
#      - :measured:`large_events`
#      - long work on the GPU
#    * - the events behind a :term:`delay <delay kernel>`
#      - :measured:`small_gpu`
#      - :measured:`large_gpu`
#      - one kernel
#    * - many calls in a :term:`CUDA graph`
#      - :measured:`add_one[add_one, 65536].time`
#      - :measured:`add_one[add_one, 2**26].time`
#      - one of many short kernels
#
# ``gg.benchmark`` takes the clocks that fit, repeats until the samples agree, and prints a floor beside each:
# the time of an empty kernel. *Device* is the kernel alone, *end to end* is wait, time, wait, and the last
# column says how many samples were taken, of how many calls each. It takes any function, as in
# ``gg.benchmark(cp.linalg.qr, matrix)``, and does not check results.

import gpuguide as gg
from cupyx.profiler import benchmark

timed = benchmark(call, n_repeat=20)
print(f"cupyx.profiler: {np.median(timed.gpu_times) * 1e6:.0f} us on the GPU\n")
print(gg.benchmark(call))

# %%
# Without synchronising, a clock sees the launch
# ----------------------------------------------
#
# A kernel launch is :term:`asynchronous`. Python puts a request into a queue, the :term:`stream`, and goes on
# while the GPU works through the queue in its own time. To wait until the queue is empty is to
# :term:`synchronise`.
#
# .. headline:: Python is free long before the kernel ends
#
# .. drawing:: how_to_time
#
#     Two lanes of time. On the host lane a launch, then time free for other work, then waiting. On the device
#     lane the kernel starts after the launch and ends when the host has waited. Reading the clock without
#     waiting spans the launch only.
#
# In a longer program the missing time does not vanish. It lands on a later line, which then gets the blame.

# wrong: no clock waits, so the time of the products lands on the line after them
a = cp.ones((2048, 2048), dtype=cp.float32)
product = cp.empty_like(a)


def eight_products():
    for _ in range(8):
        cp.matmul(a, a, out=product)


eight_products()  # the first call loads a library
cp.cuda.Device().synchronize()

begin = perf_counter()
eight_products()
queued = perf_counter()
corner = float(product[0, 0])
fetched = perf_counter()
print(f"eight products  {(queued - begin) * 1e3:6.2f} ms")
print(f"one number back {(fetched - queued) * 1e3:6.2f} ms")

# %%
# The products seem to take :measured:`plain_products`, and fetching one number :measured:`plain_fetch`, as
# ``float`` has to wait until all eight products are done. The cure is to wait at the end of every step.

# %%
# A timer for the named steps of a program
# ----------------------------------------
#
# This timer waits where a step begins and where it ends. If a name is used again, its times are added up.

from contextlib import contextmanager

seconds = {}


@contextmanager
def step(name):
    cp.cuda.Device().synchronize()
    begin = perf_counter()
    yield
    cp.cuda.Device().synchronize()
    seconds[name] = seconds.get(name, 0.0) + perf_counter() - begin


with step("eight products"):
    eight_products()
with step("one number back"):
    corner = float(product[0, 0])

for name, total in seconds.items():
    print(f"{name:15} {total * 1e3:6.2f} ms")

# %%
# Now each line has its own time: :measured:`step_products` for the products, :measured:`step_fetch` for the
# number. But host and GPU no longer work at the same time, so take the timer out again when you have your
# answer.

# %%
# Keep compilation out of the clock
# ---------------------------------
#
# Make one call before the clock starts. Numba compiles a kernel when it is called for the first time, and if
# that call is among those that are timed, their mean is right for none of them.

# wrong: the first of the five calls compiles
new_kernel = cuda.jit(add_one.py_func)  # one that was never called
times = []
for _ in range(5):
    begin = perf_counter()
    new_kernel[(x.size + 255) // 256, 256](*views)
    cp.cuda.Device().synchronize()
    times.append((perf_counter() - begin) * 1e3)

print("five calls:", ", ".join(f"{ms:.2f}" for ms in times), "ms")
print(f"their mean: {np.mean(times):.2f} ms")

# %%
# If the first call is what you want to know, time it alone in a fresh process, as
# :doc:`First kernel </gallery/first_kernels/first_kernel>` does.

# %%
# A short kernel: events behind a delay
# -------------------------------------
#
# Take ``gg.benchmark``, which works like this. A :term:`CUDA event <event>` is a mark in the stream, at which
# the GPU itself notes the time. Around a bare launch, the GPU reaches the first mark at once, and then waits
# while Python still prepares the launch. A :term:`delay kernel` in front, which only spins, keeps the GPU
# busy until everything is queued.

# fold: Two events, with or without a delay before them
spin_source = r"""
extern "C" __global__ void spin() {  // keeps the GPU busy for a million clock cycles
    for (long long start = clock64(); clock64() - start < 1000000;);
}"""
spin = cp.RawKernel(spin_source, "spin")


def between_events(call, delay):
    """Return the seconds between two events around a call, with or without a delay before them."""
    stream = cp.cuda.get_current_stream()
    stream.synchronize()
    if delay:
        spin((1,), (1,), ())  # meanwhile the host queues the rest
    start = stream.record()
    call()
    stop = stream.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1000  # from milliseconds


short_views = [view[:65_536] for view in views]


def short_call():
    add_one[256, 256](*short_views)


for delay in (False, True):
    us = [between_events(short_call, delay) * 1e6 for _ in range(20)]
    print(f"{'with' if delay else 'without'} a delay: {np.median(us):.1f} us")

# %%

# record: Two studies, and each clock fifty times at two sizes
from functools import partial

from gpuguide.measure.timing import time_device
from gpuguide.measure.turns import gpu_clock, whole_turns
from gpuguide.topics.how_to_time import study as how_to_time
from gpuguide.topics.how_to_time.kernels import nothing

results = how_to_time.add_one.run()
qr = how_to_time.qr.run(sizes=(512**2,))


def host_clocks(call):
    cp.cuda.Device().synchronize()
    begin = perf_counter()
    call()
    launched = perf_counter()
    cp.cuda.Device().synchronize()
    return {"launch": launched - begin, "end_to_end": perf_counter() - begin}


def one_turn(full, empty):
    return {
        **host_clocks(full),
        "events": between_events(full, delay=False),
        "gpu": between_events(full, delay=True),
        "gpu_nothing": between_events(empty, delay=True),
    }


def first_five_of(n, arrays):
    kernel = cuda.jit(add_one.py_func)  # a kernel that was never called
    cp.cuda.Device().synchronize()
    begin = perf_counter()
    for _ in range(5):
        kernel[n // 256, 256](*arrays)
    cp.cuda.Device().synchronize()
    return (perf_counter() - begin) / 5


def floor_of(n, arrays, **options):
    def empty():  # with the grid in it, so that the launch goes to the clock's stream
        nothing[n // 256, 256](*arrays)

    return time_device(empty, gpu_clock(), **options).seconds


def part(n):
    return [view[:n] for view in views]


for size, n in (("small", 2**16), ("large", 2**26)):
    arrays = part(n)
    full, empty = (
        partial(kernel[n // 256, 256], *arrays) for kernel in (add_one, nothing)
    )
    clocks = whole_turns(lambda full=full, empty=empty: one_turn(full, empty), 50)
    clocks["first_five"] = [first_five_of(n, arrays) for _ in range(5)]
    clocks["benchmark"] = (
        benchmark(full, name="add_one", n_repeat=50).gpu_times[0].tolist()
    )
    clocks["floor"] = floor_of(n, arrays)
    for clock, samples in clocks.items():
        gg.fact(f"{size}_{clock}", float(np.median(samples)), unit="s", samples=samples)

floors = [np.median(floor_of(n, part(n), n_samples=20)) for n in how_to_time.SIZES]
_ = gg.keep("floors", floors)

curve_sizes = 2 ** np.arange(16, 27, 2)
curves = []
for n in curve_sizes.tolist():
    full = partial(add_one[n // 256, 256], *part(n))
    clocks = whole_turns(lambda full=full: host_clocks(full), 20)
    curves.append([np.median(clocks["launch"]), np.median(clocks["end_to_end"])])
_ = gg.keep("curve_sizes", curve_sizes)
_ = gg.keep("curves", curves)

# %%


# record: Eight products and the line after them, by both timers
def both_ways():
    cp.cuda.Device().synchronize()
    begin = perf_counter()
    eight_products()
    queued = perf_counter()
    float(product[0, 0])
    fetched = perf_counter()
    seconds.clear()
    with step("products"):
        eight_products()
    with step("fetch"):
        float(product[0, 0])
    return {
        "plain_products": queued - begin,
        "plain_fetch": fetched - queued,
        "step_products": seconds["products"],
        "step_fetch": seconds["fetch"],
    }


for name, samples in whole_turns(both_ways, 20).items():
    gg.fact(name, float(np.median(samples)), unit="s", samples=samples)

# %%


# record: A timer that adds time to the wrong step
class LastNameTimer:
    def __init__(self):
        self.seconds = {}

    def __call__(self, name):
        self.seconds.setdefault(name, 0.0)
        return self

    def __enter__(self):
        self.begin = perf_counter()

    def __exit__(self, *_):
        cp.cuda.Device().synchronize()
        # The name that was created last, which is not always that of the step.
        self.seconds[list(self.seconds)[-1]] += perf_counter() - self.begin


def three_steps(step, there="copy", back="copy"):
    with step(there):
        device = cp.asarray(host)
    with step("sort"):
        device.sort()
    with step(back):
        device.get(out=result)


def both_timers():
    seconds.clear()
    wrong = LastNameTimer()
    three_steps(wrong)
    three_steps(step, there="copy_there", back="copy_back")
    names = ("sort", "copy_there", "copy_back")
    return {
        "wrong_sort": wrong.seconds["sort"],
        **{f"step_{name}": seconds[name] for name in names},
    }


host = np.random.default_rng(0).random(2**24)
result = np.empty_like(host)
timed = whole_turns(both_timers, 10)
timed["step_copy"] = [
    sum(pair)
    for pair in zip(timed["step_copy_there"], timed["step_copy_back"], strict=True)
]
for name, samples in timed.items():
    gg.fact(name, float(np.median(samples)), unit="s", samples=samples)

# %%

# record: What calms the host: the same launches, with each of the usual remedies
from gpuguide.machine.host import clock_source
from gpuguide.topics.how_to_time import host as host_remedies

launches = host_remedies.launches(short_call, cp.cuda.Device().synchronize, 21)
reads = host_remedies.reads(21)
for name, samples in {**launches, **reads}.items():
    gg.fact(f"host_{name}", float(np.median(samples)), unit="s", samples=samples)
gg.fact("host_clock_source", clock_source() or "unknown", unit="text")
if (defences := host_remedies.defences()) is not None:
    gg.fact("host_defences", defences, unit="1")

# %%
# For 2\ :sup:`16` numbers the launch is part of the time without the delay: :measured:`small_events` instead
# of :measured:`small_gpu`. ``cupyx.profiler.benchmark`` has no delay either and says
# :measured:`small_benchmark`. For work of :rule:`1 ms` or more that hardly matters.

# %%
# The floor: a kernel that does nothing takes time
# ------------------------------------------------
#
# If your time is close to that of an empty kernel, the floor, it says little about your code. Time more data,
# or name the floor beside it. For 2\ :sup:`16` numbers an empty kernel on the same grid takes
# :measured:`small_gpu_nothing` behind a delay, and ``add_one`` :measured:`small_gpu`. With many calls in one
# :term:`CUDA graph` it is :measured:`small_floor` and :measured:`add_one[add_one, 65536].time`: a kernel has
# two right times, one alone and one among many.
#
# .. headline:: With little data, you mostly time an empty kernel

# draw
from gpuguide.charts.style import MUTED, describe

small = results.time("add_one", 65536)
gg.fact(
    "floor_share",
    facts["small_floor"].value / small.value,
    unit="share",
    note="empty kernel / add_one, both in a graph",
)
ax = gg.plot_time(results)
sizes, floors = results.sizes, arrays["floors"]
floor = ax.plot(
    sizes, floors, "--", color=MUTED, label="an empty kernel on the same grid"
)
ax.legend(handles=floor, loc="upper left")
first, last = results.time("add_one", sizes[0]), results.time("add_one", sizes[-1])
describe(
    ax,
    f"Time against elements, both logarithmic: add_one from {first} at {sizes[0]} to {last} at "
    f"{sizes[-1]}; an empty kernel on the same grid from {1e6 * floors[0]:.2g} to "
    f"{1e6 * floors[-1]:.0f} microseconds.",
)

# %%
# .. dropdown:: Do not subtract the floor
#
#    For 2\ :sup:`26` numbers the empty kernel has to start 262 144 blocks and takes :measured:`large_floor`,
#    ``add_one`` :measured:`add_one[add_one, 2**26].time`. But ``add_one`` reaches
#    :measured:`add_one[add_one, 2**26].share` of what the memory can do. It could not if the time of the
#    empty kernel came on top of reading and writing: most blocks start while others work.
#    :doc:`How we measure </method>` says when the guide uses a graph.

# %%
# .. remember::
#
#    - Call ``cp.cuda.Device().synchronize()`` before you start the clock and before you stop it. Without it,
#      a kernel of :measured:`waiting` seems to take :measured:`not_waiting`.
#    - Time a kernel with ``gg.benchmark(call)``, and distrust a time close to the floor beside it, which is
#      that of an empty kernel.

# %%
# Your turn: mend a benchmark
# ---------------------------
#
# .. exercise:: lying_benchmark

# draw
for name, seconds in zip(("not_waiting", "waiting"), arrays["curves"][-1], strict=True):
    gg.fact(name, float(seconds), unit="s", note="median of twenty, 2^26 numbers")
gg.claim(qr, "cupy", faster_than="numpy", at=512**2, by=5)
gg.claim(results, "add_one", share_at_least=0.8, at=2**26)
for name in ("collector_off", "pinned", "warmed", "all_three"):
    ratio = facts[f"host_{name}"].value / facts["host_plain"].value
    gg.fact(f"host_{name}_ratio", ratio, unit="ratio", note="launch with / without it")

# %%

# thumbnail
from gpuguide.charts import thumbnail
from gpuguide.charts.style import KERNEL, MUTED

launch, waited = arrays["curves"].T
sides = {"no wait": launch, "waits": waited}
curves = {label: (arrays["curve_sizes"], times) for label, times in sides.items()}
_ = thumbnail.lines(curves, "time shown, by how much work", [MUTED, KERNEL])

# %%
# Next
# ----
#
# Next: :doc:`Know the limits of your GPU </gallery/measuring/know_your_gpu>`, on how fast a kernel can be at
# best. See also: :doc:`Many short kernels </gallery/first_kernels/launch_overhead>`, which takes the launch
# apart.
