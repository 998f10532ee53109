"""
Launch overhead
===============

What does a launch cost the host, and how do you pay less?
"""
# %%
# A hundred short Numba kernels take :measured:`hundred[cupy_arrays, 65536].time` if each launch is handed a
# CuPy array, :measured:`hundred[numba_views, 65536].time` with a view that was made once, and
# :measured:`hundred[graph, 65536].time` as a CUDA graph. The GPU's work is the same. What differs is what
# Python does for each launch.
#
# .. rungs:: hundred
#    :at: 65536
#    :beside: kernels_alone

# %%
# CuPy arrays in Numba kernels
# ----------------------------
#
# A Numba kernel takes a CuPy array as it is, and what it writes is in that array afterwards. Here a hundred
# launches follow one another, each with next to nothing to do.
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
#
# The time runs from the first launch until the GPU is done. By the GPU's own clock, the hundred kernels
# take :measured:`hundred[kernels_alone, 65536].time`. The rest is the host, preparing one launch after the
# other. :evidence:`variant kernels_alone`

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
# Nothing else has changed, so making this array is what the hundred launches save.
# :evidence:`variant numba_views`

# %%
# The compiled version, chosen once by specialize
# -----------------------------------------------
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
# This saves looking up the right version, and the grid: a small part. :evidence:`variant cached_launcher`
# Each launch still takes about :measured:`cached_launch`. Numba takes the array apart in Python each time,
# but a further view adds only about :measured:`adds_views`, as measured below. We have not found out what the
# rest is.

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
# This is still a launch from Python. What a program in C++ would pay is not measured here.
#
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
# The host launches once, and the GPU is at work before that launch has returned. So the whole takes little
# more than the kernels' own :measured:`hundred[kernels_alone, 65536].time`. A graph keeps addresses, so it
# works on this matrix and no other.

# %%
# One launch instead of a hundred
# -------------------------------
#
# The cheapest launch is the one that does not happen. If nothing else reads the matrix in between, one
# kernel can do all of the additions.
#
# .. rung:: one_launch

one_launch[blocks_per_grid, threads_per_block](view)

# %%
# It also reads and writes the matrix once, and not a hundred times.
#
# .. results:: hundred

# %%
# Each array makes a launch longer
# --------------------------------
#
# So far there was one array. The chart shows the host's time for a single launch of kernels with one, three
# and eight arrays.

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.marks import draw_ranges, label_ends
from gpuguide.charts.style import SERIES, describe

figure, ax = plt.subplots()
ends, ranges, words = [], [], []
for (kind, label), colour, marker in zip(
    {
        "cupy_arrays": "Numba, CuPy arrays",
        "views": "Numba, views",
        "raw": "RawKernel",
    }.items(),
    SERIES,
    "os^",
    strict=False,
):
    times = [launches.quantity(f"{kind}_{n}", 1024, "launch") for n in (1, 3, 8)]
    micros = [time.value * 1e6 for time in times]
    ax.plot((1, 3, 8), micros, marker=marker, color=colour)
    ends.append((8, micros[-1], label, colour))
    ranges += [(n, time, colour) for n, time in zip((1, 3, 8), times, strict=True)]
    words.append(f"{label} from {times[0]} with 1 array to {times[-1]} with 8")
ax.set(xlabel="arrays handed to the kernel", ylabel="µs per launch, host", ylim=(0, None))
ax.set(xticks=(1, 3, 8))
draw_ranges(ax, ranges, scale=1e6)
label_ends(ax, ends)
describe(ax, f"Host time of a launch against the number of arrays. {'; '.join(words)}.")

# %%
# .. finding::
#
#    Each further CuPy array adds about :measured:`adds_cupy_arrays` to a launch by Numba,
#    :measured:`adds_ratio` what a view adds. A RawKernel takes :measured:`launches[raw_1, 1024].launch` with
#    one array, and hardly more with eight. CuPy's ``maximum``, with three, takes
#    :measured:`launches[ufunc_3, 1024].launch`.

