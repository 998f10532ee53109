"""
Benchmark well
==============

In which ways does a benchmark go wrong, and by how much?
"""
# %%
# A benchmark that does not wait for the GPU shows :measured:`no_wait_off` the right time, one that counts the
# first of ten calls :measured:`first_10_off`, one that starts from its own last result
# :measured:`left_over_off`. None of the eight mistakes on this page raises an error.

# %%
# .. csv-table:: Eight mistakes and, as number 5, a convention
#    :header: mistake | wrong / right | what decides how far off it is
#    :delim: |
#
#    1 nobody waits | :measured:`no_wait_off` | launch / work
#    2 the first of ten calls counts | :measured:`first_10_off` | 1 + compilation / (calls × call)
#    3 one reading, the slowest of 100 | :measured:`one_reading_off` | what else the host is doing
#    4 warm instead of cold | :measured:`warm_off` | how much of the data the cache holds
#    5 the cache was emptied by writing | :measured:`written_off` | what is left to write, we think
#    6 the data has changed | :measured:`left_over_off` | work that is left / work
#    7 the GPU has rested | :measured:`rested_off` | clock at work / clock after rest
#    8 zeros for data | :measured:`zeros_off` | the power limit
#    9 other work on the GPU, the slowest of 50 | :measured:`slowest_shared_off` | what the others do

# %%
# A GPU benchmark without any tools
# ---------------------------------
#
# ``prepare`` brings data and cache into the state in which your program will call. The spinning kernel keeps
# the GPU busy while the host queues what follows, so that no launch lies between the two events.

import cupy as cp
import numpy as np
from numba import cuda

spin_source = r"""
extern "C" __global__ void spin() {  // for a million clock cycles
    for (long long start = clock64(); clock64() - start < 1000000;);
}"""
spin = cp.RawKernel(spin_source, "spin")


def benchmark(call, prepare, n_samples=50):
    """Return samples of the GPU's time for one call, in seconds."""
    stream, samples = cp.cuda.get_current_stream(), []
    call()  # compiles, and is not timed
    for _ in range(n_samples):
        prepare()
        spin((1,), (1,), ())
        start = stream.record()
        call()
        stop = stream.record()
        stop.synchronize()
        samples.append(cp.cuda.get_elapsed_time(start, stop) / 1000)
    return samples


