"""
Atomics: count without losing any
=================================

How do many threads add to one place, and what does it cost?
"""
# %%
# Where several threads add to one number, write ``cuda.atomic.add``: with ``+=``, nearly all additions are
# lost. If there are few such numbers, as in a histogram, let each block count into a copy in shared memory,
# and add that to the result once. For 2\ :sup:`28` keys in 256 bins this takes
# :measured:`counts[count_eight, 2**28].time`. Atomics in global memory take
# :measured:`counts[count_global, 2**28].time`, and ``cp.histogram`` takes
# :measured:`counts[cupy_histogram, 2**28].time`.
#
# .. headline:: Without atomics, nearly all counts are lost
#
# .. drawn:: atomics
#
#     import matplotlib.pyplot as plt
#     import numpy as np
#
#     from gpuguide.charts.style import KERNEL, NUMPY, describe, style
#
#     right, lost = arrays["right"], arrays["lost"]
#     with style():
#         ax = plt.subplots(figsize=(7.2, 3.0))[1]
#         for counts, way, colour in ((right, "right", NUMPY), (lost, "with +=", KERNEL)):
#             ax.step(range(256), np.maximum(counts, 0.5), where="mid", color=colour)
#             place = {"textcoords": "offset points", "ha": "center", "weight": "bold"}
#             ax.annotate(way, (128, counts[118:139].max()), (0, 6), color=colour, **place)
#         ax.set_yscale("log")
#         ax.set(xlim=(0, 255), ylim=(0.5, 9 * right.max()), xlabel="bin")
#         ax.set_ylabel("keys counted")
#         words = f"Additions with += count one key in {round(right.sum() / lost.sum(), -2):.0f}"
#         describe(ax, f"Two histograms of the same keys, on a logarithmic axis. {words}.")

# %%
# One atomic addition for each key
# --------------------------------
#
# ``counts[b] += 1`` is three steps: read, add, write. If two threads read the same number before either has
# written, both write the same sum, and one of the two additions is lost. An *atomic* operation does all three
# steps at once, and nobody can come in between.

import cupy as cp
import numpy as np
from numba import cuda


@cuda.jit
def count_global(x, counts):
    """Each thread adds one to a count in global memory, in a step that nobody can interrupt."""
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i], 1)


