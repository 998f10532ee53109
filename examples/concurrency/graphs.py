"""
CUDA graphs: record launches once, replay them
==============================================

How do you repeat the same short kernels without launching each of them from Python?
"""
# %%
# If a loop launches the same short kernels again and again, record some of its steps in a CUDA graph and
# launch that. A thousand steps on a hundred thousand numbers take :measured:`thousand[views, 10**5].time`
# if Numba launches each of them, and :measured:`thousand[graph_of_1000, 10**5].time` as a graph. Where
# kernels take longer than their launches, a graph gains next to nothing.
#
# .. headline:: In a graph, short steps no longer wait for Python
#
# .. drawn:: graphs
#
#    from gpuguide.charts.shapes import plot_values
#
#    names = {
#        "each step launched by Numba": "views",
#        "a compiled loop on one CPU thread": "cpu_loop",
#        "each step launched by CuPy": "elementwise",
#        "each step launched by NVIDIA's cuda.core": "cuda_core",
#        "all steps in one graph": "graph_of_1000",
#    }
#    times = {label: results.time(name, 10**5) for label, name in names.items()}
#    plot_values(times, "time of a thousand steps on 10⁵ numbers")

# %%
# A loop of short kernels
# -----------------------
#
# The example smooths a noisy signal: it looks for numbers that are close to the noisy ones and close to their
# neighbours. The Jacobi method finds them step by step. Each step computes every number anew, from the noisy
# one and from its two neighbours of the step before, out of one array into the other and back.
#
# .. headline:: A noisy signal, and what a thousand steps make of it
#
# .. drawn:: graphs
#
#     import matplotlib.pyplot as plt
#     import numpy as np
#     from gpuguide.charts.style import KERNEL, MUTED, describe, style
#
#     noisy = np.sin(np.arange(600) / 60) + np.random.default_rng(1).normal(0, 0.3, 600)
#     smooth = noisy.copy()
#     for _ in range(1000):
#         smooth[1:-1] = (noisy[1:-1] + 16 * (smooth[:-2] + smooth[2:])) / 33
#     with style():
#         ax = plt.subplots(figsize=(7.2, 2.0))[1]
#         ax.plot(noisy, ".", color=MUTED, markersize=3)
#         ax.plot(smooth, color=KERNEL, linewidth=2)
#         ax.set(xticks=[], yticks=[], frame_on=False)
#         ax.grid(visible=False)
#         describe(
#             ax,
#             "Six hundred noisy points around a wave, and a smooth line through them: the thousandth step.",
#         )

import cupy as cp
import numpy as np
from numba import cuda, float32


@cuda.jit
def jacobi_step(noisy, now, then):
    """Each thread computes one number anew, from the noisy one and from its neighbours."""
    i = cuda.grid(1)
    if i > 0 and i < now.size - 1:
        beside = now[i - 1] + now[i + 1]
        then[i] = (noisy[i] + float32(16) * beside) * float32(1 / 33)
    elif i < now.size:
        then[i] = noisy[i]  # both ends stay as they are


n = 100_000
noise = np.random.default_rng(1).normal(0, 0.3, n)
noisy_host = (np.sin(np.arange(n) / 100) + noise).astype(np.float32)
noisy = cp.asarray(noisy_host)
smooth, spare = noisy.copy(), noisy.copy()
noisy_view, smooth_view, spare_view = (
    cuda.as_cuda_array(x, sync=False) for x in (noisy, smooth, spare)
)

blocks = (n + 255) // 256
for _ in range(500):
    jacobi_step[blocks, 256](noisy_view, smooth_view, spare_view)
    jacobi_step[blocks, 256](noisy_view, spare_view, smooth_view)

expected = noisy_host.copy()
for _ in range(1000):
    beside = expected[:-2] + expected[2:]
    expected[1:-1] = (noisy_host[1:-1] + np.float32(16) * beside) * np.float32(1 / 33)
print("noisy: ", noisy[1000:1004])
print("smooth:", smooth[1000:1004])
print("as in NumPy:", np.array_equal(smooth.get(), expected))