# %%
# A launch that waits
# -------------------
#
# Launches return while earlier work is still in the queue. Making a view may not: without ``sync=False``,
# ``cuda.as_cuda_array(x)`` waits until the stream is empty, in case somebody is still writing to the array.
#
# .. drawing:: launch_overhead
#
#     Three hosts over time. With a view made once a launch has three steps: kernel and grid, arguments,
#     driver. With CuPy arrays an export of each of three arrays comes in between. Where the function that
#     waits makes views each time, the first array holds the host until the device has finished what was
#     queued before.
#
# Here a first kernel keeps the GPU busy for :measured:`queued_before`, and one with three arrays is launched
# behind it. The times include the launch of both.
#
# .. list-table:: Host time until the launches have returned
#    :stub-columns: 1
#
#    * - views made once
#      - :measured:`busy[behind_views, 1024].launch`
#    * - CuPy arrays
#      - :measured:`busy[behind_cupy_arrays, 1024].launch`
#    * - ``cuda.as_cuda_array(x)`` at each launch
#      - :measured:`busy[waiting, 1024].launch`
#
# Only the last one waits. :evidence:`variant behind_cupy_arrays` In a loop of such launches, host and
# device take turns instead of working together.
#
# .. results:: busy
#
# .. results:: launches

# %%
# A library call is many launches: QR
# -----------------------------------
#
# CuPy's QR factorisation of a small matrix is many kernels with little to do, and the host has to launch each
# of them. The matrices here are ``float32`` and begin on the host, so NumPy is compared with
# CuPy with pinned copies there and back.
#
# .. kernel:: gpuguide.topics.how_to_time.study
#    :names: qr_numpy, qr_cupy
#    :fold: What is timed
#
# .. kernel:: gpuguide.topics.launch_overhead.study
#    :names: copied_pinned
#    :fold: The copies, from and to pinned memory

# draw
ax = gg.plot_time(qr, variants=["numpy", "copied_pinned"])
sizes, asked = qr.series("cupy", "launch")
ax.plot(sizes, asked, "--", marker="D", color=SERIES[1])
draw_ranges(ax, [(size, qr.time("cupy", size, "launch"), SERIES[1]) for size in sizes])
label_ends(ax, [(sizes[-1], asked[-1], "CuPy's launches alone", SERIES[1])])
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
# .. finding::
#
#    At 64 by 64 CuPy with its copies takes :measured:`qr[copied_pinned, 64**2].time`, about as long as its
#    launches alone, :measured:`qr[cupy, 64**2].launch`. At 2048 by 2048 it takes
#    :measured:`qr[copied_pinned, 2048**2].time`, and its launches :measured:`qr[cupy, 2048**2].launch`.
#
# Launches for free would not put CuPy ahead in the smallest case: to its kernels'
# :measured:`qr[cupy, 64**2].time` come the copies, and NumPy takes :measured:`qr[numpy, 64**2].time` in all.
# From 256 by 256 on, the kernels take longer than their launches: :measured:`qr[cupy, 256**2].time` there,
# against :measured:`qr[cupy, 256**2].launch`.
#
# .. results:: qr

# %%
# When launches cost nothing
# --------------------------
#
# At 1024 by 1024 CuPy's kernels work for :measured:`qr[cupy, 1024**2].time`, and meanwhile the host prepares
# the next launches: all of them take it :measured:`qr[cupy, 1024**2].launch`. As long as the queue does not
# run dry, launches add nothing to a program's time. Save them where kernels are short and many.

# %%
# Your turn: one launch for a table
# ---------------------------------
#
# A loop goes through the rows of a table and launches twice for each. Write it with a single launch;
# the check counts.
#
# .. exercise:: one_launch

# %%
# Next
# ----
#
# Onward: :doc:`Primes </gallery/first_kernels/primes>`, where one launch per number loses to plain Python.
# Sideways: :doc:`How to time a GPU </gallery/measuring/how_to_time>`, on clocks that see the work behind a
# launch.
