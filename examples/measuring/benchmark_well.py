"""
Seven mistakes in GPU benchmarks
================================

In which ways does a benchmark go wrong, and by how much?
"""
# %%
# Wait for the GPU, leave out the first call, put the data back before each call, and take the median of many.
# A clock that does not wait says :measured:`no_wait` for a kernel that takes
# :measured:`cold[larger, 2**26].time`; if the first of ten calls counts, their mean is :measured:`first_10`.
#
# .. headline:: Seven wrong times, and not one error message
#
# .. drawn:: benchmark_well
#
#     import matplotlib.pyplot as plt
#     import numpy as np
#
#     from gpuguide.charts.style import KERNEL, MUTED, describe
#
#     large_s = cold_results.quantity("larger", 2**26, "time").value
#     small_s, readings = facts["right"].value, facts["readings"].samples
#     ratios = {
#         "1 nobody waits": facts["no_wait"].value / large_s,
#         "2 compiler timed": facts["first_10"].value / large_s,
#         "3 one reading": max(readings) / np.median(readings),
#         "4 data in cache": facts["warm"].value / small_s,
#         "5 data changed": facts["left_over"].value / facts["fresh"].value,
#         "6 zeros for data": facts["zeros"].value / facts["random"].value,
#         "7 other work": max(facts["shared"].samples) / small_s,
#     }
#     for i, (name, ratio) in enumerate(ratios.items()):  # each of one run
#         ratios[name] = gg.fact(f"dot_{i}", float(ratio), unit="ratio").value
#     figure, ax = plt.subplots(figsize=(7.2, 3.2))
#     for row, ratio in enumerate(ratios.values()):
#         side = 1 if ratio > 1 else -1
#         ax.plot([1, ratio], [row, row], color=MUTED, linewidth=1)
#         ax.plot(ratio, row, "o", color=KERNEL)
#         ax.annotate(f"{ratio**side:.2g}×", (ratio, row), (side * 8, 0), textcoords="offset points",
#                     ha="left" if side > 0 else "right", va="center")
#     ax.axvline(1, color=MUTED)
#     ax.set_xscale("log")
#     ax.set(xlim=(0.03, 110), ylim=(len(ratios) - 0.5, -0.5), xticks=[])
#     ax.minorticks_off()
#     ax.set_yticks(range(len(ratios)), list(ratios))
#     ax.grid(visible=False)
#     ax.set_xlabel("too short  ←  →  too long")
#     words = (f"{name} {ratio:.2g} times" for name, ratio in ratios.items())
#     describe(ax, f"Wrong time over right time, on a logarithmic axis: {'; '.join(words)}.")

# %%
# A GPU benchmark without any tools
# ---------------------------------
#
# This function makes none of the first five mistakes. ``prepare`` brings data and cache into the state in
# which your program will make the call. The spinning kernel keeps the GPU busy while the host queues what
# follows, so that no launch lies between the two :term:`events <event>`.

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
#    holds the data from the call before. That is mistake 4, unless your program, too, calls it on data that
#    it has just used.
#
# .. headline:: Five mistakes are made at a step of this loop, the other two around it
#
# .. drawing:: benchmark_well
#
#     Steps in boxes. First a call that is not timed. Then, in a loop: put the data back, read other data,
#     start the clock, call, wait, stop the clock. The way back from the last step says many samples, and
#     their median. The numbers of five mistakes stand at the steps at which they are made: 2 at the call that
#     is not timed, 5 at the data, 4 at reading other data, 1 at waiting, 3 at the way back.

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
# It sees the launch alone. For long work its answer is too short, and for a kernel shorter than its launch it
# is too long. Wait before you stop the clock, as :doc:`Time a GPU </gallery/measuring/how_to_time>` shows.
#
# **You can find this mistake without another clock.** Each pair moves twelve bytes, and at the peak of the
# memory all pairs take :measured:`least`. The cache can save little of that, since it holds far less than
# these vectors. A time well below this bound is wrong.

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
# A call takes :measured:`later`. With the compiler among ten calls, their mean is :measured:`first_10`, and
# among a hundred still :measured:`first_100`. More calls make the error smaller, and never remove it. Call
# once before the clock starts.
#
# .. dropdown:: The mean of n calls, and why these are the fastest of fifteen tries
#
#    Compiling takes :measured:`compiler`, once, so *n* calls show *call + compilation / n*. By this formula,
#    even a thousand calls show :measured:`first_1000_predicted` the right time. Other work on the host can
#    only make a try longer, so the fastest is shown.

