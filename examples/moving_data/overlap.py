"""
Overlap copies and work
=======================

How do copies and work run at once, and what stops them?
"""
# %%
# Cut the data into chunks of about 16 MiB, keep them in pinned memory, and hand them to three streams in
# turn: while the GPU works on one chunk, the next is copied in and the last copied out. If copies and work
# take equally long, this is :measured:`overlap[three_streams, 16384].speedup(one_stream)` as fast as one
# stream.
#
# .. headline:: One stream does one step at a time; three streams do all three at once
#
# .. choices:: overlap
#    :of: Streams
#
#    .. choice:: three
#
#       from gpuguide.charts.style import INK
#       from gpuguide.charts.timeline import plot_timeline
#
#       runs = {"one stream": arrays["timeline_one"], "three streams": arrays["timeline_three"]}
#       ends = {name: run.max() - run.min() for name, run in runs.items()}
#
#       def run_beside(name, other, words, side):
#           ax = plot_timeline({name: runs[name]}, ("copy in", "work", "copy out"))
#           ax.set_xlim(0, 1.02 * max(ends.values()))
#           ax.axvline(ends[other], color=INK, linestyle="--", linewidth=1)
#           look = {"ha": side, "va": "center", "textcoords": "offset points"}
#           ax.annotate(words, (ends[other], -0.05), (-6 if side == "right" else 6, 0), **look)
#
#       run_beside("three streams", "one stream", "with one stream", "right")
#
#    .. choice:: one
#
#       run_beside("one stream", "three streams", "with three streams", "left")

# %%
# First in one stream: chunks from pinned memory
# ----------------------------------------------
#
# Data that do not fit into the GPU's memory, or that arrive bit by bit, go there in chunks. Each chunk is
# copied in, worked on and copied out. In this example a chunk is 2048 rows of 2048 numbers, 16 MiB, and the
# work is a matrix product, which takes about as long as a copy.
#
# A :term:`stream` is a queue of work, which the GPU does one after the other. Keep the arrays on the host in
# :term:`pinned memory`, so that Python can go on while they are copied. On the GPU give each stream two
# arrays of its own, one for what comes in and one for what goes out, and make all of them before the loop.

import cupy as cp
import cupyx
import numpy as np


def in_chunks(x_host, weights, out_host, buffers):
    """Multiply all rows by the weights, each chunk of them in the next stream."""
    rows = len(buffers[0][1])
    for i, start in enumerate(range(0, len(x_host), rows)):
        stream, x, out = buffers[i % len(buffers)]
        chunk = slice(start, start + rows)
        n = len(x_host[chunk])  # the last chunk may be shorter
        with stream:
            x[:n].set(x_host[chunk])
            x[:n].dot(weights, out=out[:n])
            out[:n].get(out=out_host[chunk], blocking=False)
    for stream, _, _ in buffers:
        stream.synchronize()


def make_buffers(n_streams, shape):
    return [
        (
            cp.cuda.Stream(non_blocking=True),
            cp.empty(shape, cp.float32),
            cp.empty(shape, cp.float32),
        )
        for _ in range(n_streams)
    ]


rows, width = 2048, 2048
x_host, out_host = (cupyx.empty_pinned((4 * rows, width), np.float32) for _ in range(2))
rng = np.random.default_rng(0)
x_host[:] = rng.integers(-2, 3, x_host.shape)
weights_host = rng.integers(-2, 3, (width, width)).astype(np.float32)
weights = cp.asarray(weights_host)
cp.cuda.Device().synchronize()  # the weights have arrived

in_chunks(x_host, weights, out_host, make_buffers(1, (rows, width)))
print("GPU:  ", out_host[-1, :4])
print("NumPy:", (x_host[-1] @ weights_host)[:4])