# %%
# .. try-it::
#
#    Do 2000 steps instead. The numbers stay the same, bit for bit: the solver has long converged. Further
#    down, it finds out by itself when it may stop.

# %%

# record: The studies: a thousand steps in many ways, graphs alone, and steps until they change little
import gpuguide as gg
from gpuguide.topics.graphs import study as graphs
from gpuguide.topics.graphs.kernels import all_steps, early_source

results = graphs.thousand.run()
chain = graphs.chain.run()
until = graphs.until.run()
for k in (4, 5):
    seconds = graphs.time_empty(10**k)
    gg.fact(f"empty_10_{k}", float(np.median(seconds)), unit="s", samples=seconds)
_ = gg.fact("core_version", graphs.core_version(), unit="text")

# %%
# Record fifty steps, launch them twenty times
# --------------------------------------------
#
# Between ``begin_capture`` and ``end_capture`` nothing runs. Instead, the graph notes each launch into the
# stream, with its grid and the addresses of its arrays. The stream must be one of your own, since the default
# stream cannot be recorded.
#
# .. rung:: graph_of_50
#    :beside:

stream = cp.cuda.Stream(non_blocking=True)
numba_stream = cuda.external_stream(stream.ptr)
step = jacobi_step[blocks, 256, numba_stream]
cp.cuda.Device().synchronize()  # what was launched above is done

with stream, cuda.defer_cleanup():  # freeing memory would end the capture
    stream.begin_capture()
    for _ in range(25):
        step(noisy_view, smooth_view, spare_view)
        step(noisy_view, spare_view, smooth_view)
    fifty_steps = stream.end_capture()

with stream:
    smooth[:] = noisy
    for _ in range(20):
        fifty_steps.launch()
    print("as in NumPy:", np.array_equal(smooth.get(), expected))

# %%
# On ten thousand numbers, the GPU needs :measured:`per_kernel` from one kernel of a graph to the next, and
# Python is free meanwhile. Two steps in a graph already save most of the time. It takes about as long to
# record a graph as to launch everything once, so a graph pays from its second launch on.
#
# .. list-table:: A thousand steps on ten thousand numbers
#    :header-rows: 1
#
#    * - how
#      - time
#    * - each step launched by Numba
#      - :measured:`thousand[views, 10**4].time`
#    * - 2 steps in the graph
#      - :measured:`thousand[graph_of_2, 10**4].time`
#    * - 50 steps in the graph
#      - :measured:`thousand[graph_of_50, 10**4].time`
#    * - 1000 steps in the graph, recorded anew each time
#      - :measured:`thousand[record_and_replay, 10**4].time`
#
# .. dropdown:: What a kernel in a graph takes at least, and with small blocks
#
#    These are graphs of a thousand kernels by the GPU's clock. Divide by a thousand for the time from one
#    kernel to the next:
#
#    .. list-table::
#       :header-rows: 1
#
#       * - kernel
#         - 10 000 numbers
#         - 100 000 numbers
#       * - an empty one, with a thread per number
#         - :measured:`empty_10_4`
#         - :measured:`empty_10_5`
#       * - CUDA C++, 64 threads per block
#         - :measured:`chain[raw_64, 10**4].time`
#         - :measured:`chain[raw_64, 10**5].time`
#       * - CUDA C++, 256 threads per block
#         - :measured:`chain[raw_256, 10**4].time`
#         - :measured:`chain[raw_256, 10**5].time`
#       * - Numba, 256 threads per block
#         - :measured:`chain[numba, 10**4].time`
#         - :measured:`chain[numba, 10**5].time`
#
#    With 256 threads per block, ten times the numbers take only a little longer, so most of the time does not
#    depend on them. CUDA C++ gains next to nothing over Numba here. The empty kernel shows what launching
#    alone takes. We think that the rest goes to threads that wait for what the kernel before has stored, and
#    for their own results to arrive. :evidence:`opinion` A kernel that does several steps waits less often,
#    as under :doc:`stencils </gallery/fast_kernels/stencil>`.
#
#    With 64 threads per block, four times as many blocks have to start. On ten thousand numbers, that makes
#    no difference, but the kernel with 256 threads per block is
#    :measured:`chain[raw_256, 10**5].speedup(raw_64)` as fast on a hundred thousand, and
#    :measured:`chain[raw_256, 10**6].speedup(raw_64)` on a million. :evidence:`variant raw_256` So do not
#    choose small blocks.
#
# .. kernel:: gpuguide.topics.graphs.kernels
#    :names: jacobi_source
#    :fold: The kernel in CUDA C++