# %%
# Mistake 3: a single reading
# ---------------------------
#
# Take many samples, and show their median and their range. Of a hundred readings of the host's clock, the
# slowest is several times the median, as the chart at the top shows; how far off it is depends on what else
# the host is doing. Two single readings of the same kernel can pass for a speed-up. The GPU's own clock is
# steadier: the slowest sample in ``right`` is :measured:`right_apart` the fastest.

# %%
# Mistake 4: the wrong state of the L2 cache
# ------------------------------------------
#
# The same call twice more: right after itself, and after other memory was filled with zeros.

warm = benchmark(call, prepare=call)
scratch = cp.empty(2 * cp.cuda.Device().attributes["L2CacheSize"], dtype=cp.uint8)
written = benchmark(call, prepare=lambda: scratch.fill(0))

# %%
# After other data was read, the call takes :measured:`right`. Right after the same call, it takes
# :measured:`warm`. Time it :term:`warm` if your program has just written its input, and :term:`cold`
# otherwise. Many tools empty the cache by writing zeros, after which the call takes :measured:`written`. Say
# which of the three you took.
#
# .. dropdown:: Why writing empties the cache differently from reading
#
#    We think that the call waits until the :term:`dirty lines <dirty line>` that the zeros have left are in
#    memory, at most :measured:`most_dirty` for a whole cache. Reading has the opposite bias, as nobody pays
#    for what the kernel itself has left in the cache.
#
# .. dropdown:: Warm and cold at six sizes
#
#    .. drawn:: benchmark_well
#
#        import matplotlib.pyplot as plt
#
#        from gpuguide.charts.marks import draw_ranges
#        from gpuguide.charts.style import MUTED, SERIES, describe
#
#        figure, ax = plt.subplots()
#        words, ranges = [], []
#        for results, colour, marker in (
#            (warm_results, SERIES[1], "o"),
#            (cold_results, SERIES[0], "s"),
#        ):
#            sizes = results.series("larger").sizes
#            rates = [results.rate("larger", n) for n in sizes]
#            drawn = [rate.value / 1e12 for rate in rates]
#            ax.plot(sizes, drawn, color=colour, marker=marker, label=results.cache)
#            ranges += [(n, rate, colour) for n, rate in zip(sizes, rates, strict=True)]
#            words.append(
#                f"{results.cache} from {rates[0]} at {sizes[0]} to {rates[-1]} at {sizes[-1]}"
#            )
#        ax.axhline(facts["peak"].value / 1e12, color=MUTED, linestyle="--", label="physical peak")
#        ax.set_xscale("log", base=2)
#        ax.set_xticks([n for n in sizes if n != 2**20])  # too close to 2**21 for both
#        ax.set(xlabel="elements", ylabel="TB/s, on the GPU", ylim=(0, None))
#        draw_ranges(ax, ranges, scale=1e-12)
#        ax.legend(loc="lower right")
#        describe(
#            ax,
#            f"TB/s of the kernel larger against elements, and the peak of {facts['peak'].value / 1e12:.2f}: "
#            f"{'; '.join(words)}.",
#        )
#
#    At 2\ :sup:`21` pairs the kernel moves :measured:`warm[larger, 2**21].rate` warm and
#    :measured:`cold[larger, 2**21].rate` cold. More than half of that gap is the clock's: warm calls can be
#    timed many at once, in a :term:`CUDA graph`, and cold ones need two events around each. Between events
#    the warm call takes :measured:`warm`, as above, and in a graph :measured:`warm[larger, 2**21].time`.
#
#    Far beyond the cache, at 2\ :sup:`26`, the rates are :measured:`warm[larger, 2**26].rate` and
#    :measured:`cold[larger, 2**26].rate`. At 2\ :sup:`24` *warm* is even the slower of the two. We do not
#    know why.

# draw: What a cache full of dirty lines takes to write
_ = gg.fact(
    "most_dirty",
    facts["l2_size"].value / ceilings.get("write").value,
    unit="s",
    note="size of the L2 cache / write ceiling",
)

# %%
# Mistake 5: data that the last call has changed
# ----------------------------------------------
#
# The kernel ``newton`` improves guesses of square roots in place, until they change no more. The first guess
# for the root of a number is the number itself, and needs many steps. After a call the guesses are roots, and
# the next call has hardly anything to do.
#
# .. kernel:: gpuguide.topics.benchmark_well.kernels
#    :names: CLOSE, MOST_STEPS, newton
#    :fold: The kernel: square roots by Newton's method

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
# Put the data back before each call, outside the clock. The kernel then takes :measured:`fresh`; without
# that, it finds roots and takes :measured:`left_over`. Sorting what is sorted already is this mistake, too.