x_host = np.random.default_rng(0).normal(128, 24, 2**16).clip(0, 255).astype(np.int32)
x = cp.asarray(x_host)
counts = cp.zeros(256, dtype=cp.int32)
count_global[(x.size + 255) // 256, 256](x, counts)
print("GPU:  ", counts[126:131], "all:", counts.sum())
print("NumPy:", np.bincount(x_host, minlength=256)[126:131], "all:", x_host.size)

# %%
# The counts must be zero at first, as a launch adds to what is there. And each key must have a bin: nothing
# stops a key of 300 from changing memory behind the counts. For whole numbers the result is the same every
# time. The sum of floats depends on the order of the additions, which differs from launch to launch, so its
# last digits differ, too.
#
# .. try-it::
#
#    Launch the kernel twice before you print: every count doubles. Then write ``cp.empty`` for ``cp.zeros``:
#    the counts begin with whatever stood in that memory.

# %%

# record: What is lost without atomics: 2**24 keys, most of them in the middle
import gpuguide as gg
from gpuguide.topics.atomics.kernels import count_eight, count_shared, without_atomics

many = np.random.default_rng(1).normal(128, 24, 2**24).clip(0, 255).astype(np.int32)
lost = cp.zeros(256, dtype=cp.int32)
without_atomics[(many.size + 255) // 256, 256](cp.asarray(many), lost)
_ = gg.keep("lost", lost.get())
_ = gg.keep("right", np.bincount(many, minlength=256))
gg.fact("counted", int(lost.sum()), unit="1", note="of 2**24 keys, without atomics")

# %%

# record: The studies: keys spread evenly, nearly all in one bin, and bytes, every count checked
from gpuguide.topics.atomics import study as atomics

results = atomics.counts.run()
hot = atomics.hot.run()
of_bytes = atomics.of_bytes.run()

# %%
# What goes wrong: plain additions
# --------------------------------
#
# The lower curve of the chart at the top was counted with ``counts[x[i]] += 1``: of 16 777 216 keys, it holds
# :measured:`counted`. With few keys the result may even be right, so do not rely on a test run. ``gg.trace``
# runs a kernel thread by thread, without a GPU, and finds what could go wrong:

# wrong: the three steps of += can be interrupted
from numba import config

import gpuguide as gg

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba would warn of launches of few blocks


@cuda.jit
def plain_additions(x, counts):
    i = cuda.grid(1)
    if i < x.size:
        counts[x[i]] += 1


keys = cp.array([2, 0, 1, 2, 2, 0], dtype=cp.int32)
print(gg.trace(plain_additions[1, 8], keys, cp.zeros(3, dtype=cp.int32)))

# %%
# Neither an ``if`` nor a barrier nor another look at the number cures this. Either one thread alone writes to
# a place, or the addition is atomic. Numba has ``cuda.atomic.max``, ``min``, ``exch`` and ``cas`` as well.

# %%
# A copy per block, in shared memory
# ----------------------------------
#
# All atomics on one address wait for one another, wherever on the GPU they come from. In
# :term:`shared memory` only the threads of one block meet. So each block gets 256 counts of its own, goes
# through its part of the keys, and adds its counts to the result at the end.
#
# .. rung:: count_shared

from numba import int32

multiprocessors = cp.cuda.Device().attributes["MultiProcessorCount"]
# As many blocks as the GPU holds at once, or fewer.
blocks = min(8 * multiprocessors, (x.size + 255) // 256)
counts = cp.zeros(256, dtype=cp.int32)
count_shared[blocks, 256](x, counts)
print("as NumPy:", bool((counts.get() == np.bincount(x_host, minlength=256)).all()))

# %%
# This is :measured:`counts[count_shared, 2**28].speedup(count_global)` as fast. Two things matter. Both
# barriers are needed: no thread may count before all counts are zero, nor add up before all have counted. And
# each block must go through many keys: with one key per thread, a block has as many counts to add at the end
# as it had keys, and the kernel takes :measured:`counts[short_blocks, 2**28].time`.
# :evidence:`variant short_blocks`

# %%
# Load eight keys before you count
# --------------------------------
#
# Let each thread load eight keys before it counts the first. More bytes are on their way then
# (:doc:`How many threads, how many blocks </gallery/first_kernels/launch_sizes>` shows what that is worth).
# Besides, an index of type ``uint32`` needs no test for being negative.
#
# .. rung:: count_eight

from numba import uint32

counts = cp.zeros(256, dtype=cp.int32)
count_eight[blocks, 256](x, counts)
print("as NumPy:", bool((counts.get() == np.bincount(x_host, minlength=256)).all()))

# %%
# Now the memory is the limit: the kernel reads at :measured:`counts[count_eight, 2**28].share` of its speed.
# With fewer keys, a RawKernel that loads 16 bytes at a time gains: 2\ :sup:`24` take
# :measured:`counts[cpp, 2**24].time` instead of :measured:`counts[count_eight, 2**24].time`.
#
# .. kernel:: gpuguide.topics.atomics.kernels
#    :names: count_source
#    :fold: The kernel in CUDA C++
#
# .. headline:: A copy per block pays when each block counts many keys

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.style import CUPY, KERNEL, describe

names = {
    "cp.histogram": "cupy_histogram",
    "one key per thread": "short_blocks",
    "many keys": "count_shared",
    "eight at a time": "count_eight",
}
times = {label: results.time(name, 2**28) for label, name in names.items()}
ax = plt.subplots(figsize=(7.2, 2.0))[1]
for row, time in enumerate(times.values()):
    ax.barh(row, time.value, 0.6, color=KERNEL if row else CUPY)
    ax.text(time.value, row, f"  {time}", va="center", weight="bold")
ax.set_yticks(range(4), list(times))
longest = max(time.value for time in times.values())
ax.set(xlim=(0, 1.25 * longest), xticks=[], ylim=(3.5, -0.5))
ax.grid(visible=False)
ax.spines["bottom"].set_visible(False)
words = "; ".join(f"{label} {time}" for label, time in times.items())
describe(ax, f"Time to count 2**28 keys of four bytes in 256 bins. {words}.")

# %%

# draw
gg.claim(results, "count_eight", share_at_least=0.82, at=2**28)
gg.claim(results, "count_shared", faster_than="count_global", at=2**28, by=175)
gg.claim(results, "count_shared", faster_than="short_blocks", at=2**28, by=25)
gg.claim(results, "count_eight", faster_than="count_shared", at=2**28, by=1.25)
gg.claim(results, "cpp", faster_than="count_eight", at=2**24, by=1.2)
gg.claim(results, "count_eight", faster_than="cupy_histogram", at=2**28, by=10)
gg.claim(hot, "count_eight", faster_than="count_global", at=2**28, by=700)
gg.claim(hot, "count_eight", faster_than="cupy_histogram", at=2**28, by=7.8)
gg.claim(hot, "count_eight", share_at_least=0.82, at=2**28)
_ = gg.claim(of_bytes, "count_bytes", faster_than="bincount_of_bytes", at=2**28, by=20)

# %%
# What one hot bin costs
# ----------------------
#
# Real keys are rarely spread evenly: pixels are black, words are "the". If 999 of 1000 keys fall into one
# bin, all threads queue at one address.
#
# .. list-table:: 2\ :sup:`28` keys in 256 bins
#    :header-rows: 1
#
#    * - keys
#      - global memory
#      - a copy per block
#      - cp.histogram
#    * - spread evenly
#      - :measured:`counts[count_global, 2**28].time`
#      - :measured:`counts[count_eight, 2**28].time`
#      - :measured:`counts[cupy_histogram, 2**28].time`
#    * - 999 of 1000 in one bin
#      - :measured:`hot[count_global, 2**28].time`
#      - :measured:`hot[count_eight, 2**28].time`
#      - :measured:`hot[cupy_histogram, 2**28].time`
#
# In shared memory this GPU does not mind. Where all threads add the constant 1, the compiler takes an
# instruction that counts the threads of a warp with the same address, and adds them at once. The counters
# show it: keys in one bin need :measured:`hot[count_eight, 2**28].counter(shared_wavefronts)` accesses to
# shared memory, about one for each warp of keys, and keys spread evenly need
# :measured:`counts[count_eight, 2**28].counter(shared_wavefronts)`. :evidence:`counter shared_wavefronts` If
# each thread adds an amount of its own, such as a weight, a hot bin may well cost time, we think.
#
# .. dropdown:: Keys of one byte
#
#    Four bytes come in the time of one ``int32`` key, so here the atomics are the limit, we think. With four
#    words per thread and four bytes in each, 2\ :sup:`28` bytes take
#    :measured:`of_bytes[count_bytes, 2**28].time`, and ``cp.bincount`` takes
#    :measured:`of_bytes[bincount_of_bytes, 2**28].time`. Hand the kernel ``x.view(np.uint32)``, and make the
#    length a multiple of four.
#
#    .. kernel:: gpuguide.topics.atomics.kernels
#       :names: count_bytes

# %%
# When a histogram should be CuPy's, or the CPU's
# -----------------------------------------------
#
# - **It is counted once.** ``cp.histogram(x, 256, (0, 256))[0]`` is one line, and its
#   :measured:`counts[cupy_histogram, 2**28].time` are less than the copy of these keys to the GPU takes: a
#   quarter of them takes :measured:`transfers:to_device[pinned, 2**28].time`, even from pinned memory.
# - **The keys are on the CPU, in ordinary arrays.** All its threads, each with a copy of its own, count
#   2\ :sup:`24` keys in :measured:`counts[cpu_threads, 2**24].time`, where ``np.bincount`` takes
#   :measured:`counts[numpy_bincount, 2**24].time`. To copy four times as many from pageable memory takes
#   :measured:`transfers:to_device[pageable, 2**28].time`.
# - **There are many bins.** The 48 KiB of shared memory that a block may have hold 12 288 counts of four
#   bytes. Beyond that, count in global memory: keys that are spread over many bins seldom meet.

# %%
# .. remember::
#
#    - Where more than one thread may add to a place, write ``cuda.atomic.add(array, index, amount)``, and set
#      the place to zero before each launch.
#    - Count in shared memory, one copy per block, and add it to the result once: that is
#      :measured:`counts[count_shared, 2**28].speedup(count_global)` as fast as atomics in global memory.

# %%
# Your turn: a histogram with a trap
# ----------------------------------
#
# Some of the values have no bin. Let each thread take one value, and lose no count.
#
# .. exercise:: histogram

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "global memory": "count_global",
    "CuPy": "cupy_histogram",
    "shared memory": "count_eight",
}
times = {label: results.time(name, 2**28) for label, name in names.items()}
_ = thumbnail.bars(times, "time of a histogram")

# %%
# Next
# ----
#
# Next: :doc:`Scan: running totals, and what to keep </gallery/fast_kernels/scan>`, which gives each thread a
# place to store, in the order of the data. See also: :doc:`Shared memory: load once, read in any order
# </gallery/fast_kernels/shared_memory>`, on barriers and banks.
