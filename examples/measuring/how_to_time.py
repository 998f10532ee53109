"""
How to time a GPU
=================

Why do six clocks give six times for one kernel, and which one should you use?
"""
# %%
# Wait for the GPU before you stop the clock. For one kernel on 2\ :sup:`26` numbers a clock on the host shows
# :measured:`large_end_to_end` if it waits for the GPU, and :measured:`large_launch` if it does not: that is
# the launch alone. The kernel itself takes :measured:`large_gpu`.

# %%
# .. csv-table:: One kernel, six clocks
#    :header: clock | 65 536 numbers | 2\ :sup:`26` numbers | use it for
#    :delim: |
#
#    host, without waiting|:measured:`small_launch`|:measured:`large_launch`|the cost of a launch
#    host, after waiting|:measured:`small_end_to_end`|:measured:`large_end_to_end`|what a user waits for
#    host, the first five calls|:measured:`small_first_five`|:measured:`large_first_five`|nothing
#    events around a launch|:measured:`small_events`|:measured:`large_events`|work far longer than its launch
#    events behind a delay|:measured:`small_gpu`|:measured:`large_gpu`|one kernel
#    many calls in a graph|:measured:`add_one[add_one, 65536].time`|as above|short kernels

# %%
# Launch, GPU and end-to-end time in one function
# -----------------------------------------------
#
# ``time_once`` reads three of these clocks. To time your own work, put it in the place of ``call``.

from time import perf_counter

import cupy as cp
import numpy as np
from numba import cuda

spin_source = r"""
extern "C" __global__ void spin() {  // keeps the GPU busy for a million clock cycles
    for (long long start = clock64(); clock64() - start < 1000000;);
}"""
spin = cp.RawKernel(spin_source, "spin")


def time_once(call):
    """Return what three clocks say of one call, in seconds."""
    stream = cp.cuda.get_current_stream()
    stream.synchronize()
    begin = perf_counter()
    call()
    launched = perf_counter()
    stream.synchronize()
    finished = perf_counter()

    spin((1,), (1,), ())  # meanwhile the host queues the rest
    start = stream.record()
    call()
    stop = stream.record()
    stop.synchronize()
    gpu = cp.cuda.get_elapsed_time(start, stop) / 1000  # from milliseconds
    return {"launch": launched - begin, "end_to_end": finished - begin, "gpu": gpu}