# %%
# Mistake 6: another clock rate than your program's
# -------------------------------------------------
#
# Benchmark on data like your own, and for as long as your program runs. A GPU lowers its clock rate at its
# power limit, or when it is hot or idle, and the data decide how much power it draws. A matrix product of
# random numbers takes :measured:`random` at :measured:`power_random`, and one of zeros :measured:`zeros` at
# :measured:`power_zeros`.

# fold: The square roots again, after a rest
from time import sleep


def rest():
    put_back()
    cp.cuda.Device().synchronize()
    sleep(1)


rested = benchmark(improve, prepare=rest, n_samples=3)

# %%

# fold: A thousand products, of random numbers or of zeros
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
# The numbers make no difference to the instructions of a product, only to the power that they draw. Long runs
# of products begin faster than they go on, as
# :doc:`Know the limits of your GPU </gallery/measuring/know_your_gpu>` shows. Ask the driver while your
# benchmark runs; ``nvidia-smi -q -d PERFORMANCE`` puts the flags of the last column into words:
#
# .. code-block:: console
#
#    $ nvidia-smi -l 1 --format=csv \
#        --query-gpu=clocks.sm,power.draw,temperature.gpu,clocks_event_reasons.active
#
# .. dropdown:: Clock and power limit
#
#    The times are those of the second half of the queue. The board may draw :measured:`power_limit`. The
#    clock is :measured:`clock_random` with random numbers and :measured:`clock_zeros` with zeros, and the
#    driver's reasons for the lower clock are :measured:`held_random` and :measured:`held_zeros`. We do not
#    know why it gives one with zeros. Power and clock are single readings.
#
# .. dropdown:: After a rest
#
#    This GPU keeps its clock of :measured:`clock_highest` after a short rest, and ``newton`` takes
#    :measured:`rested`, the same as amid work. Where the clock moves, keep the GPU busy before the first
#    sample.

# %%
# Mistake 7: other work on the same GPU
# -------------------------------------
#
# Look at ``nvidia-smi`` before you measure: it lists the processes on the GPU, though the list may be empty
# inside a container. Here another :term:`stream` reads a gigabyte again and again while the call is timed.

# fold: The call, beside another stream that reads
tenant = cp.cuda.Stream(non_blocking=True)


def beside_a_tenant():
    tenant.synchronize()
    read_other()
    with tenant:
        for _ in range(20):
            other.sum()


shared = benchmark(call, prepare=beside_a_tenant)

# %%
# The slowest of the fifty calls now takes :measured:`slowest_shared` instead of :measured:`right`, and
# nothing in its own code shows why. Programs that share the *host* make launches slow.

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

# draw
# Only the newest run keeps single samples.
gg.fact("slowest_shared", max(facts["shared"].samples), unit="s", note="of fifty")
apart = max(facts["right"].samples) / min(facts["right"].samples)
gg.fact("right_apart", apart, unit="ratio", note="slowest / fastest")

later, compiler = facts["later"].value, facts["compiler"].value
gg.fact(
    "first_1000_predicted",
    1 + compiler / (1000 * later),
    unit="ratio",
    note="by the formula",
)
for n in (10, 100):
    gg.explained(f"first_{n}_explained", [compiler / n, later], facts[f"first_{n}"].value)
gg.explained("no_wait_explained", [facts["launch_alone"].value], facts["no_wait"].value)
gg.explained("left_over_explained", [facts["on_roots"].value], facts["left_over"].value)
gg.claim(roots_results, "square_root", faster_than="newton", at=2**22)
gg.claim(cold_results, "larger", share_at_least=0.7, at=2**26)

# %%
# .. remember::
#
#    - Before each timed call, bring data and cache into the state in which your program makes it: on data
#      that the last call had changed, a kernel took :measured:`left_over` instead of :measured:`fresh`.
#    - Time a call many times, on data like your own and for as long as your program runs, and take the
#      median.

# %%
# Your turn: is the result right?
# -------------------------------
#
# A benchmark of a wrong result is the worst mistake of all. But what is right, if two orders of adding give
# two sums? Write the function that decides.
#
# .. exercise:: choose_tolerance

# thumbnail
from gpuguide.charts import thumbnail
from gpuguide.charts.style import KERNEL, MUTED

times = {
    "nobody waits": facts["no_wait"],
    "timed well": cold_results.time("larger", 2**26),
    "first call counts": facts["first_100"],
}
_ = thumbnail.bars(times, "time of one and the same kernel", [MUTED, KERNEL, MUTED])

# %%
# Next
# ----
#
# Next: :doc:`Make the CPU fast before you compare </gallery/compiled_cpu/maximum_cpu>`, which gives the other
# side of a comparison the same care. See also: :doc:`Time a GPU </gallery/measuring/how_to_time>`, on the
# clock that answers your question.
