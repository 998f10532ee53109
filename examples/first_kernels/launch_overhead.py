"""
Many short kernels: launch less often
=====================================

What does a launch cost, and how do you pay less?
"""
# %%
# Make one kernel of many short ones, or, if the same launches come again and again, record them in a CUDA
# graph. A hundred launches of a short Numba kernel take :measured:`hundred[cupy_arrays, 65536].time`,
# although the GPU works for only :measured:`hundred[kernels_alone, 65536].time`. As a graph they take
# :measured:`hundred[graph, 65536].time`, and as a single kernel :measured:`hundred[one_launch, 65536].time`.
#
# .. headline:: A hundred short kernels: most of the time goes into launching them
#
# .. drawn:: launch_overhead
#
#    from gpuguide.charts.shapes import plot_bars
#
#    names = ["cupy_arrays", "numba_views", "raw_kernel", "graph", "one_launch"]
#    plot_bars(results, names, at=65536)

# %%
# A hundred launches, one after the other
# ---------------------------------------
#
# A Numba kernel takes a CuPy array as it is, and what it writes is in that array afterwards. Here a hundred
# launches follow one another, each with next to nothing to do. While the GPU works on one, Python prepares
# the next, and that takes much longer.
#
# .. rung:: cupy_arrays

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def add_one(x):
    """Each thread adds one to its element of a matrix."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        x[row, col] += 1


x = cp.ones(shape=(256, 256))
blocks_per_grid, threads_per_block = (16, 16), (16, 16)
for _ in range(100):
    add_one[blocks_per_grid, threads_per_block](x)
print("GPU:  ", x[0, :4])
print("NumPy:", np.ones((256, 256))[0, :4] + 100)

# %%
# .. try-it::
#
#    Write ``np.ones`` for ``cp.ones``. The kernel takes it, and Numba warns: now each of the launches
#    copies the matrix to the GPU, waits for the kernel, and copies it back.

# %%

# record: The ladder, launches by their arrays, and launches behind a busy queue, every result compared
import gpuguide as gg
from gpuguide.topics.launch_overhead import study as launch_overhead
from gpuguide.topics.launch_overhead.kernels import add_one_source, one_launch

results = launch_overhead.hundred.run()
launches = launch_overhead.launches.run()
busy = launch_overhead.busy.run()
qr = launch_overhead.qr.run()
_ = gg.fact("queued_before", launch_overhead.DELAY_NS / 1e9, unit="s", note="set by us")

# %%

# draw
gg.claim(results, "numba_views", faster_than="cupy_arrays", at=65536, by=1.5)
gg.claim(results, "raw_kernel", faster_than=("numba_views", "cached_launcher"), at=65536)
gg.claim(results, "graph", faster_than="numba_views", at=65536, by=8)
gg.claim(results, "graph", faster_than="raw_kernel", at=65536, by=2)
gg.claim(results, "one_launch", faster_than="graph", at=65536)
gg.claim(launches, "views_8", faster_than="cupy_arrays_8", at=1024, clock="launch")
gg.claim(launches, "raw_8", faster_than="views_1", at=1024, clock="launch")
gg.claim(busy, "behind_cupy_arrays", faster_than="waiting", at=1024, clock="launch")
gg.claim(qr, "copied_pinned", faster_than="numpy", at=2048**2)
gg.claim(qr, "numpy", faster_than="copied_pinned", at=64**2)
for kind in ("cupy_arrays", "views"):
    one, eight = (launches.quantity(f"{kind}_{n}", 1024, "launch").value for n in (1, 8))
    gg.fact(f"adds_{kind}", (eight - one) / 7, unit="s", note="(8 arrays - 1 array) / 7")
adds = facts["adds_cupy_arrays"].value / facts["adds_views"].value
gg.fact("adds_ratio", adds, unit="ratio", note="CuPy array / view")
left = results.time("cached_launcher", 65536).value / 100
_ = gg.fact("cached_launch", left, unit="s", note="cached launcher, end to end / 100")

# %%
# A view, made once
# -----------------
#
# At each launch Numba asks the CuPy array for its address, its shape and its type, and makes an array of its
# own from the answer. You can do that once, beforehand. The result is a *view*: the same memory, as Numba
# sees it.
#
# .. rung:: numba_views

view = cuda.as_cuda_array(x, sync=False)
for _ in range(100):
    add_one[blocks_per_grid, threads_per_block](view)
print("a hundred more:", x[0, :4])

# %%
# This is the cheapest change on the page: one line, and the kernel stays as it is. Nothing else has changed,
# so the array that Numba made each time is what the launches save. :evidence:`variant numba_views`

# %%
# The compiled version, chosen once
# ---------------------------------
#
# Numba also looks up, at each launch, which of the compiled versions fits the types of the arguments.
# ``specialize`` chooses one, and the brackets set the grid. What they return checks no types any more, so
# give it arrays of the same types only.
#
# .. rung:: cached_launcher

add = add_one.specialize(view)[blocks_per_grid, threads_per_block]
for _ in range(100):
    add(view)

# %%
# The gain is small. :evidence:`variant cached_launcher`
#
# .. dropdown:: What is left of a launch
#
#    Each launch still takes about :measured:`cached_launch`. Numba takes the array apart in Python each time,
#    but a further view adds only about :measured:`adds_views`, as measured below. We have not found out what
#    the rest is.

# %%
# CUDA C++, launched by CuPy
# --------------------------
#
# CuPy launches kernels in CUDA C++. Its launcher is compiled, and passes on the pointers without looking at
# their types: an array of the wrong type goes unnoticed.
#
# .. kernel:: gpuguide.topics.launch_overhead.kernels
#    :names: add_one_source

# %%
# .. rung:: raw_kernel

raw_add_one = cp.RawKernel(add_one_source, "add_one")
rows_and_cols = np.int32(x.shape[0]), np.int32(x.shape[1])
for _ in range(100):
    raw_add_one(blocks_per_grid, threads_per_block, (x, *rows_and_cols))

# %%
# A CUDA graph records launches
# -----------------------------
#
# If the same launches come again and again, record them. Between ``begin_capture`` and ``end_capture``
# nothing runs: what is launched goes into a CUDA graph, with its grid and its addresses. The graph is then
# launched as one.
#
# .. rung:: graph

stream = cp.cuda.Stream(non_blocking=True)
numba_stream = cuda.external_stream(stream.ptr)
cp.cuda.Device().synchronize()  # what was launched above is done
with stream, cuda.defer_cleanup():  # freeing memory would end the capture
    stream.begin_capture()
    for _ in range(100):
        add_one[blocks_per_grid, threads_per_block, numba_stream](view)
    graph = stream.end_capture()
graph.launch(stream)
stream.synchronize()
print("a hundred more:", x[0, :4])

# %%
# The whole takes little more than the kernels' own time: the GPU is at work before the one launch has
# returned. To record the graph, Python still goes through all hundred calls, so a graph that is launched only
# once gains nothing. It also keeps addresses: it works on this matrix and no other. To use it again, copy new
# data into the same array.

# %%
# One launch instead of a hundred
# -------------------------------
#
# The cheapest launch is the one that does not happen. If nothing else reads the matrix in between, one kernel
# can do all of the additions. It also reads and writes the matrix only once.
#
# .. rung:: one_launch

one_launch[blocks_per_grid, threads_per_block](view)

# %%
# Each array makes a launch longer
# --------------------------------
#
# So far there was one array. Each further CuPy array adds about :measured:`adds_cupy_arrays` to a launch by
# Numba, and a view adds a fraction of that. A ``RawKernel`` takes hardly longer with eight arrays than with
# one.
#
# .. headline:: With many arrays, views and RawKernels save most

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.marks import draw_ranges, label_ends
from gpuguide.charts.style import KERNELS, describe

figure, ax = plt.subplots()
ends, ranges, words = [], [], []
for (kind, label), colour, marker in zip(
    {
        "cupy_arrays": "Numba, CuPy arrays",
        "views": "Numba, views",
        "raw": "RawKernel",
    }.items(),
    KERNELS,
    "os^",
    strict=False,
):
    times = [launches.quantity(f"{kind}_{n}", 1024, "launch") for n in (1, 3, 8)]
    micros = [time.value * 1e6 for time in times]
    ax.plot((1, 3, 8), micros, marker=marker, color=colour)
    ends.append((8, micros[-1], label, colour))
    ranges += [(n, time, colour) for n, time in zip((1, 3, 8), times, strict=True)]
    words.append(f"{label} from {times[0]} with 1 array to {times[-1]} with 8")
ax.set_yscale("log")
ax.minorticks_off()
ax.set(xlabel="arrays handed to the kernel", ylabel="time in Python per launch (µs)")
ax.set(xticks=(1, 3, 8), yticks=(5, 10, 20, 50, 100, 200, 500))
ax.yaxis.set_major_formatter("{x:g}")
draw_ranges(ax, ranges, scale=1e6)
label_ends(ax, ends)
describe(ax, f"Host time of a launch against the number of arrays. {'; '.join(words)}.")

# %%
# What goes wrong: a view that waits
# ------------------------------------
#
# Launches return while earlier work is still in the queue. Making a view may not: without ``sync=False``,
# ``cuda.as_cuda_array(x)`` waits until the stream is empty, in case somebody is still writing to the array.
# In a loop of such launches, Python and the GPU take turns instead of working together. Where everything runs
# on one stream, its order is enough, and ``sync=False`` is safe.
#
# .. drawing:: launch_overhead
#
#     Three hosts over time. With a view made once a launch has three steps: kernel and grid, arguments,
#     driver. With CuPy arrays an export of each of three arrays comes in between. Where the function that
#     waits makes views each time, the first array holds the host until the device has finished what was
#     queued before.
#
# Here a first kernel keeps the GPU busy for :measured:`queued_before`, and one with three arrays is launched
# behind it. Only the last way waits. :evidence:`variant behind_cupy_arrays`
#
# .. list-table:: Until both launches have returned
#    :header-rows: 1
#
#    * - arrays
#      - time in Python
#    * - views made once
#      - :measured:`busy[behind_views, 1024].launch`
#    * - CuPy arrays
#      - :measured:`busy[behind_cupy_arrays, 1024].launch`
#    * - ``cuda.as_cuda_array(x)`` at each launch
#      - :measured:`busy[waiting, 1024].launch`

# %%
# A library call is many launches: QR
# -----------------------------------
#
# You do not see all launches. CuPy's QR factorisation of a small matrix is many kernels with little to do,
# and Python has to launch each of them. At 64 by 64, CuPy takes :measured:`qr[copied_pinned, 64**2].time`
# with pinned copies there and back, most of it for launches, and NumPy is done after
# :measured:`qr[numpy, 64**2].time`. Give such calls large matrices, or many small ones at once.
#
# .. kernel:: gpuguide.topics.how_to_time.study
#    :names: qr_numpy, qr_cupy
#    :fold: What is timed
#
# .. kernel:: gpuguide.topics.launch_overhead.study
#    :names: copied_pinned
#    :fold: The copies, from and to pinned memory
#
# .. headline:: For small matrices CuPy takes as long as its launches, and NumPy wins

# draw
from gpuguide.charts.style import CUPY

ax = gg.plot_time(qr, variants=["numpy", "copied_pinned"])
sizes, asked = qr.series("cupy", "launch")
ax.plot(sizes, asked, "--", marker="D", color=CUPY)
draw_ranges(ax, [(size, qr.time("cupy", size, "launch"), CUPY) for size in sizes])
label_ends(ax, [(sizes[-1], asked[-1], "CuPy's launches alone", CUPY)])
words = []
for label, name, clock in (
    ("NumPy", "numpy", None),
    ("CuPy with copies", "copied_pinned", None),
    ("CuPy's launches alone", "cupy", "launch"),
):
    first, last = (qr.time(name, size, clock) for size in (64**2, 2048**2))
    words.append(f"{label} from {first} to {last}")
describe(ax, f"Time of a QR factorisation against matrix elements. {'; '.join(words)}.")

# %%
# .. dropdown:: Would launches for free help?
#
#    Not in the smallest case: to its kernels' :measured:`qr[cupy, 64**2].time` come the copies, and NumPy
#    takes :measured:`qr[numpy, 64**2].time` in all. From 256 by 256 on, the kernels take longer than their
#    launches: :measured:`qr[cupy, 256**2].time` there, against :measured:`qr[cupy, 256**2].launch`.

# %%
# When launches cost nothing
# --------------------------
#
# At 1024 by 1024 CuPy's kernels work for :measured:`qr[cupy, 1024**2].time`, and meanwhile Python prepares
# the next launches, which takes :measured:`qr[cupy, 1024**2].launch` for all of them. As long as the queue
# does not run dry, launches add nothing to a program's time. Save them where kernels are short and many.

# %%
# .. remember::
#
#    - Make one kernel of many short ones, or record them in a CUDA graph: a hundred launches then take
#      :measured:`hundred[graph, 65536].time`.
#    - Make Numba's view of a CuPy array once, ``cuda.as_cuda_array(x, sync=False)``, and launch with that: on
#      one stream it is safe, and a hundred launches take :measured:`hundred[numba_views, 65536].time`,
#      without it :measured:`hundred[cupy_arrays, 65536].time`.

# %%
# Your turn: one launch for a table
# ---------------------------------
#
# A loop goes through the rows of a table and launches twice for each. Write it with a single launch;
# the check counts.
#
# .. exercise:: one_launch

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "a hundred launches": "cupy_arrays",
    "a CUDA graph": "graph",
    "one launch": "one_launch",
}
times = {label: results.time(name, 65536) for label, name in names.items()}
_ = thumbnail.bars(times, "time of the same work")

# %%
# Next
# ----
#
# Next: :doc:`Primes: a better algorithm beats more threads </gallery/first_kernels/primes>`, where a launch
# for every number loses to plain Python. See also:
# :doc:`Time a GPU: wait, then stop the clock </gallery/measuring/how_to_time>`, on clocks that see the work
# behind a launch, and
# :doc:`CUDA graphs: record launches once, replay them </gallery/concurrency/graphs>`, on what a graph can
# hold.