# %%
# .. try-it::
#
#    Remove the last two lines of ``in_chunks``, the loop that synchronises. ``out_host[-1]`` is now printed
#    before the last copy has arrived, and shows what was in that memory before, for none of the three calls
#    in the loop waits for the GPU.
#
# .. warning::
#
#    From pinned memory ``x.set`` returns before the bytes arrive, and so does ``get`` with
#    ``blocking=False``. Until you have synchronised the stream, do not write to a chunk of ``x_host``, and do
#    not read from ``out_host``.

# %%

# record: Four studies, a timeline by events, and each step of a chunk alone
import gpuguide as gg
from gpuguide.measure.timing import time_device
from gpuguide.measure.turns import gpu_clock, launches_in_turns
from gpuguide.topics.overlap import study as overlap
from gpuguide.topics.overlap import timeline

free, total = cp.cuda.Device().mem_info
print(f"{free / 1e9:.0f} GB of the GPU's {total / 1e9:.0f} GB are free.")
gg.machine_ceilings()
results = overlap.overlap.run()
changes = overlap.changes.run()
sums = overlap.sums.run()
chain = overlap.chain.run()

with gpu_clock().use():
    steps, asked = timeline.parts(), timeline.asking()
taken = {
    name: time_device(call, gpu_clock(), n_samples=30).seconds
    for name, call in steps.items()
}
for name, seconds in {**taken, **launches_in_turns(asked)}.items():
    gg.fact(name, float(np.median(seconds)), unit="s", samples=seconds)
for name, n_streams in (("one", 1), ("three", 3)):
    _ = gg.keep(f"timeline_{name}", timeline.timeline(n_streams))

# %%
# Three streams: copy in, work and copy out at once
# -------------------------------------------------
#
# The GPU has a copy engine for each direction, and both work beside its arithmetic units. Hand the chunks to
# three streams in turn, and all of them have something to do. The function stays as it is:

out_host[:] = 0
in_chunks(x_host, weights, out_host, make_buffers(3, (rows, width)))
print("GPU:  ", out_host[-1, :4])

# %%
# One stream takes :measured:`overlap[one_stream, 16384].time` for 128 MiB, and three streams are
# :measured:`overlap[three_streams, 16384].speedup(one_stream)` as fast. Two streams are slower than three,
# for they can do only two of the three steps at a time. :evidence:`variant two_streams`
#
# You need nothing more to keep the data right. Chunk 4 uses the arrays of chunk 1, and is in the same stream,
# so that its copy in waits until chunk 1 has been copied out. Between streams there is no order: the GPU may
# take chunk 3 before chunk 2.
#
# .. dropdown:: Two streams, and how long each step takes
#
#     With two streams the method is called *double buffering*. There are three steps, and two streams can
#     only do two of them at a time: three streams are
#     :measured:`changes[overlapped, 16384].speedup(two_streams)` as fast. :evidence:`variant three_streams`
#
#     The picture above shows another run of eight chunks, with CUDA events around each step. In one stream a
#     chunk takes :measured:`copy_in` to copy in, :measured:`work` of work and :measured:`copy_out` to copy
#     out.
#
# .. kernel:: gpuguide.topics.overlap.study
#    :names: in_streams
#    :fold: What is timed

# %%
# How much overlap can save
# -------------------------
#
# Time the three steps first: the slowest of them sets the pace. If all three take equally long, the
# time for each chunk comes down to that of one step; the more unequal they are, the less you can save. The
# first copy in and the last copy out have nothing beside them, so that few chunks gain less: with two of them
# three streams are :measured:`overlap[three_streams, 4096].speedup(one_stream)` as fast as one.
#
# With eight chunks three streams save :measured:`won` of what can be saved.
#
# .. dropdown:: How the least time is worked out
#
#     Eight chunks need at least :measured:`ideal`. The two copies disturb each other. Alone, each direction
#     reaches :measured:`ceiling_in`; both together reach :measured:`ceiling_both`, so a pair of copies of one
#     chunk takes :measured:`pair`, and may last longer than the work. Added to this is the time to *fill* and
#     to *drain* the pipeline. When it was timed beside the mistakes below, the same loop saved
#     :measured:`won_again`. With a single chunk there is nothing to overlap, and three streams take as long
#     as one.