# %%
# CuPy's calls can be recorded, too
# ---------------------------------
#
# You need no kernel of your own. A graph holds whatever CuPy launches, as long as all calls write into
# existing arrays, with ``out=`` or in place. Call them once beforehand, so that they are compiled.
#
# .. rung:: graph_of_cupy
#    :beside:


def two_steps():
    for now, then in ((smooth, spare), (spare, smooth)):
        middle = then[1:-1]
        cp.add(now[:-2], now[2:], out=middle)
        middle *= np.float32(16)
        middle += noisy[1:-1]
        middle *= np.float32(1 / 33)


with stream:
    two_steps()  # compiled before anything is recorded
    stream.begin_capture()
    for _ in range(25):
        two_steps()
    by_cupy = stream.end_capture()

    smooth[:] = noisy
    for _ in range(20):
        by_cupy.launch()
    print("as in NumPy:", np.array_equal(smooth.get(), expected))

# %%
# Although these are four kernels per step instead of one, on ten thousand numbers the graph takes
# :measured:`thousand[graph_of_cupy, 10**4].time`. Without a graph the same calls take
# :measured:`thousand[cupy, 10**4].time`, and even one ``ElementwiseKernel`` per step takes
# :measured:`thousand[elementwise, 10**4].time`. So try a graph before you write a kernel.

# %%
# Until it has converged
# ----------------------
#
# A graph always does all of its steps, since Python cannot look at a result while it records. Look between
# two launches instead. With fifty steps per graph, Python waits for the GPU once per fifty steps, and at most
# 49 steps are done in vain.

with stream:
    smooth[:] = noisy
    steps, change = 0, np.inf
    while change >= 1e-5 and steps < 5000:
        fifty_steps.launch()
        steps += 50
        change = float(cp.abs(smooth - spare).max())  # Python waits here
print(f"{steps} steps, the last of which changes {change:.1g}")

# %%
# This takes :measured:`until[graph, 10**5].time`. If Numba launches the steps, a look after every fiftieth
# takes :measured:`until[look_seldom, 10**5].time`, and a look after every second
# :measured:`until[look_often, 10**5].time`.
#
# .. try-it::
#
#    Ask for ``change >= 1e-6``. Now only the limit of 5000 steps ends the loop: in ``float32``, the steps end
#    up swinging between two results that differ by more than that. So always set a limit.
#
# .. dropdown:: A graph that decides by itself
#
#    A graph can hold a loop whose last kernel tells the GPU whether to go round again. CuPy 14 cannot record
#    that, but ``cuda.core`` can, NVIDIA's package for CUDA in Python, which comes with numba-cuda; here in
#    version :measured:`core_version`. Python then looks once, at the end. This takes
#    :measured:`until[own_decision, 10**5].time`, so there is little left to gain.
#
# .. kernel:: gpuguide.topics.graphs.study
#    :names: record_loop
#    :fold: The loop, recorded by cuda.core
#
# .. kernel:: gpuguide.topics.graphs.kernels
#    :names: decide_source
#    :fold: Its last two kernels, in CUDA C++

# %%
# .. dropdown:: All steps in one launch, with grid.sync()
#
#    A kernel can also do all steps by itself, if its blocks wait for each other at ``grid.sync()`` after each
#    step, as the lesson on :doc:`stencils </gallery/fast_kernels/stencil>` explains. On a hundred thousand
#    numbers, with a thread for each, that takes :measured:`thousand[all_steps, 10**5].time`, and the graph
#    takes :measured:`thousand[graph_of_1000, 10**5].time`. On ten thousand, fewer blocks have to meet, but
#    :measured:`thousand[all_steps, 10**4].time` are still more than the graph's
#    :measured:`thousand[graph_of_1000, 10**4].time`. We think that the GPU goes from one kernel of a graph to
#    the next sooner than all blocks have met. :evidence:`opinion` So try the graph first: its kernel is
#    simpler, too.
#
# .. kernel:: gpuguide.topics.graphs.kernels
#    :names: all_steps
#    :fold: All steps in one launch: the kernel

