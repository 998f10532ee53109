"""
Streams
=======

When do two streams finish earlier than one?
"""
# %%
# When one task leaves part of the GPU idle. Two inverses of 6000 x 6000, which take
# :measured:`inverses[one_stream, 6000**2].time` in one stream, run
# :measured:`inverses[two_streams, 6000**2].speedup(one_stream)` as fast in two. Eight kernels of one block
# run :measured:`blocks[eight_streams, 1].speedup(one_stream)` as fast in eight streams; eight that fill the
# GPU, :measured:`blocks[eight_streams, 2112].speedup(one_stream)`.

# %%
# The current stream, and an event between two
# --------------------------------------------
#
# All work goes to the GPU in a :term:`stream`, and what is in one stream runs in order. CuPy uses the
# *current* stream. At first that is the default stream, number 0; ``with stream:`` makes another one current.
# Between streams there is no order, unless you ask for it with an :term:`event`: one stream records it, and
# another one waits for it.

import cupy as cp
import numpy as np

print(cp.cuda.get_current_stream())
one, two = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
matrix = cp.ones((4096, 4096), cp.float32)
x = cp.zeros(5)
cp.cuda.Device().synchronize()  # both arrays are there

with one:
    product = matrix @ matrix  # takes a while
    x += 1
    written = one.record()
two.wait_event(written)
with two:
    y = 10 * x
two.synchronize()
print("GPU:  ", y)
print("NumPy:", 10 * (np.zeros(5) + 1))

# %%
# .. try-it::
#
#    Run the cell once more without the line ``two.wait_event(written)``. Now the second stream does not wait
#    for the first one, which is still busy with the product, and ``y`` is all zeros. There is no error.
#
# ``wait_event`` does not stop Python: it only puts the wait into the second stream. ``synchronize`` does.
# Memory needs the same care. When an array's last name is gone, CuPy hands its memory to the next array of
# the same stream, even if another stream is still reading it. So keep a name for the array until that stream
# is done.
#
# .. drawing:: streams
#
#     Two pairs of lanes over time. Without an event stream 2 reads x while stream 1 is still writing it. With
#     an event the read begins when the write has ended, while stream 1 goes on with more work.

# %%

# record: Inverses, kernels and pairs of streams, every result checked
import gpuguide as gg
from gpuguide.measure.timing import time_device
from gpuguide.measure.turns import gpu_clock
from gpuguide.topics.streams import study as streams
from gpuguide.topics.streams import timeline
from gpuguide.topics.streams.kernels import steps_source

inverses = streams.inverses.run()
products = streams.products.run()
blocks = streams.blocks.run()
short = streams.short.run()
waits = streams.waits.run()
for name, seconds in timeline.urgent_times().items():
    gg.fact(name, float(np.median(seconds)), unit="s", samples=seconds)
for n in (128, 256):
    with gpu_clock().use():
        crowd = timeline.crowd(n)
    seconds = time_device(crowd, gpu_clock(), n_samples=10).seconds
    gg.fact(f"crowd_{n}", float(np.median(seconds)), unit="s", samples=seconds)
for name, n_streams in (("one", 1), ("two", 2)):
    _ = gg.keep(f"timeline_{name}", timeline.timeline(n_streams))

# %%
# Two inverses, one after the other
# ---------------------------------
#
# An inverse of 6000 x 6000 is a lot of work. In the default stream the second one begins when the first one
# has ended.
#
# .. rung:: one_stream

a, b = cp.random.standard_normal((2, 6000, 6000), dtype=cp.float32)
c, d = cp.linalg.inv(a), cp.linalg.inv(b)
print(f"off by {float(cp.abs(a @ c - cp.eye(len(a))).max()):.2g}")

# %%
# Two inverses in two streams
# ---------------------------
#
# The matrices were made in the default stream, and these two streams do not wait for it by themselves. So an
# event comes first.
#
# .. rung:: two_streams

made = cp.cuda.get_current_stream().record()
for stream in (one, two):
    stream.wait_event(made)
with one:
    c = cp.linalg.inv(a)
with two:
    d = cp.linalg.inv(b)
for stream in (one, two):
    stream.synchronize()