# draw: The ideal, and how much of it is reached
n, n_chunks, n_bytes = 16384, 8, 2048 * 2048 * 4
h2d, d2h, both = (ceilings.get(mix).value for mix in ("h2d", "d2h", "both_ways"))
work, one_in, one_out = facts["work"].value, n_bytes / h2d, n_bytes / d2h
pair = 2 * n_bytes / both
ideal = one_in + max(one_in, work) + (n_chunks - 2) * max(pair, work)
ideal += max(work, one_out) + one_out
serial, overlapped = (
    results.time(name, n).value for name in ("one_stream", "three_streams")
)
gg.fact("ceiling_in", h2d, unit="B/s", note="pinned copies to the GPU")
gg.fact("ceiling_both", both, unit="B/s", note="pinned copies both ways at once")
gg.fact("pair", pair, unit="s", note="16 MiB in and 16 MiB out at once, by the ceiling")
gg.fact("ideal", ideal, unit="s", note="by the ceilings, with fill and drain")
won = (serial - overlapped) / (serial - ideal)
gg.fact("won", won, unit="share", note="(serial - overlapped) / (serial - ideal)")
again = (serial - changes.time("overlapped", n).value) / (serial - ideal)
gg.fact("won_again", again, unit="share", note="the same, of the study of changes")
smallest = changes.time("rows_64", 16384).value / 256
gg.fact("smallest", smallest, unit="s", note="128 MiB in 256 chunks / 256")
gg.fact("small_copy", 2**19 / h2d, unit="s", note="512 KiB to the GPU, by the ceiling")
hindering = ("waiting", "default_stream", "without_pool", "pageable")
gg.claim(results, "three_streams", faster_than="one_stream", at=16384, by=1.6)
gg.claim(changes, "overlapped", faster_than="two_streams", at=16384, by=1.05)
gg.claim(changes, "overlapped", faster_than=hindering, at=16384, by=1.3)
gg.claim(changes, "overlapped", faster_than=("rows_64", "rows_16384"), at=16384, by=1.5)

# %%
# Make chunks of 4 to 16 MiB
# --------------------------
#
# Chunks of 512 KiB take :measured:`changes[overlapped, 16384].speedup(rows_64)` as long as those of 16 MiB:
# Python cannot ask for their steps as fast as the GPU does them. One piece of 128 MiB takes
# :measured:`changes[overlapped, 16384].speedup(rows_16384)` as long, for it has nothing to overlap with.
#
# .. headline:: Tiny chunks wait for Python, and a single piece overlaps with nothing

# draw
from gpuguide.charts.shapes import plot_dots

variants = {
    "chunks of 512 KiB": "rows_64",
    "chunks of 4 MiB": "rows_512",
    "chunks of 16 MiB": "overlapped",
    "chunks of 64 MiB": "rows_8192",
    "one of 128 MiB": "rows_16384",
}
_ = plot_dots(
    {name: changes.time(variant, 16384) for name, variant in variants.items()},
    "128 MiB there and back",
)

# %%
# .. dropdown:: Why small chunks are slow, and when a fourth stream helps
#
#     Each of the 256 smallest chunks takes :measured:`smallest`, although its copy in takes only
#     :measured:`small_copy`. Here Python sets the pace: to ask for the three steps takes it
#     :measured:`asking` when timed apart.
#
#     In chunks of 4 MiB, four streams are :measured:`changes[rows_512_four, 16384].speedup(rows_512)` as fast
#     as three. We think that with three, a delay between two steps stops the others as well, and that a
#     fourth chunk that is ready fills the gap. :evidence:`opinion`
#
# .. kernel:: gpuguide.topics.overlap.timeline
#    :names: asking
#    :fold: What Python asks for, as it is timed