# %%

# fold: All steps in one launch: the launch
from numba import int64

signal = float32[::1]
compiled = all_steps.compile((signal, signal, signal, int64))
blocks_at_once = compiled.max_cooperative_grid_blocks(256)  # more could never meet

smooth[:] = noisy
cp.cuda.Device().synchronize()
all_steps[min(blocks, blocks_at_once), 256](noisy_view, spare_view, smooth_view, 1000)
print("as in NumPy:", np.array_equal(smooth.get(), expected))

# %%
# .. _graphs-start-early:
#
# Let each kernel start early
# ---------------------------
#
# In a graph, too, a kernel starts only when the one before it has ended. If you write it in CUDA C++, it can
# start earlier on GPUs of :term:`compute capability` 9.0 and newer: its blocks take their places, read what
# does not depend on the kernel before, and only then wait for its end. On ten thousand numbers, the GPU needs
# :measured:`per_early_kernel` from one such kernel to the next, instead of :measured:`per_usual_kernel`.
# NVIDIA calls this `programmatic dependent launch
# <https://docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/programmatic-dependent-launch.html>`__.
#
# .. kernel:: gpuguide.topics.graphs.kernels
#    :names: early_source
#    :fold: The kernel that starts early, in CUDA C++
#
# Launch such kernels in large blocks, here of 1024 threads, and leave long kernels as they are. Every thread
# of each kernel has to wait before it touches what another kernel writes. Otherwise the result may be wrong,
# and no error is raised.
#
# .. dropdown:: Where an early start gains, and where it loses
#
#    These are graphs of a thousand kernels in CUDA C++ by the GPU's clock, in blocks of so many threads, and
#    on so many numbers:
#
#    .. list-table::
#       :header-rows: 1
#
#       * - kernel
#         - 10⁴
#         - 10⁵
#         - 10⁶
#       * - as usual, 256
#         - :measured:`chain[raw_256, 10**4].time`
#         - :measured:`chain[raw_256, 10**5].time`
#         - :measured:`chain[raw_256, 10**6].time`
#       * - early, 1024
#         - :measured:`chain[early, 10**4].time`
#         - :measured:`chain[early, 10**5].time`
#         - :measured:`chain[early, 10**6].time`
#       * - early, 256
#         - :measured:`chain[early_256, 10**4].time`
#         - :measured:`chain[early_256, 10**5].time`
#         - :measured:`chain[early_256, 10**6].time`
#
#    Large blocks alone gain next to nothing: if the kernel of the second row is launched as usual, it takes
#    :measured:`chain[early_as_usual, 10**4].time` on ten thousand numbers and
#    :measured:`chain[early_as_usual, 10**6].time` on a million. :evidence:`variant early_as_usual` With the
#    early start, a thousand kernels on ten thousand numbers take about as long as a thousand empty ones
#    without it, which take :measured:`empty_10_4`.
#
#    The longer a kernel takes, the smaller is the part that you gain. On ten million numbers, even large
#    blocks lose: from the launch to the end, the graph takes :measured:`thousand[graph_of_early, 10**7].time`
#    instead of :measured:`thousand[graph_of_raw, 10**7].time`.
#
#    In blocks of 256, a million numbers take longer than as usual. The third row differs from the second only
#    in the size of the blocks, and so in their number. :evidence:`variant early_256` We think that each block
#    takes time to say that the next kernel may start. :evidence:`opinion`
#
# ``cuda.core`` can launch kernels like that from version 1.2 on, also into a stream that CuPy records.

# %%

# fold: Fifty steps that start early
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, Stream, launch

Device().set_current()
options = ProgramOptions(arch=f"sm_{Device().arch}")
program = Program(early_source, "c++", options)
early_step = program.compile("cubin").get_kernel("early_step")
config = LaunchConfig(
    grid=(n + 1023) // 1024, block=1024, programmatic_stream_serialization=True
)
same_stream = Stream.from_handle(stream.ptr)