@cuda.jit
def larger(a, b, out):
    """Each thread takes the larger of its pair."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], b[i])


a, b = cp.random.random((2, 2**21), dtype=cp.float32)
out = cp.empty_like(a)
views = [cuda.as_cuda_array(each) for each in (a, b, out)]  # made once
other = cp.ones(2**28, dtype=cp.float32)  # much larger than the cache


def call():
    larger[(out.size + 255) // 256, 256](*views)


def read_other():
    other.sum()


right = benchmark(call, prepare=read_other)
print("GPU:", out[:3], "  NumPy:", np.maximum(a[:3].get(), b[:3].get()))
print(f"median {np.median(right) * 1e6:.1f} us", end=", ")
print(f"from {min(right) * 1e6:.1f} to {max(right) * 1e6:.1f} us")

# %%
# .. try-it::
#
#    Write ``prepare=call`` in the place of ``prepare=read_other``. The time falls: now the :term:`L2 cache`
#    holds the data from the call before. That is mistake 4, or the right question, if your program calls so.
#
# .. drawing:: benchmark_well
#
#     Steps in boxes. First a call that is not timed. Then, in a loop: put the data back, read other data,
#     start the clock, call, wait, stop the clock. The way back from the last step says many samples, and
#     their median. The numbers of six mistakes stand at the steps at which they are made: 2 at the call that
#     is not timed, 6 at the data, 4 and 5 at reading other data, 1 at waiting, 3 at the way back.
#
# The first six are made at a step of this loop. The last three are made around it.

# %%

# record: The studies
import gpuguide as gg
from gpuguide.topics.benchmark_well import study as benchmark_well
from gpuguide.topics.benchmark_well.kernels import newton

cold_results = benchmark_well.cold.run()
warm_results = benchmark_well.warm.run()
roots_results = benchmark_well.roots.run(sizes=(2**22,))

# %%
# Mistake 1: no synchronisation
# -----------------------------
#
# This clock stops when the kernel is queued, not when it is done.

from time import perf_counter

large = [cp.random.random(2**26, dtype=cp.float32) for _ in range(3)]
large = [cuda.as_cuda_array(each) for each in large]


def call_large():
    larger[(large[0].size + 255) // 256, 256](*large)


def without_waiting(call):
    begin = perf_counter()
    call()
    return perf_counter() - begin


call_large()
print(f"{without_waiting(call_large) * 1e6:.1f} us")

# %%
# The figure above is one reading, which is mistake 3. The median of many is :measured:`no_wait`; the kernel
# takes :measured:`cold[larger, 2**26].time` for these 2\ :sup:`26` pairs. The launch alone accounts for
# :measured:`no_wait_explained` of the wrong figure. So the factor is launch / work, and the error goes both
# ways: for 2\ :sup:`21` pairs the same clock shows :measured:`small_no_wait_off` the right time.
#
# One check needs no clock. Each pair moves twelve bytes, and at the physical peak of the memory all of them
# take :measured:`least`. The cache can save little of that, since it holds far less than these vectors. A
# time well below this bound is wrong.

# %%
# Mistake 2: compilation inside the clock
# ---------------------------------------
#
# This clock waits, but the first of its calls compiles the kernel.


def average(kernel, n):
    cp.cuda.Device().synchronize()
    begin = perf_counter()
    for _ in range(n):
        kernel[(large[0].size + 255) // 256, 256](*large)
    cp.cuda.Device().synchronize()
    return (perf_counter() - begin) / n


print(f"{average(cuda.jit(larger.py_func), 10) * 1e6:.0f} us")  # never called before

# %%
# Ten calls, the first of which compiles, average :measured:`first_10`; ten later ones average
# :measured:`later`. Compiling takes :measured:`compiler`, once. Each of these is the fastest of fifteen
# tries, since other work on the host can only make a try longer. So *n* calls show *call + compilation / n*,
# and the factor is 1 + *compilation / (n × call)*: :measured:`first_10_off` for ten calls,
# :measured:`first_100_off` for a hundred, and by the formula still :measured:`first_1000_predicted` for a
# thousand. More calls make the error smaller, but never remove it. Call once before the clock starts.

# %%
# Mistake 3: a single reading
# ---------------------------
#
# Read the host's clock around one call, waiting included, a hundred times. In the newest run the slowest
# reading is :measured:`one_reading_off` the median and :measured:`readings_apart` the fastest, so two single
# readings of one kernel can pass for a speed-up. On the GPU's own clock the slowest sample in ``right`` is
# only :measured:`right_apart` the fastest. Take many samples, and show their median and how far they lie
# apart. Even medians move from one run to the next: see :doc:`How we measure </method>`.

# %%
# Mistake 4, and a convention: the state of the L2 cache
# ------------------------------------------------------
#
# The same call twice more: right after itself, and after other memory was filled with zeros.

warm = benchmark(call, prepare=call)
scratch = cp.empty(2 * cp.cuda.Device().attributes["L2CacheSize"], dtype=cp.uint8)
written = benchmark(call, prepare=lambda: scratch.fill(0))

# %%
# After other data was read the call takes :measured:`right`. Right after the same call it takes
# :measured:`warm`. A program that has just written its input should be timed :term:`warm`, any other
# :term:`cold`.
#
# The memset of ``fill`` drives old data out of the cache as well, and after it the call takes
# :measured:`written`. What the memset wrote is only in the cache so far, in :term:`dirty lines <dirty line>`,
# and we think that the kernel waits until they are in memory. :evidence:`opinion` At most a cache full of
# them can be left, which takes :measured:`most_dirty` to write; for a long kernel that hardly matters.
#
# This is a convention, and no mistake: many tools empty the cache so. Its bias is the opposite of that of
# reading. After a memset the kernel pays for what others wrote; after reading, what the kernel itself writes
# last may still be in the cache when the clock stops, and nobody pays for that. Say which of the two you
# took.

# draw: The chart of warm and cold
import matplotlib.pyplot as plt

from gpuguide.charts.marks import draw_ranges
from gpuguide.charts.style import MUTED, SERIES, describe

gg.fact(
    "most_dirty",
    facts["l2_size"].value / ceilings.get("write").value,
    unit="s",
    note="size of the L2 cache / write ceiling",
)
figure, ax = plt.subplots()
words, ranges = [], []
for results, colour, marker in (
    (warm_results, SERIES[1], "o"),
    (cold_results, SERIES[0], "s"),
):
    sizes = results.series("larger").sizes
    rates = [results.rate("larger", n) for n in sizes]
    drawn = [rate.value / 1e12 for rate in rates]
    ax.plot(sizes, drawn, color=colour, marker=marker, label=results.cache)
    ranges += [(n, rate, colour) for n, rate in zip(sizes, rates, strict=True)]
    words.append(
        f"{results.cache} from {rates[0]} at {sizes[0]} to {rates[-1]} at {sizes[-1]}"
    )
ax.axhline(facts["peak"].value / 1e12, color=MUTED, linestyle="--", label="physical peak")
ax.set_xscale("log", base=2)
ax.set_xticks([n for n in sizes if n != 2**20])  # too close to 2**21 for both
ax.set(xlabel="elements", ylabel="TB/s, kernel only", ylim=(0, None))
draw_ranges(ax, ranges, scale=1e-12)
ax.legend(loc="lower right")
describe(
    ax,
    f"TB/s of the kernel larger against elements, and the peak of {facts['peak'].value / 1e12:.2f}: "
    f"{'; '.join(words)}.",
)

# %%
# .. finding::
#
#    At 2\ :sup:`21` pairs the kernel moves :measured:`warm[larger, 2**21].rate` warm and
#    :measured:`cold[larger, 2**21].rate` cold; the physical peak of the memory is :measured:`peak`. At
#    2\ :sup:`26`, far beyond the cache, the rates are :measured:`warm[larger, 2**26].rate` and
#    :measured:`cold[larger, 2**26].rate`.
#
# At 2\ :sup:`21` more than half of the gap is the clock's. Warm calls can be timed many at once, in a
# :term:`CUDA graph`; cold ones need two events around each. The warm call takes
# :measured:`warm[larger, 2**21].time` in a graph, :measured:`warm` between events, as above, and the cold
# call :measured:`cold[larger, 2**21].time`. At 2\ :sup:`24` *warm* is even the slower of the two, with
# :measured:`warm[larger, 2**24].time` against :measured:`cold[larger, 2**24].time`. We do not know why.

# %%
# Mistake 6: data that the last call has changed
# ----------------------------------------------
#
# This kernel improves guesses of square roots in place, by Newton's method. How long it takes depends on the
# guesses, and afterwards they are good.
#
# .. kernel:: gpuguide.topics.benchmark_well.kernels
#    :names: CLOSE, MOST_STEPS, newton
#
# The first guess for the root of a number is the number itself.

number = 1 + (2.0**40 - 1) * cp.random.random(2**22)
guess = number.copy()
roots = cuda.as_cuda_array(guess), cuda.as_cuda_array(number)


def improve():
    newton[(number.size + 255) // 256, 256](*roots)


def put_back():
    cp.copyto(guess, number)
    read_other()


fresh = benchmark(improve, prepare=put_back)
left_over = benchmark(improve, prepare=read_other)
print("GPU:", guess[:2], "  NumPy:", np.sqrt(number[:2].get()))

# %%
# With the guesses put back before each call, the kernel takes :measured:`fresh` and makes
# :measured:`steps_far` steps on average. Without that it takes :measured:`left_over`: the second call finds
# roots, and makes :measured:`steps_again`. Starting from roots on purpose takes :measured:`on_roots`,
# :measured:`left_over_explained` of that time. Sorting what is sorted already is this mistake, too.

# %%
# Mistake 7: clock rates
# ----------------------
#
# A GPU may lower its clock when it has nothing to do, when it is hot, or at its power limit. The driver says
# which, while the benchmark runs. The last column holds flags, which ``nvidia-smi -q -d PERFORMANCE`` puts
# into words.
#
# .. code-block:: console
#
#    $ nvidia-smi -l 1 --format=csv \
#        --query-gpu=clocks.sm,power.draw,temperature.gpu,clocks_event_reasons.active

from time import sleep


def rest():
    put_back()
    cp.cuda.Device().synchronize()
    sleep(1)


rested = benchmark(improve, prepare=rest, n_samples=3)

# %%
# The highest clock of this GPU is :measured:`clock_highest`. After the rest the driver reports
# :measured:`clock_rested`, and ``newton`` takes :measured:`rested`. Amid work it reports
# :measured:`clock_working`, and ``newton`` takes as long. So for this work the GPU keeps its clock, and the
# rest does no harm. At the power limit it does: after a rest, FP16 products of random numbers begin at
# :measured:`know_your_gpu:burst_fp16_tensor`, and in the end, with the clock at
# :measured:`know_your_gpu:clock_fp16_tensor`, they run at
# :measured:`know_your_gpu:sustained_fp16_tensor`; see
# :doc:`Know your GPU </gallery/measuring/know_your_gpu>`. Read the clock while you measure, and where it
# moves, keep the GPU busy before the first sample. Only an administrator can fix the clock, and the figures
# are then not those of a GPU that is left to itself.

# %%
# Mistake 8: zeros for data
# -------------------------
#
# Which numbers a matrix product multiplies makes no difference to its instructions. But it can change how
# much power the GPU draws.

matrix = cp.random.standard_normal((8192, 8192), dtype=cp.float32).astype(cp.float16)
zeros = cp.zeros_like(matrix)
product = cp.empty_like(matrix)


def queue_products(x, n=1000):
    """Queue products on the tensor cores; return events after half of them and after all."""
    for _ in range(n // 2):
        cp.matmul(x, x, out=product)
    half = cp.cuda.get_current_stream().record()
    for _ in range(n // 2):
        cp.matmul(x, x, out=product)
    return half, cp.cuda.get_current_stream().record()


# %%
# In the second half of such a queue a product takes :measured:`random` with random numbers, at
# :measured:`power_random` and :measured:`clock_random`. With zeros it takes :measured:`zeros`, at
# :measured:`power_zeros` and :measured:`clock_zeros`. Power and clock are single readings. The board may draw
# :measured:`power_limit`. The driver's reason for the lower clock is, with random numbers:
# :measured:`held_random`; with zeros: :measured:`held_zeros`. We do not know why it says so at half the
# power. Benchmark on data like your own, and for as long as your program runs.

# %%
# Mistake 9: other work on the same GPU
# -------------------------------------
#
# Here another :term:`stream` reads a gigabyte again and again while the call is timed.

tenant = cp.cuda.Stream(non_blocking=True)


def beside_a_tenant():
    tenant.synchronize()
    read_other()
    with tenant:
        for _ in range(20):
            other.sum()


shared = benchmark(call, prepare=beside_a_tenant)

# %%
# In the newest run the fifty calls take from :measured:`fastest_shared` to :measured:`slowest_shared` instead
# of :measured:`right`, and nothing in their own code shows why. Without NVIDIA's multi-process service, two
# processes take turns on the GPU. We have not measured that. ``nvidia-smi`` lists the processes on the GPU;
# inside a container the list may be empty. Programs that share the *host* make launches slow.

# %%

# record: Each wrong figure beside its parts
from gpuguide.machine.device import clocks
from gpuguide.measure.turns import beside_launches, in_turns


def keep(**taken):
    for name, samples in taken.items():
        gg.fact(name, float(np.median(samples)), unit="s", samples=samples)


keep(right=right, warm=warm, written=written, shared=shared)
keep(fresh=fresh, left_over=left_over, rested=rested)

# 1
wrong, alone = beside_launches(
    lambda: without_waiting(call_large), call_large, 50, n_calls=1
)
keep(no_wait=wrong, launch_alone=alone)
keep(small_no_wait=in_turns({"taken": lambda: without_waiting(call)}, 50)["taken"])


# 2
def never_called():
    return cuda.jit(larger.py_func)


def compile_alone():
    kernel = never_called()
    begin = perf_counter()
    kernel.compile("void(float32[::1], float32[::1], float32[::1])")
    return perf_counter() - begin


readings = {f"first_{n}": lambda n=n: average(never_called(), n) for n in (10, 100)}
readings |= {"later": lambda: average(larger, 10), "compiler": compile_alone}
for name, samples in in_turns(readings, 15).items():
    # The host's other work can only make a try longer, and would not do so to each alike.
    gg.fact(name, min(samples), unit="s", note="the fastest of 15 tries")


# 3
def one_reading():
    cp.cuda.Device().synchronize()
    begin = perf_counter()
    call()
    cp.cuda.Device().synchronize()
    return perf_counter() - begin


keep(**in_turns({"readings": one_reading}, 100))

# 6
good = cp.sqrt(number)


def put_roots():
    cp.copyto(guess, good)
    read_other()


keep(on_roots=benchmark(improve, prepare=put_roots))
some = number[:100_000].get()
for name, begin in (("steps_far", some), ("steps_left", np.sqrt(some))):
    steps = float(benchmark_well.count_steps(begin, some).mean())
    gg.fact(name, steps, unit="1", note="steps of Newton's method, on average")


# 7 and 8
def keep_state(name):
    state = clocks()
    gg.fact(f"clock_{name}", state.sm_hz, unit="Hz", note="as the driver gives it")
    gg.fact(f"power_{name}", state.power_w, unit="W", note="as the driver gives it")
    gg.fact(f"held_{name}", ", ".join(state.throttle) or "nothing", unit="text")


cp.cuda.Device().synchronize()
sleep(1)
keep_state("rested")
for _ in range(400):
    read_other()
sleep(0.02)  # amid these calls
keep_state("working")
for name, x in (("random", matrix), ("zeros", zeros)):
    half, stop = queue_products(x)
    sleep(0.9)  # the driver's power is that of the second before
    keep_state(name)
    stop.synchronize()
    gg.fact(
        name,
        cp.cuda.get_elapsed_time(half, stop) / 1000 / 500,
        unit="s",
        note="one of 500",
    )
    expected = x[:4].astype(cp.float64) @ x.astype(cp.float64)
    print(name, "right:", bool((abs(product[:4] - expected) < 1).all()))

# %%

# record: What this GPU is
gpu = gg.require_gpu()
peak, bytes_moved = gpu.peak_memory_bandwidth, 12 * 2**26
gg.fact("peak", peak, unit="B/s", note="memory clock x 2 x bus width")
gg.fact("least", bytes_moved / peak, unit="s", note="bytes / physical peak")
gg.fact("l2_size", gpu.l2_bytes, unit="B", note="size of the L2 cache")
gg.fact("clock_highest", gpu.sm_clock_hz, unit="Hz", note="as the driver gives it")
_ = gg.fact("power_limit", gpu.power_limit_w, unit="W", note="as the driver gives it")

# %%
# Result: which mistakes look plausible
# -------------------------------------

# draw
from gpuguide.charts.shapes import plot_ratios

large_s = cold_results.quantity("larger", 2**26, "time").value
small_s, fresh_s = facts["right"].value, facts["fresh"].value
gg.fact("steps_again", round(facts["steps_left"].value), unit="1", note="steps, rounded")


def wrong_by_right(mistakes):
    return {
        label: gg.fact(
            f"{name}_off", facts[name].value / right_s, unit="ratio", note="wrong / right"
        )
        for label, (name, right_s) in mistakes.items()
    }


dots = wrong_by_right(
    {
        "1 nobody waits": ("no_wait", large_s),
        "2 first call counts": ("first_10", large_s),
        "4 warm, not cold": ("warm", small_s),
        "5 emptied by writing": ("written", small_s),
        "6 data has changed": ("left_over", fresh_s),
        "7 GPU has rested": ("rested", fresh_s),
        "8 zeros for data": ("zeros", facts["random"].value),
    }
)
# Only the newest run keeps single samples, so what follows is of that run.
of_one, beside = facts["readings"].samples, facts["shared"].samples
gg.fact("one_reading", max(of_one), unit="s", note="the slowest of a hundred")
gg.fact("slowest_shared", max(beside), unit="s", note="of fifty")
gg.fact("fastest_shared", min(beside), unit="s", note="of fifty")
dots |= wrong_by_right(
    {
        "3 slowest reading": ("one_reading", float(np.median(of_one))),
        "9 other work, slowest": ("slowest_shared", small_s),
    }
)
_ = plot_ratios(dict(sorted(dots.items())), "wrong / right")

# %%
# .. finding::
#
#    Mistakes 1, 2, 6 and 9 are far off, with :measured:`no_wait_off`, :measured:`first_10_off`,
#    :measured:`left_over_off` and :measured:`slowest_shared_off` the right time. The figures of 4 and 8
#    look plausible, with :measured:`warm_off` and :measured:`zeros_off`.

# draw
gg.claim(roots_results, "square_root", faster_than="newton", at=2**22)
gg.claim(cold_results, "larger", share_at_least=0.7, at=2**26)
later, compiler = facts["later"].value, facts["compiler"].value
gg.fact("small_no_wait_off", facts["small_no_wait"].value / small_s, unit="ratio")
gg.fact("first_100_off", facts["first_100"].value / large_s, unit="ratio")
gg.fact(
    "first_1000_predicted",
    1 + compiler / (1000 * later),
    unit="ratio",
    note="by the formula",
)
gg.explained("no_wait_explained", [facts["launch_alone"].value], facts["no_wait"].value)
for n in (10, 100):
    gg.explained(f"first_{n}_explained", [compiler / n, later], facts[f"first_{n}"].value)
gg.explained("left_over_explained", [facts["on_roots"].value], facts["left_over"].value)
for name in ("readings", "right"):
    taken = facts[name].samples
    apart = max(taken) / min(taken)
    gg.fact(f"{name}_apart", apart, unit="ratio", note="slowest / fastest")

# %%
# Your turn: is the result right?
# -------------------------------
#
# A benchmark of a wrong result is the worst mistake of all. But what is right, if two orders of adding give
# two sums? Write the function that decides.
#
# .. exercise:: choose_tolerance

# %%
# Next
# ----
#
# Onward: :doc:`Maximum on the CPU </gallery/compiled_cpu/maximum_cpu>` gives the other side of a comparison
# the same care. Sideways: :doc:`How to time a GPU </gallery/measuring/how_to_time>` says which clock answers
# which question.