# %%
# Why copies do not overlap: waiting, the default stream, new arrays
# ------------------------------------------------------------------
#
# Small changes to the code undo the gain, and raise no error. With the first two, three streams are as slow
# as one:
#
# .. list-table:: Three streams, with one thing changed
#    :header-rows: 1
#
#    * - mistake
#      - takes this many times as long
#      - cure
#    * - ``get`` without ``blocking=False``
#      - :measured:`changes[overlapped, 16384].speedup(waiting)`
#      - ``get(..., blocking=False)``
#    * - one line for each chunk in the default stream
#      - :measured:`changes[overlapped, 16384].speedup(default_stream)`
#      - ``Stream(non_blocking=True)``
#    * - ``dot`` without ``out=``, and no memory pool
#      - :measured:`changes[overlapped, 16384].speedup(without_pool)`
#      - ``out=``, or CuPy's pool
#    * - host arrays from ``np.empty``
#      - :measured:`changes[overlapped, 16384].speedup(pageable)`
#      - ``cupyx.empty_pinned``
#
# - **Waiting.** Unless you pass ``blocking=False``, ``get`` waits for its copy, and Python asks for a chunk
#   only when the one before is finished. :evidence:`variant waiting` ``float(x.sum())`` and ``print(x)``
#   wait, too.
# - **The default stream.** A stream made by ``cp.cuda.Stream()`` waits for work in the default stream, and
#   that work waits for all such streams. A single line outside of ``with stream:`` is enough.
#   :evidence:`variant default_stream`
# - **New arrays.** Without a pool each array comes from the driver and goes back to it, and to take memory
#   back, the driver waits for the GPU. :evidence:`variant without_pool` CuPy's
#   :doc:`memory pool </gallery/moving_data/memory_pools>`, which is in use unless you switch it off, avoids
#   this as long as it holds memory that fits.
# - **Pageable memory.** Each copy takes longer, and does not overlap either: the host has to help with it, so
#   that Python does not get on to the next chunk. :evidence:`variant pageable`
#
# .. kernel:: gpuguide.topics.overlap.study
#    :names: waiting, default_stream, new_arrays, without_pool
#    :fold: The four loops

# %%
# When nothing can be saved
# -------------------------
#
# If one step takes nearly all of the time, such as a long copy in where only the sum of each row comes back,
# there is hardly anything to hide behind it. And if each step needs the result of the one before, no
# arrangement of streams helps: one chunk that goes to the GPU and back eight times takes as long in three
# streams as in one, :measured:`chain[chain_one, 2048].time`. Instead,
# :doc:`leave the data on the GPU </gallery/moving_data/data_where_it_is>`.
#
# .. kernel:: gpuguide.topics.overlap.study
#    :names: row_sums, rounds
#    :fold: The sums and the chain

# %%
# .. remember::
#
#    - Hand chunks of 4 to 16 MiB to three streams in turn, from pinned memory: this is
#      :measured:`overlap[three_streams, 16384].speedup(one_stream)` as fast as one stream if work and copies
#      take equally long.
#    - Let nothing wait in a loop that copies and computes: call ``get(blocking=False)``, and make its arrays
#      before it begins.

# %%
# Your turn: reuse a buffer in time
# ---------------------------------
#
# Another way is a stream for each kind of work: one for copies in, one for products, one for copies out. Then
# only :term:`events <event>`, marks in a stream for which another stream can wait, keep a copy from
# overwriting what is still being read. The exercise has such a pipeline without events; put them in.
#
# .. exercise:: reuse_a_buffer

# thumbnail
from gpuguide.charts import thumbnail

names = {"one stream": "one_stream", "three streams": "three_streams"}
times = {label: results.time(name, 16384) for label, name in names.items()}
_ = thumbnail.bars(times, "time for 128 MiB there and back")

# %%
# Next
# ----
#
# Next: :doc:`Time a GPU: wait, then stop the clock </gallery/measuring/how_to_time>` shows clocks for work
# that goes on while Python does something else. See also: :doc:`Fast copies with pinned memory
# </gallery/moving_data/transfers>` explains why chunks have to be pinned.