def start_early(now, then):
    addresses = noisy.data.ptr, now.data.ptr, then.data.ptr
    launch(same_stream, config, early_step, *addresses, np.int32(n))


cp.cuda.Device().synchronize()
with stream:
    start_early(smooth, spare)  # loaded before anything is recorded
    stream.begin_capture()
    for _ in range(25):
        start_early(smooth, spare)
        start_early(spare, smooth)
    fifty_early_steps = stream.end_capture()

    # A thousand steps converge to the same numbers even if some of them read too early.
    smooth[:] = noisy
    fifty_steps.launch()
    by_numba = smooth.copy()
    smooth[:] = noisy
    fifty_early_steps.launch()
    print("as launched by Numba:", cp.array_equal(smooth, by_numba))

# %%
# What cannot be recorded
# -----------------------
#
# Whatever waits for the GPU, copies from or to a NumPy array, or calls cuBLAS through CuPy raises an error:
#
# - ``float(x.sum())``: "D2H transfers are disallowed", that is, from the device to the host. Look at results
#   between two launches.
# - ``cp.asarray(np.ones(1000))``: "H2D transfers are disallowed". Copy beforehand, into an array that the
#   graph reads.
# - ``matrix @ matrix``: "calling cuBLAS API during stream capture is currently unsupported". Kernels of your
#   own that multiply matrices can be recorded.
# - ``own.synchronize()``: "operation not permitted when stream is capturing". Wait after ``launch``.
# - ``cuda.as_cuda_array(x)``: "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED". Make views beforehand, or pass
#   ``sync=False``.
#
# The last two also spoil the capture: ``end_capture`` fails as well.

# %%

# fold: The five lines, and their whole messages
import textwrap

x, matrix = cp.ones(1000, cp.float32), cp.ones((30, 30), cp.float32)
x.sum(), matrix @ matrix  # compiled and loaded

for code in (
    "float(x.sum())",
    "cp.asarray(np.ones(1000))",
    "matrix @ matrix",
    "own.synchronize()",
    "cuda.as_cuda_array(x)",
):
    own = cp.cuda.Stream(non_blocking=True)
    with own:
        own.begin_capture()
        try:
            eval(code)
            words = "no error"
        except Exception as error:
            words = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        try:
            own.end_capture()
        except Exception:
            words += ". The capture is spoilt."
    print(code, *textwrap.wrap(words, 76), sep="\n    ")

# %%
# What goes wrong: the graph writes into another array
# ----------------------------------------------------
#
# A graph keeps addresses, and CuPy does not know about them. In the line below, ``x + 1`` and ``x + 2`` are
# temporary arrays. Once the line is recorded, CuPy hands their memory to the next array, and each launch of
# the graph writes into it. No error is raised.

# wrong: the graph writes into memory that belongs to another array by then
x, y = cp.arange(5, dtype=cp.float32), cp.empty(5, cp.float32)
cp.cuda.Device().synchronize()

with stream:
    y[:] = (x + 1) * (x + 2)
    stream.begin_capture()
    y[:] = (x + 1) * (x + 2)
    graph = stream.end_capture()

    zeros = cp.zeros(5, cp.float32)
    graph.launch()
    print("y:    ", y)
    print("zeros:", zeros)

# %%
# The zeros are gone. Therefore, give a name to each array that a graph works on, write into it with ``out=``,
# and keep it as long as the graph. The same trap catches ``x = 2 * x``: each launch reads the old array, so
# two launches do not double twice.

# %%
# What goes wrong: a launch outside the stream
# --------------------------------------------
#
# A launch by Numba that does not name the stream is not recorded. It runs at once, and never again, however
# often the graph is launched.

# %%

# wrong, fold: A launch that is not in the stream


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


x = cp.zeros(65_536, cp.float32)
x_view = cuda.as_cuda_array(x)
with stream:
    stream.begin_capture()
    add_one[256, 256](x_view)
    graph = stream.end_capture()
    graph.launch()
    graph.launch()
    stream.synchronize()
print("after two launches of the graph:", x[:5])