@cuda.jit
def add_one(x, out):
    """Each thread adds one to its element."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1.0


x, out = cp.arange(65_536.0), cp.zeros(65_536)
views = cuda.as_cuda_array(x), cuda.as_cuda_array(out)  # made once, outside the clock


def call():
    add_one[(x.size + 255) // 256, 256](*views)


call()  # the first call compiles
samples = [time_once(call) for _ in range(20)]
print("GPU:", out[:4], "  NumPy:", np.arange(4.0) + 1)
for clock in ("launch", "end_to_end", "gpu"):
    times = [sample[clock] * 1e6 for sample in samples]
    print(
        f"{clock:12}{np.median(times):8.1f} us, from {min(times):.1f} to {max(times):.1f}"
    )

# %%
# .. try-it::
#
#    Make the vectors longer: ``x, out = cp.arange(2.0**26), cp.zeros(2**26)``. The launch takes about as
#    long as before, and the two other times grow. A clock whose answer does not grow with the data has seen
#    a launch.
#
# Take many samples, and look at their median. The host may be held up at any moment. If that lasts longer
# than the spinning, the launch lies between the events after all.

# %%

# record: Two studies, and each clock fifty times at two sizes
from functools import partial

import gpuguide as gg
from cupyx.profiler import benchmark
from gpuguide.measure.timing import time_device
from gpuguide.measure.turns import gpu_clock, whole_turns
from gpuguide.topics.how_to_time import study as how_to_time
from gpuguide.topics.how_to_time.kernels import nothing

results = how_to_time.add_one.run()
qr = how_to_time.qr.run(sizes=(512**2,))


def events_around_a_launch(call):
    stream = cp.cuda.get_current_stream()
    stream.synchronize()
    start = stream.record()
    call()
    stop = stream.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1000


def first_five_of(n, arrays):
    kernel = cuda.jit(add_one.py_func)  # a kernel that was never called
    cp.cuda.Device().synchronize()
    begin = perf_counter()
    for _ in range(5):
        kernel[n // 256, 256](*arrays)
    cp.cuda.Device().synchronize()
    return (perf_counter() - begin) / 5


def one_turn(full, empty):
    bare = {
        "events": events_around_a_launch(full),
        "gpu_nothing": time_once(empty)["gpu"],
    }
    return {**time_once(full), **bare}


def floor_of(n, arrays, **options):
    views = [x[:n] for x in arrays]

    def empty():  # with the grid in it, so that the launch goes to the clock's stream
        nothing[n // 256, 256](*views)

    return time_device(empty, gpu_clock(), **options).seconds


for size, n in (("small", 2**16), ("large", 2**26)):
    arrays = [gg.numba_view(each) for each in (cp.arange(float(n)), cp.zeros(n))]
    full, empty = (
        partial(kernel[n // 256, 256], *arrays) for kernel in (add_one, nothing)
    )
    clocks = whole_turns(lambda full=full, empty=empty: one_turn(full, empty), 50)
    clocks["first_five"] = [first_five_of(n, arrays) for _ in range(5)]
    clocks["benchmark"] = (
        benchmark(full, name="add_one", n_repeat=50).gpu_times[0].tolist()
    )
    clocks["floor"] = floor_of(n, arrays)
    for clock, seconds in clocks.items():
        gg.fact(f"{size}_{clock}", float(np.median(seconds)), unit="s", samples=seconds)

floors = [np.median(floor_of(n, arrays, n_samples=20)) for n in how_to_time.SIZES]
_ = gg.keep("floors", floors)

# %%

# record: What calms the host: the same launches, with each of the usual remedies
from gpuguide.machine.host import clock_source
from gpuguide.topics.how_to_time import host as host_remedies

launches = host_remedies.launches(call, cp.cuda.Device().synchronize, 21)
reads = host_remedies.reads(21)
for name, seconds in {**launches, **reads}.items():
    gg.fact(f"host_{name}", float(np.median(seconds)), unit="s", samples=seconds)
gg.fact("host_clock_source", clock_source() or "unknown", unit="text")
if (defences := host_remedies.defences()) is not None:
    gg.fact("host_defences", defences, unit="1")

# %%
# Without synchronising, a clock sees the launch
# ----------------------------------------------
#
# A kernel launch is :term:`asynchronous`. Python puts a request into a queue, the :term:`stream`, and goes
# on. The GPU works through the queue in its own time.
#
# .. drawing:: how_to_time
#
#     Two lanes of time. On the host lane a launch, then time free for other work, then waiting. On the device
#     lane the kernel starts after the launch and ends when the host has waited. Reading the clock without
#     waiting spans the launch only.
#
# For 2\ :sup:`26` numbers, a thousand times as many, the launch takes :measured:`large_launch`, much the same
# as the :measured:`small_launch` for the few. The work grows from :measured:`small_gpu` to
# :measured:`large_gpu`, and this clock sees nothing of that. So :term:`synchronise` before you stop the
# clock. Synchronise before you start it, too, or it also counts work that was queued earlier.
#
# Otherwise the blame falls on the wrong line. Put one plain clock around eight calls of ``cp.linalg.norm``,
# and another around the ``.get()`` that fetches the result: the norms seem to cost next to nothing, and
# ``.get()`` seems slow. But ``.get()`` waits for all the work that was queued before it. With
# ``cp.cuda.Device().synchronize()`` in between, each clock shows its own line.

# %%
# Keep compilation out of the clock
# ---------------------------------
#
# Numba compiles a kernel when it is called for the first time. An average over the first five calls is
# :measured:`small_first_five` for the small vector, which is neither the first call nor a later one. Make one
# call that is not timed. If the first call is what you want to know, time it alone, in a fresh process:
# :doc:`First kernel </gallery/first_kernels/first_kernel>` takes one apart.

# %%
# CUDA events around a short kernel see the launch, too
# -----------------------------------------------------
#
# The GPU itself notes the time when it reaches an :term:`event`. But around a bare launch it reaches the
# first event at once, and then waits for the kernel while Python still prepares the launch. The events say
# :measured:`small_events`. ``cupyx.profiler.benchmark`` works in this way, too, and says
# :measured:`small_benchmark`; both figures are mostly the launch, and move as launches do. Behind the
# spinning kernel, a :term:`delay kernel`, the host is ahead, and :measured:`small_gpu` is left.
#
# For the large vector the launch counts as well, but matters less beside the work: events say
# :measured:`large_events` around the bare launch and :measured:`large_gpu` behind the delay. Before rounding
# they differ by :measured:`events_apart`, about one launch.

# %%
# The floor: a kernel that does nothing takes time
# ------------------------------------------------
#
# Not all of what is left is work. Take a kernel with an empty body, and launch it on the same grid with the
# same arguments. Between two events behind a delay it takes :measured:`small_gpu_nothing`, where ``add_one``
# takes :measured:`small_gpu`. An event takes time itself, and so do the start and the end of a kernel.
#
# To lower this floor, put many calls into one :term:`CUDA graph`, start them together, and divide the time by
# their number. Now the empty kernel takes :measured:`small_floor`, and ``add_one``
# :measured:`add_one[add_one, 65536].time`. So a kernel has two right times, one alone and one among many. The
# guide uses a graph for short kernels; :doc:`How we measure </method>` has the details.

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
# .. finding::
#
#    At 65 536 numbers the empty kernel takes :measured:`floor_share` of the time of ``add_one``. At
#    2\ :sup:`26`, where it has to start 262 144 blocks, it takes :measured:`large_floor`, and ``add_one``
#    :measured:`add_one[add_one, 2**26].time`.
#
# A short time near the floor says little about the code. Time more data, or say what the floor is. But do not
# subtract it. At 2\ :sup:`26` ``add_one`` reaches :measured:`add_one[add_one, 2**26].share` of the memory's
# :term:`ceiling`. It could not, if the time of the empty kernel came on top of reading and writing. So most
# blocks start while others work.

# %%
# ``gg.benchmark`` times any call and shows the floor
# ---------------------------------------------------
#
# ``gg.benchmark`` is ``time_once`` with more care. It tries again when the host was late, puts short calls
# into a graph, and prints the floor of each clock, an empty kernel of one block. It launches many times in a
# row, and divides: a launch in a row takes less than a first one after waiting. It does not check results.

import gpuguide as gg

print(gg.benchmark(call))

# %%
# The QR factorisation of a 512 by 512 matrix keeps the GPU busy for longer. NumPy takes
# :measured:`qr[numpy, 512**2].time` on 16 virtual CPUs, CuPy :measured:`qr[cupy, 512**2].time` on the
# GPU. Queuing its many kernels takes long as well, but the GPU is at work meanwhile. So the time on the GPU
# and the time end to end are close.

print(gg.benchmark(cp.linalg.qr, cp.random.random((512, 512))))

# %%
# A timer for the named steps of a program
# ----------------------------------------
#
# A program has steps, and you want to know which of them takes the time. This timer synchronises where a step
# begins and where it ends. A name may be used again; its times are added up.

from contextlib import contextmanager

seconds = {}


@contextmanager
def step(name):
    cp.cuda.Device().synchronize()
    begin = perf_counter()
    yield
    cp.cuda.Device().synchronize()
    seconds[name] = seconds.get(name, 0.0) + perf_counter() - begin


def three_steps(step, there="copy", back="copy"):
    with step(there):
        device = cp.asarray(host)
    with step("sort"):
        device.sort()
    with step(back):
        device.get(out=result)


host = np.random.default_rng(0).random(2**24)
result = np.empty_like(host)
three_steps(step)  # compiles and allocates
seconds.clear()
three_steps(step)
print({name: f"{taken * 1e3:.1f} ms" for name, taken in seconds.items()})

# %%
# Sorting takes :measured:`step_sort`, and the two copies between the GPU and :term:`pageable memory`
# :measured:`step_copy`. Waiting has a price: a program that waits after every step no longer uses host and
# GPU at the same time. So take the timer out again when you have your answer.
#
# A timer that keeps one current name, instead of one name per ``with`` block, adds a time to the wrong step
# as soon as a name is used again.

# wrong, fold: A timer that adds time to the wrong step
from gpuguide.measure.turns import whole_turns


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


timed = whole_turns(both_timers, 10)
timed["step_copy"] = [
    sum(pair)
    for pair in zip(timed["step_copy_there"], timed["step_copy_back"], strict=True)
]
for name, taken in timed.items():
    gg.fact(name, float(np.median(taken)), unit="s", samples=taken)
print({name: f"{np.median(taken) * 1e3:.1f} ms" for name, taken in timed.items()})

# %%
# It shows :measured:`wrong_sort` for the sort, :measured:`wrong_ratio` what the sort takes: it adds the copy
# back to it.

# draw
gg.claim(qr, "cupy", faster_than="numpy", at=512**2, by=5)
gg.claim(results, "add_one", share_at_least=0.8, at=2**26)
for name in ("collector_off", "pinned", "warmed", "all_three"):
    ratio = facts[f"host_{name}"].value / facts["host_plain"].value
    gg.fact(f"host_{name}_ratio", ratio, unit="ratio", note="launch with / without it")
apart = facts["large_events"].value - facts["large_gpu"].value
gg.fact("events_apart", apart, unit="s", note="events around a launch - behind a delay")
ratio = facts["wrong_sort"].value / facts["step_sort"].value
gg.fact("wrong_ratio", ratio, unit="ratio", note="the wrong timer / the right one")
gg.explained(
    "waiting_explained",
    [facts["large_gpu"].value, facts["large_launch"].value],
    facts["large_end_to_end"].value,
)
gg.explained(
    "events_explained",
    [facts["large_gpu"].value, facts["large_launch"].value],
    facts["large_events"].value,
)
_ = gg.explained(
    "wrong_explained",
    [facts["step_sort"].value, facts["step_copy_back"].value],
    facts["wrong_sort"].value,
)

# %%
# Your turn: mend a benchmark
# ---------------------------
#
# .. exercise:: lying_benchmark

# %%
# Next
# ----
#
# Onward: :doc:`Know your GPU </gallery/measuring/know_your_gpu>` finds out how fast a kernel can be at best.
# Sideways: :doc:`Launch overhead </gallery/first_kernels/launch_overhead>` takes the launch apart.