print(f"off by {float(cp.abs(b @ d - cp.eye(len(b))).max()):.2g}")

# %%

# draw
from gpuguide.charts.timeline import plot_timeline

_ = plot_timeline(
    {"one stream": arrays["timeline_one"], "two streams": arrays["timeline_two"]},
    ("inverse of a", "inverse of b"),
)

# %%
# .. finding::
#
#    Both inverses, with CUDA events around each. In two streams they run at the same time, and each takes
#    longer than alone. Both together are done :measured:`inverses[two_streams, 6000**2].speedup(one_stream)`
#    as fast as in one stream.
#
# An inverse is the work of many kernels. We think that the small ones among them leave room, which the other
# inverse uses. :evidence:`opinion` Both were called once before they were timed: the first call in each
# stream also makes what the libraries need there.
#
# .. kernel:: gpuguide.topics.streams.study
#    :names: streams, in_streams, invert, two_inverses
#    :fold: What is timed

# %%
# Small kernels overlap, full-size ones hardly
# --------------------------------------------
#
# How much two streams can save depends on what one leaves idle. This kernel can be made as small as you like:
# each thread makes 20 000 steps, each of which needs the one before. A block has 256 threads.
#
# .. kernel:: gpuguide.topics.streams.kernels
#    :names: steps_source

# draw
one_kernel = blocks.time("one_stream", 1).value / 8
gg.fact("one_kernel", one_kernel, unit="s", note="eight in one stream / 8")
gg.claim(inverses, "two_streams", faster_than="one_stream", at=6000**2, by=1.1)
gg.claim(blocks, "eight_streams", faster_than="one_stream", at=1, by=5)
gg.claim(short, "short_one", faster_than="short_eight", at=16, by=1.1)
gg.claim(short, "short_eight", faster_than="short_one", at=65_536, by=4)
gg.claim(waits, "own_own", faster_than="same", at=1, by=1.5)
gg.claim(waits, "own_legacy", faster_than="blocking_legacy", at=1, by=1.5)

# %%

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.style import MUTED, SERIES, describe

figure, ax = plt.subplots()
sizes = blocks.sizes
gains = [blocks.speedup("eight_streams", "one_stream", n).value for n in sizes]
ax.plot(sizes, gains, "o", color=SERIES[0])
ax.axhline(1, color=MUTED, linewidth=1)
ax.set_xscale("log")
ax.set(xticks=sizes, xticklabels=sizes, ylim=(0, 8.2))
ax.minorticks_off()
ax.set(xlabel="blocks per kernel", ylabel="times as fast in eight streams")
describe(
    ax,
    f"Gain of eight streams against blocks per kernel: {gains[0]:.1f} with {sizes[0]} block, "
    f"{gains[-1]:.1f} with {sizes[-1]}.",
)

# %%
# .. finding::
#
#    With one block each, eight kernels run :measured:`blocks[eight_streams, 1].speedup(one_stream)` as fast
#    in eight streams. With 132 blocks each, one for each multiprocessor, it is
#    :measured:`blocks[eight_streams, 132].speedup(one_stream)`; with 2112 it is
#    :measured:`blocks[eight_streams, 2112].speedup(one_stream)`.
#
# Streams add nothing to the GPU; they let kernels use what is idle. Blocks of several kernels share a
# multiprocessor, but once its units are busy, they take turns. Two products of 4096 x 4096 fill the GPU, too:
# in one stream they take :measured:`products[products_one, 4096**2].time`, in two
# :measured:`products[products_two, 4096**2].time`. There may be many small kernels: one with a single block
# takes :measured:`one_kernel`, and 128 of them, in as many streams, take :measured:`crowd_128`.
#
# .. results:: blocks
#
# .. kernel:: gpuguide.topics.streams.study
#    :names: launch_steps, row_kernels, in_one, two_products
#    :fold: The launches

