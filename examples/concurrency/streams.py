"""
Streams for small tasks
=======================

When do two streams finish earlier than one?
"""
# %%
# Use several streams for tasks that each leave most of the GPU idle: eight kernels of one block are done
# :measured:`blocks[eight_streams, 1].speedup(one_stream)` as fast in eight streams. Kernels that fill the GPU
# gain next to nothing, and very short ones are better put into one launch.
#
# .. headline:: The more of the GPU each kernel fills, the less streams gain
#
# .. drawn:: streams
#
#     import matplotlib.pyplot as plt
#
#     from gpuguide.charts.style import INK, KERNEL, MUTED, describe, style
#
#     sizes = blocks.sizes
#     gains = [blocks.speedup("eight_streams", "one_stream", n).value for n in sizes]
#     with style():
#         figure, ax = plt.subplots(figsize=(6.4, 3.0))
#         ax.plot(sizes, gains, "o-", color=KERNEL)
#         ax.axhline(1, color=MUTED, linewidth=1)
#         ax.annotate(
#             f"one block\neach: {gains[0]:.1f}×",
#             (sizes[0], gains[0]),
#             (0, -32),
#             textcoords="offset points",
#             color=INK,
#         )
#         ax.annotate(
#             f"GPU full:\n{gains[-1]:.1f}×",
#             (sizes[-1], gains[-1]),
#             (0, 10),
#             textcoords="offset points",
#             ha="right",
#             color=INK,
#         )
#         ax.set_xscale("log")
#         ax.set(xticks=sizes, xticklabels=sizes, ylim=(0, 8.2))
#         ax.yaxis.set_major_formatter(lambda gain, _: f"{gain:g}×")
#         ax.minorticks_off()
#         ax.set(xlabel="blocks of each of the eight kernels", ylabel="gain of eight streams")
#         words = "; ".join(f"{n}: {gain:.1f}" for n, gain in zip(sizes, gains, strict=True))
#         what = "How many times as fast eight kernels are in eight streams, by their blocks"
#         describe(ax, f"{what}. {words}.")

# %%
# Two streams and an event
# ------------------------
#
# All work goes to the GPU in a :term:`stream`, and what is in one stream runs in order. CuPy uses the
# *current* stream, and ``with stream:`` makes another one current. Between two streams there is no order,
# unless you ask for it with an :term:`event`: one stream records it, and the other one waits for it. The
# output begins with the name of the default stream, which is current at first.

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
# ``wait_event`` does not stop Python: it only puts the wait into the second stream. ``synchronize`` stops
# Python until the stream is done, so call it once, at the end.
#
# .. headline:: Without an event, the second stream reads too early
#
# .. drawing:: streams
#
#     Two pairs of lanes over time. Without an event stream 2 reads x while stream 1 is still writing it. With
#     an event the read begins when the write has ended, while stream 1 goes on with more work.
#
# Memory needs the same care. When the last name of an array is gone, CuPy hands its memory to the next array
# of the same stream, even if another stream is still reading it. Keep a name until that stream is done.

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
# Run two inverses side by side
# -----------------------------
#
# Two inverses of 6000 × 6000 do not depend on each other. In the default stream, the second
# begins when the first has ended.

a, b = cp.random.standard_normal((2, 6000, 6000), dtype=cp.float32)
c, d = cp.linalg.inv(a), cp.linalg.inv(b)
print(f"off by {float(cp.abs(a @ c - cp.eye(len(a))).max()):.2g}")

# %%
# Now each gets a stream. The matrices were made in the default stream, and these two streams do not wait for
# it by themselves, so an event comes first.

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
# Both together are now done :measured:`inverses[two_streams, 6000**2].speedup(one_stream)` as fast. We think
# that some of the many kernels of an inverse are too small to fill the GPU, and that the other inverse uses
# what they leave. :evidence:`opinion`
#
# .. headline:: In two streams each inverse takes longer, and both together end sooner

# draw
from gpuguide.charts.timeline import plot_timeline

_ = plot_timeline(
    {"one stream": arrays["timeline_one"], "two streams": arrays["timeline_two"]},
    ("inverse of a", "inverse of b"),
)

# %%
# In the first call in a stream, libraries also set up what they need there. Call everything once before you
# time it, as was done here.
#
# .. kernel:: gpuguide.topics.streams.study
#    :names: streams, in_streams, invert, two_inverses
#    :fold: What is timed

# %%
# Count the blocks: how much does one task leave idle?
# ----------------------------------------------------
#
# Streams add nothing to the GPU. They let one task use what another leaves idle, and the number of blocks
# tells how much that is. A kernel of one block keeps a single :term:`multiprocessor` busy, and this GPU has
# 132. As a multiprocessor runs blocks of several kernels at once, eight kernels of 132 blocks each are still
# :measured:`blocks[eight_streams, 132].speedup(one_stream)` as fast in eight streams. With 2112 blocks each,
# nothing is left to share.
#
# Large products of matrices fill the GPU as well: two of 4096 × 4096 take
# :measured:`products[products_one, 4096**2].time` in one stream, and no less in two. At the other end, there
# may be very many small kernels: one of a single block takes :measured:`one_kernel`, and 128 of them, each in
# its own stream, take :measured:`crowd_128` together.
#
# .. kernel:: gpuguide.topics.streams.kernels
#    :names: steps_source
#    :fold: The kernel: 20 000 steps in each thread, each of which needs the one before
#
# .. kernel:: gpuguide.topics.streams.study
#    :names: launch_steps, row_kernels, in_one, two_products
#    :fold: The launches