# %%
# What goes wrong: a number that changes later
# --------------------------------------------
#
# Plain numbers that Python passes to a kernel are recorded, too, and each launch gets the same. So keep
# whatever changes from launch to launch in an array, and write into it.

# wrong: the graph goes on adding the first number
step_size = 1.0
in_array = cp.full(1, step_size, cp.float32)
x, y = cp.zeros(3, cp.float32), cp.zeros(3, cp.float32)
cp.cuda.Device().synchronize()

with stream:
    x += step_size
    y += in_array
    stream.begin_capture()
    x += step_size
    y += in_array
    graph = stream.end_capture()

    x[:], y[:] = 0, 0
    step_size = 10.0
    in_array[:] = step_size
    graph.launch()
    print("a Python number:", x)
    print("in an array:    ", y)

# %%
# The graph still adds 1 to ``x``, but 10 to ``y``. Random numbers of ``default_rng`` are no such trap, for
# their generator keeps its state in an array: each launch of the graph draws new ones.

# %%

# fold: Two launches draw different numbers
rng, drawn = cp.random.default_rng(1), cp.empty(3, cp.float32)
cp.cuda.Device().synchronize()
with stream:
    drawn[:] = rng.random(3, dtype=cp.float32)
    stream.begin_capture()
    drawn[:] = rng.random(3, dtype=cp.float32)
    graph = stream.end_capture()
    for _ in range(2):
        graph.launch()
        print(drawn)

# %%
# When a graph gains nothing
# --------------------------
#
# While the GPU works on a long kernel, Python launches the next one. On ten million numbers, a thousand steps
# take :measured:`thousand[raw, 10**7].time` if CuPy launches a ``RawKernel`` for each, and
# :measured:`thousand[graph_of_raw, 10**7].time` as a graph of the same kernel. So compare the time of your
# kernel with that of its launch: for short kernels, a thousand of CuPy's launches take about
# :measured:`thousand[raw, 10**5].time`, and of Numba's :measured:`thousand[views, 10**5].time`. Longer
# kernels hide their launches.
#
# For very short steps, try the CPU, too. A compiled loop on one thread takes
# :measured:`thousand[cpu_loop, 10**5].time` on a hundred thousand numbers, but only
# :measured:`thousand[cpu_loop, 10**4].time` on ten thousand, where the graph still takes
# :measured:`thousand[graph_of_1000, 10**4].time`.
#
# .. headline:: The more numbers per step, the less a graph gains

# draw
ax = gg.plot_time(results, variants=["raw", "graph_of_raw"])
ax.set_yticks(
    [0.002, 0.005, 0.01, 0.02, 0.04], ["2 ms", "5 ms", "10 ms", "20 ms", "40 ms"]
)

# %%

# draw
gg.claim(results, "graph_of_1000", faster_than="views", at=10**5, by=15)
gg.claim(results, "graph_of_1000", faster_than="cpu_loop", at=10**5, by=8)
gg.claim(results, "graph_of_1000", faster_than="elementwise", at=10**5, by=4.5)
gg.claim(results, "graph_of_1000", faster_than="cuda_core", at=10**5, by=2.5)
gg.claim(results, "graph_of_1000", faster_than="all_steps", at=10**5, by=1.9)
gg.claim(results, "graph_of_1000", faster_than="all_steps", at=10**4, by=1.2)
gg.claim(results, "graph_of_raw", faster_than="raw", at=10**5, by=3.5)
gg.claim(results, "graph_of_2", faster_than="views", at=10**4, by=13)
gg.claim(results, "graph_of_cupy", faster_than="cupy", at=10**4, by=6)
gg.claim(results, "graph_of_cupy", faster_than="elementwise", at=10**4, by=1.3)
gg.claim(results, "graph_of_early", faster_than="graph_of_raw", at=10**4, by=1.6)
gg.claim(results, "graph_of_early", faster_than="graph_of_raw", at=10**6, by=1.15)
gg.claim(results, "graph_of_raw", faster_than="graph_of_early", at=10**7, by=1.05)
gg.claim(chain, "early", faster_than="raw_256", at=10**4, by=1.6)
gg.claim(chain, "early", faster_than="raw_256", at=10**5, by=1.55)
gg.claim(chain, "early", faster_than="raw_256", at=10**6, by=1.1)
gg.claim(chain, "early", faster_than="early_as_usual", at=10**4, by=1.7)
gg.claim(chain, "early", faster_than="early_as_usual", at=10**5, by=1.55)
gg.claim(chain, "early", faster_than="early_as_usual", at=10**6, by=1.1)
gg.claim(chain, "early", faster_than="early_256", at=10**6, by=1.65)
gg.claim(chain, "raw_256", faster_than="early_256", at=10**6, by=1.3)
gg.claim(chain, "raw_256", faster_than="raw_64", at=10**5, by=1.25)
gg.claim(chain, "raw_256", faster_than="raw_64", at=10**6, by=2.5)
gg.claim(until, "graph", faster_than="look_seldom", at=10**5, by=10)
gg.claim(until, "look_seldom", faster_than="look_often", at=10**5, by=1.8)
by_gpu = "a graph of 1000 kernels, by the GPU's clock"
for name, variant in {
    "per_kernel": "numba",
    "per_usual_kernel": "raw_256",
    "per_early_kernel": "early",
}.items():
    gg.fact(name, chain.time(variant, 10**4).value / 1000, unit="s", note=by_gpu)