# %%
# Default streams: legacy and per thread
# --------------------------------------
#
# The default stream is special. A stream made by ``cp.cuda.Stream()`` is *blocking*: it waits for what the
# default stream was given before, and the default stream waits for it. Streams made with
# ``non_blocking=True`` take no part in this. There is another default stream, ``cp.cuda.Stream.ptds``, of
# which each Python thread has its own. Two kernels of one block show who waits:
#
# .. list-table::
#    :header-rows: 1
#
#    * - one kernel in
#      - the other in
#      - both take
#    * - default
#      - default
#      - :measured:`waits[same, 1].time`
#    * - non-blocking
#      - non-blocking
#      - :measured:`waits[own_own, 1].time`
#    * - blocking
#      - blocking
#      - :measured:`waits[blocking_blocking, 1].time`
#    * - non-blocking
#      - default
#      - :measured:`waits[own_legacy, 1].time`
#    * - blocking
#      - default
#      - :measured:`waits[blocking_legacy, 1].time`
#    * - blocking
#      - per thread
#      - :measured:`waits[blocking_thread, 1].time`
#    * - default
#      - per thread
#      - :measured:`waits[legacy_thread, 1].time`
#
# Only the default stream with the number 0 makes others wait. It is called the *legacy* default stream. If
# ``CUPY_CUDA_PER_THREAD_DEFAULT_STREAM`` is 1 when CuPy is imported, CuPy begins with the one per thread. But
# a library that knows nothing of that still uses the legacy one, and then both wait for each other. A
# non-blocking stream is the safer choice.
#
# .. kernel:: gpuguide.topics.streams.study
#    :names: kinds, pair
#    :fold: The pairs

# %%
# Numba needs to be told the stream
# ---------------------------------
#
# Numba does not know CuPy's current stream. A launch that names no stream goes to the default one, also
# inside of ``with one:``. Make a stream of Numba's from it once, and put that into the brackets:

from numba import cuda


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


stream_one = cuda.external_stream(one.ptr)
with one:
    x = cp.zeros(65_536)
    add_one[256, 256, stream_one](x)
one.synchronize()
print(x[:5])

# %%
# Priorities: whose blocks come first
# -----------------------------------
#
# A large kernel has 20 000 blocks and takes :measured:`background`. While it runs, a small one is launched
# into another stream. Its only block has to wait for a place, and by default all blocks of the large one come
# first: the small one is done :measured:`urgent_default` after its launch. In a stream with ``priority=-5``
# it gets the next place and is done after :measured:`urgent_high`. Lower numbers come first, and 0 is the
# default. Blocks that already run are not stopped.
#
# .. kernel:: gpuguide.topics.streams.timeline
#    :names: urgent
#    :fold: A small kernel behind a large one

# %%
# When streams do not pay: short kernels
# --------------------------------------
#
# Python launches the kernels one after the other. If a kernel is shorter than its launch, there is nothing to
# overlap with. Eight kernels of one block, from the first launch to the end:
#
# .. list-table::
#    :header-rows: 1
#
#    * - steps per kernel
#      - one stream
#      - eight streams
#      - gain of eight streams
#    * - 16
#      - :measured:`short[short_one, 16].time`
#      - :measured:`short[short_eight, 16].time`
#      - :measured:`short[short_eight, 16].speedup(short_one)`
#    * - 1024
#      - :measured:`short[short_one, 1024].time`
#      - :measured:`short[short_eight, 1024].time`
#      - :measured:`short[short_eight, 1024].speedup(short_one)`
#    * - 65 536
#      - :measured:`short[short_one, 65_536].time`
#      - :measured:`short[short_eight, 65_536].time`
#      - :measured:`short[short_eight, 65_536].speedup(short_one)`
#
# Streams and their events take Python's time, too, so the shortest kernels are better off in one stream; with
# 1024 steps it hardly matters. Work for many small problems is better put into one launch: CuPy's linear
# algebra takes stacks of matrices, and a kernel can have a block for each problem.

# %%
# Your turn: fork and join
# ------------------------
#
# Two tasks need the result of a third, and a fourth one needs both of theirs. The exercise has code that is
# right and makes Python wait for each. Put events in the place of the waits.
#
# .. exercise:: fork_and_join

# %%
# Next
# ----
#
# Onward: :doc:`Several GPUs </gallery/concurrency/several_gpus>`, each with streams of its own. Sideways:
# :doc:`Overlap copies and work </gallery/moving_data/overlap>`, where streams hide copies behind work.