# draw
one_kernel = blocks.time("one_stream", 1).value / 8
gg.fact("one_kernel", one_kernel, unit="s", note="eight in one stream / 8")
gg.claim(inverses, "two_streams", faster_than="one_stream", at=6000**2, by=1.1)
gg.claim(blocks, "eight_streams", faster_than="one_stream", at=1, by=5)
gg.claim(short, "short_one", faster_than="short_eight", at=16, by=1.1)
gg.claim(short, "short_eight", faster_than="short_one", at=65_536, by=4)
gg.claim(waits, "own_own", faster_than=("same", "legacy_thread"), at=1, by=1.5)
gg.claim(waits, "own_legacy", faster_than="blocking_legacy", at=1, by=1.5)
gg.claim(waits, "blocking_blocking", faster_than="same", at=1, by=1.5)
gg.claim(waits, "blocking_thread", faster_than="same", at=1, by=1.5)

# %%
# Put short kernels into one launch
# ---------------------------------
#
# Python launches one kernel after the other. If a kernel is over before the next one is launched, there is
# nothing to run side by side, and streams and their events only take more of Python's time.
#
# .. headline:: Streams pay once a kernel takes longer than its launch

# draw
_ = gg.plot_time(short)

# %%
# Many small problems are better done in a single launch: CuPy's linear algebra takes stacks of matrices,
# and a kernel of your own can have a block for each problem.

# %%
# Make streams non-blocking
# -------------------------
#
# The default stream is special. Streams made by ``cp.cuda.Stream()`` wait for what it was given before, and
# it waits for them: they are *blocking*. As libraries often use the default stream without saying so, tasks
# that should run side by side then wait for each other. Streams made with ``non_blocking=True`` take no part
# in this. In return, nothing but your events keeps them in order with what the default stream writes.
#
# .. list-table:: Two kernels of one block that take :measured:`waits[own_own, 1].time` side by side
#    :header-rows: 1
#
#    * - one kernel in
#      - the other in
#      - both run
#    * - non-blocking
#      - non-blocking
#      - side by side
#    * - non-blocking
#      - default
#      - side by side
#    * - blocking
#      - blocking
#      - side by side
#    * - blocking
#      - default
#      - one after the other, :measured:`waits[blocking_legacy, 1].time`
#    * - default
#      - default
#      - one after the other, :measured:`waits[same, 1].time`
#
# .. dropdown:: A default stream for each thread
#
#    ``cp.cuda.Stream.ptds`` is another default stream, of which each thread of Python has its own. CuPy
#    begins with it if ``CUPY_CUDA_PER_THREAD_DEFAULT_STREAM`` is 1 when CuPy is imported. It is a blocking
#    stream: beside another blocking one it runs at once, both in :measured:`waits[blocking_thread, 1].time`.
#    But a library that knows nothing of it still uses the stream with the number 0, the *legacy* default
#    stream, and then the two wait for each other: :measured:`waits[legacy_thread, 1].time`.
#
# .. kernel:: gpuguide.topics.streams.study
#    :names: kinds, pair
#    :fold: The pairs

# %%
# Tell Numba the stream
# ---------------------
#
# Numba does not know CuPy's current stream. A launch that names no stream goes to the default one, even
# inside ``with one:``, and nothing then makes CuPy wait for it. Turn CuPy's stream into one of Numba's once,
# and put it into the brackets:

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
# :doc:`Share arrays between GPU libraries </gallery/concurrency/interop>` shows what goes wrong without it.

# %%
# Let an urgent kernel go first
# -----------------------------
#
# A small kernel that is launched behind a large one waits until all blocks of the large one have found a
# place. Launched in a stream with ``priority=-5``, it gets the next place that is free; lower numbers come
# first, and 0 is the default. Behind a kernel of 20 000 blocks, a kernel of one block is done after
# :measured:`urgent_high` in such a stream, and after :measured:`urgent_default` otherwise. Blocks that
# already run are not stopped.
#
# .. kernel:: gpuguide.topics.streams.timeline
#    :names: urgent
#    :fold: A small kernel behind a large one

# %%
# .. remember::
#
#    - Use streams for kernels that leave most of the GPU idle: eight of one block each are
#      :measured:`blocks[eight_streams, 1].speedup(one_stream)` as fast in eight streams. Kernels that fill
#      the GPU gain nothing.
#    - Make streams with ``non_blocking=True``, and order them with ``record`` and ``wait_event`` instead of
#      letting Python wait.

# %%
# Your turn: fork and join
# ------------------------
#
# Two tasks need the result of a third, and a fourth one needs both of theirs. The exercise has code that is
# right and makes Python wait for each of them. Put events in the place of the waits.
#
# .. exercise:: fork_and_join

# thumbnail
from gpuguide.charts import thumbnail

names = {"one stream": "one_stream", "eight streams": "eight_streams"}
times = {label: blocks.time(name, 1) for label, name in names.items()}
_ = thumbnail.bars(times, "time of eight small kernels")

# %%
# Next
# ----
#
# Next: :doc:`CUDA graphs: record launches once, replay them </gallery/concurrency/graphs>`, where a stream is
# recorded. See also: :doc:`Overlap copies and work </gallery/moving_data/overlap>`, where streams hide copies
# behind work.