# %%
# .. dropdown:: All ways to launch the thousand steps
#
#    .. csv-table:: On a hundred thousand numbers
#       :header: way | time
#       :delim: |
#
#       Numba, CuPy arrays|:measured:`thousand[cupy_arrays, 10**5].time`
#       CuPy, four calls per step|:measured:`thousand[cupy, 10**5].time`
#       Numba, views made once by ``as_cuda_array``|:measured:`thousand[views, 10**5].time`
#       CuPy, an ElementwiseKernel per step|:measured:`thousand[elementwise, 10**5].time`
#       CuPy, a RawKernel per step|:measured:`thousand[raw, 10**5].time`
#       ``cuda.core``, the same kernel in CUDA C++|:measured:`thousand[cuda_core, 10**5].time`
#       one launch with ``grid.sync()``|:measured:`thousand[all_steps, 10**5].time`
#       a graph of Numba's launches|:measured:`thousand[graph_of_1000, 10**5].time`
#       a graph of the RawKernel's launches|:measured:`thousand[graph_of_raw, 10**5].time`
#       a graph of kernels that start early|:measured:`thousand[graph_of_early, 10**5].time`
#
#    ``cuda.core`` launches kernels, and records graphs of its own. It takes addresses, so that you have to
#    keep the arrays yourself.
#
# .. kernel:: gpuguide.topics.graphs.study
#    :names: between_two, launch_numba, four_calls, one_call, launch_raw, cuda_core, launch_early, kept_graph,
#            replay
#    :fold: The launches as they are timed
#
# .. kernel:: gpuguide.topics.graphs.kernels
#    :names: cpu_steps
#    :fold: The compiled loop on the CPU

# %%
# .. remember::
#
#    - If a loop launches the same short kernels again and again, record a few dozen of them in a CUDA graph:
#      a thousand steps take :measured:`thousand[graph_of_1000, 10**5].time` instead of
#      :measured:`thousand[views, 10**5].time`.
#    - Launch the graph in a loop, and look at the result between two launches.
#    - Call everything once before you record, write into existing arrays, and keep them as long as the graph.

# %%
# Your turn: until it has converged
# ---------------------------------
#
# A solver looks at its result after each step. Let it launch a graph of many steps, and look once per launch.
# The check needs no GPU.
#
# .. exercise:: until_converged

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "launched by Numba": "views",
    "launched by CuPy": "elementwise",
    "as a CUDA graph": "graph_of_1000",
}
times = {label: results.time(name, 10**5) for label, name in names.items()}
_ = thumbnail.bars(times, "time of a thousand steps")

# %%
# Next
# ----
#
# Next: :doc:`Share work among several GPUs </gallery/concurrency/several_gpus>`. See also:
# :doc:`Many short kernels: launch less often </gallery/first_kernels/launch_overhead>`, on what a launch is
# made of, and :doc:`Stencils </gallery/fast_kernels/stencil>`, on several steps in one launch.
