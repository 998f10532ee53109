"""
When GPU memory runs out
========================

Where does the GPU's memory go, and what can you do when it runs out?
"""
# %%
# Write results over arrays that you no longer need: ``x *= 3`` takes no memory beside ``x``, and
# ``x = x * 3`` takes as much again, here :measured:`cube_bytes`, and is no faster. Where you cannot work in
# place, work in chunks, which need :measured:`needed_at_2_24` here and hardly any more time.
#
# .. headline:: In place takes the same time, and half the memory
#
# .. drawn:: memory_pools
#
#     import matplotlib.pyplot as plt
#
#     from gpuguide.charts.style import CUPY, INK, describe, style
#
#     cube = arrays["counters"][1, 0]
#     beside = {float(n): needed for n, _, needed in arrays["chunks"]}
#     rows = {
#         "x = x * 3; x = x * x": (cube, "ways_new_arrays"),
#         "the same in chunks of 134 MB": (beside[2**24], "chunks_16777216"),
#         "x *= 3; x *= x": (0, "ways_in_place"),
#     }
#     with style():
#         ax = plt.subplots(figsize=(6.4, 2.2))[1]
#         for row, (name, (extra, fact)) in enumerate(rows.items()):
#             ax.barh(row, cube / 1e9, color=CUPY, height=0.46)
#             ax.barh(row, extra / 1e9, left=cube / 1e9, color=CUPY, alpha=0.4, height=0.46)
#             ax.text(0, row - 0.3, name, va="bottom", color=INK, fontsize=11)
#             ends = f"{(cube + extra) / 1e9:.3g} GB, {facts[fact].shown}"
#             at = (cube + extra) / 1e9 + 0.2
#             ax.text(at, row, ends, va="center", color=INK, weight="bold")
#         ax.text(1.5 * cube / 1e9, 0, "new array", va="center", ha="center", color=INK, fontsize=11)
#         ax.set(xlim=(0, 3 * cube / 1e9), ylim=(len(rows) - 0.6, -0.75))
#         ax.axis("off")
#         words = "; ".join(
#             f"{name}: {(cube + extra) / 1e9:.3g} GB, {facts[fact].shown}"
#             for name, (extra, fact) in rows.items()
#         )
#         describe(
#             ax,
#             f"Bars of the memory that the pool holds; the pale part comes beside the array. {words}.",
#         )

# %%
# See what is used and what is held
# ---------------------------------
#
# When no name is left for an array, CuPy does not give its memory back to the driver. It keeps it in a pool,
# from which the next array that fits is made. To see where the memory is, ask for two counters: the bytes
# that arrays *use*, and the bytes that the pool *holds*.

import cupy as cp

pool = cp.get_default_memory_pool()
seen = []


def show(step):
    used, held = pool.used_bytes(), pool.total_bytes()
    seen.append((used, held))
    print(f"{step:24} {used / 1e6:8.1f} MB used {held / 1e6:8.1f} MB held")


show("at first")
x = cp.ones(10_000_000)
show("x = cp.ones(10_000_000)")
y = x + 1
show("y = x + 1")
del y
show("del y")
z = x * 2
show("z = x * 2")
del x, z
pool.free_all_blocks()
show("free_all_blocks()")

# %%
# .. try-it::
#
#    Write ``first = x[:3]`` above ``del x, z``, and run the cell in a fresh process. Now 80 MB stay in use,
#    and ``free_all_blocks`` cannot give them back: a view of three numbers keeps all ten million alive.
#
# After ``del y`` nothing uses that memory, but the pool still holds it, and ``z`` gets it. For every other
# program, and for ``nvidia-smi``, it is taken. ``free_all_blocks`` gives back what no array uses. You rarely
# need it: before another library needs the GPU, or after a step that took far more memory than the rest.

# %%
# Work in place
# -------------
#
# Where an array fills much of the GPU, another one does not fit. This cube of 1024 × 1024 × 1024 numbers in
# float64 is tripled and squared twice: first in place, with ``x *= 3``, then with new arrays. If your GPU has
# no room for two cubes, the cell takes a smaller one.

edge = 1024 if cp.cuda.Device().mem_info[0] > 20e9 else 256

show("before")
x = cp.random.random((edge, edge, edge))
show("x = random")
x *= 3
x *= x
show("x *= 3; x *= x")
x = x * 3
show("x = x * 3")
x = x * x
show("x = x * x")
pool.free_all_blocks()
show("free_all_blocks()")
del x
show("del x")
pool.free_all_blocks()
show("free_all_blocks()")

# %%

# record: The counters of these eight lines
import gpuguide as gg

_ = gg.keep("counters", seen[-8:])

# %%

# draw: What one cube takes, and the most that the pool held
cube, most = arrays["counters"][1, 0], arrays["counters"][:, 1].max()
gg.fact("cube_bytes", float(cube), unit="B", note="what one cube takes")
_ = gg.fact("most_held", float(most), unit="B", note="the most that the pool held")

# %%
# In place, the pool never holds more than one cube. ``x = x * 3`` needs the old and the new one at the same
# time, so the pool grows to :measured:`most_held` and stays there until ``free_all_blocks``.

# %%
# Read the error, and catch it
# ----------------------------
#
# You need not fill a GPU to see how it runs out of memory: a limit for the pool raises the same error. Here
# 1 GB is allowed, and the first step of the arithmetic needs one more array of 0.8 GB.

pool.free_all_blocks()
pool.set_limit(size=1_000_000_000)
x = cp.arange(100_000_000, dtype=cp.float64)  # 0.8 GB
try:
    y = (3 * x) ** 2
except cp.cuda.memory.OutOfMemoryError as error:
    print(error)

# %%
# The message names the array that did not fit, what the pool holds already, and the limit. The error is a
# ``MemoryError``, and nothing is broken: ``x`` is as it was, and you can go on with less.
#
# On a GPU that you share, set such a limit yourself, with ``pool.set_limit(fraction=0.5)`` or
# ``CUPY_GPU_MEMORY_LIMIT="50%"`` in the environment. At a limit, call ``free_all_blocks`` before you try
# again, for CuPy raises at once; when the GPU itself is full, CuPy does that for you.

# %%
# Work in chunks
# --------------
#
# Some steps cannot write over their input. Do them on a part of the array at a time, so that each new array
# is only as large as the part. Under the same limit, the arithmetic now succeeds.

import numpy as np


def in_chunks(x, n):
    """Triple and square n elements at a time."""
    for start in range(0, len(x), n):
        part = x[start : start + n]  # a view
        tripled = part * 3  # as small as the part
        cp.multiply(tripled, tripled, out=part)


in_chunks(x, 2**22)
print("CuPy: ", x[:4])
print("NumPy:", (3 * np.arange(4.0)) ** 2)
print("held: ", round(pool.total_bytes() / 1e6), "MB")
pool.set_limit(size=0)  # no limit
del x

# %%

# record: The studies, and the ways to work on the whole cube
from gpuguide.topics.memory_pools import large
from gpuguide.topics.memory_pools import study as memory_pools

pool.free_all_blocks()
edge = large.edge_that_fits(cp.cuda.Device().mem_info[0])
for way, seconds in large.ways(edge).items():
    gg.fact(f"ways_{way}", float(np.median(seconds)), unit="s", samples=seconds)
pool.free_all_blocks()
chunks = large.chunks(edge)
for n, (seconds, _) in chunks.items():
    gg.fact(f"chunks_{n}", float(np.median(seconds)), unit="s", samples=seconds)
_ = gg.keep(
    "chunks", [(n, float(np.median(s)), needed) for n, (s, needed) in chunks.items()]
)
pool.free_all_blocks()
for what, seconds in large.pinned().items():
    gg.fact(what, float(np.median(seconds)), unit="s", samples=seconds)
pool.free_all_blocks()
arithmetic = memory_pools.arithmetic.run()
pooled = memory_pools.pool.run()

# %%
# How small may a chunk be? This is the cube again, in chunks of seven sizes.
#
# .. headline:: Chunks of 100 MB and more are as fast as working in place

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.style import CUPY, MUTED, describe, style

n, _, needed = arrays["chunks"].T
# The medians of all runs, as in the text; the array is of the newest run alone.
milliseconds = [1e3 * facts[f"chunks_{k:.0f}"].value for k in n]
with style():
    ax = plt.subplots(figsize=(6.4, 3.2))[1]
    ax.plot(n, milliseconds, "o-", color=CUPY)
    ax.axhline(1e3 * facts["ways_in_place"].value, ls="--", color=MUTED)
    ax.annotate(
        "in place",
        (n[-1], 1e3 * facts["ways_in_place"].value),
        (0, 7),
        textcoords="offset points",
        ha="right",
    )
    ax.set_xscale("log")
    ax.set_xticks(n, [f"{8 * k / 1e6:.0f}" for k in n])
    ax.minorticks_off()
    ax.set(ylim=(0, None), xlabel="MB in a chunk", ylabel="ms for the whole cube")
    words = "; ".join(
        f"{8 * k / 1e6:.0f} MB: {ms:.1f} ms"
        for k, ms in zip(n, milliseconds, strict=True)
    )
    describe(
        ax,
        f"Time for the cube against the MB in a chunk, the latter logarithmic. {words}.",
    )
_ = gg.fact(
    "needed_at_2_24",
    float(needed[list(n).index(2**24)]),
    unit="B",
    note="beside the cube",
)

# %%
# Allow for two chunks beside the array: the old ``tripled`` keeps its name, and its memory, until the new one
# is made. Much smaller chunks are slow. We think that Python cannot launch so many short operations as fast
# as the GPU ends them. :evidence:`opinion`

# %%
# To save time, save passes
# -------------------------
#
# Working in place saves memory and no time, since both forms read and write the same bytes, and a new array
# from the pool costs next to nothing.
#
# .. rung:: in_place

x_host = np.random.default_rng(0).random(1_000_000)
x = cp.asarray(x_host)
x *= 3
cp.multiply(x, x, out=x)  # the same as x *= x
print("CuPy: ", x[:3])
print("NumPy:", ((3 * x_host) ** 2)[:3])

# %%
# What saves time is to go through the memory once instead of twice. A :term:`kernel`, which is a function
# that runs on the GPU, does both steps while it reads and writes each number once.
# :evidence:`variant one_kernel` :doc:`Fusion: one kernel, fewer bytes </gallery/fast_kernels/fusion>` makes
# one with a single decorator.
#
# .. headline:: One kernel for both steps saves one of two passes

# draw
from gpuguide.charts.shapes import plot_bars

_ = plot_bars(arithmetic, ["new_arrays", "in_place", "one_kernel"], at=2**25)

# %%
# In NumPy, working in place saves time as well: on one thread, the same numbers take
# :measured:`arithmetic[numpy_in_place, 2**25].time` in place and
# :measured:`arithmetic[numpy_new, 2**25].time` with new arrays. :evidence:`variant numpy_in_place` On 16
# virtual CPUs they take :measured:`arithmetic[numpy_threads, 2**25].time` in place.
#
# .. kernel:: gpuguide.topics.memory_pools.study
#    :names: new_arrays, in_place_threads, triple_square, one_kernel
#    :fold: What is timed: new arrays, NumPy's side, and both steps in one kernel

# %%
# Leave the pool on
# -----------------
#
# Without the pool, the two steps on the cube take :measured:`ways_no_pool` instead of
# :measured:`ways_new_arrays`. ``cp.cuda.set_allocator(None)`` switches it off: each array then gets its
# memory from the driver, and to give it back, Python waits for the GPU. An array of 34 MB costs Python
# :measured:`pool[from_driver, 2**22].launch` instead of :measured:`pool[from_pool, 2**22].launch`, launch
# included. Do this for one purpose only: so that a tool such as ``compute-sanitizer`` sees each array by
# itself.
#
# .. kernel:: gpuguide.topics.memory_pools.study
#    :names: from_pool, from_driver
#    :fold: What is timed with the pool and without it

# draw: Four claims
gg.claim(pooled, "from_pool", faster_than="from_driver", at=2**22, clock="launch", by=3)
gg.claim(
    arithmetic, "one_kernel", faster_than=("in_place", "new_arrays"), at=2**25, by=1.5
)
gg.claim(arithmetic, "in_place", faster_than="numpy_threads", at=2**25, by=3)
gg.claim(arithmetic, "numpy_in_place", faster_than="numpy_new", at=2**25, by=1.3)

# %%
# Keep pinned arrays
# ------------------
#
# Make arrays in :term:`pinned memory`, from which the GPU copies by itself, once, and use them again. They
# are slow to get and fast to use: to pin 67 MB takes :measured:`pinned_from_driver`, and to copy as much to
# the GPU :measured:`set_pinned`.
#
# They come from a pool of their own, which ``cp.asarray`` needs as well: it copies a :term:`pageable
# <pageable memory>` array into pinned memory first, which takes :measured:`asarray_pageable` if the pool has
# a piece that fits, and :measured:`asarray_empty_pool` if not. So do not call ``pinned_pool.free_all_blocks``
# between copies.

# %%

# fold: What the pinned pool counts: free pieces of memory, not bytes
import cupyx

pinned_pool = cp.get_default_pinned_memory_pool()
x_host = cupyx.empty_pinned(1_000_000, dtype=np.float32)
pinned_pool.free_all_blocks()  # whatever was left of the copies above
print("in use:", pinned_pool.n_free_blocks(), "free")
del x_host
print("after: ", pinned_pool.n_free_blocks(), "free")
pinned_pool.free_all_blocks()
print("freed: ", pinned_pool.n_free_blocks(), "free")

# %%
# .. remember::
#
#    - When memory runs out, work in place (``x *= 3``, ``out=``), which needs none beside the array, or in
#      chunks of about 100 MB.
#    - Leave CuPy's memory pool on. Call ``free_all_blocks`` before another library needs the GPU, and
#      ``set_limit`` on a GPU that you share.

# %%
# Your turn: stay within the limit
# --------------------------------
#
# .. exercise:: within_the_limit

# thumbnail
from gpuguide.charts import thumbnail

ways = {"x = x * 3": facts["most_held"], "x *= 3": facts["cube_bytes"]}
_ = thumbnail.bars(ways, "memory that is taken", [CUPY, CUPY])

# %%
# Next
# ----
#
# Next: :doc:`Overlap copies and work </gallery/moving_data/overlap>`, where one chunk is copied while the GPU
# works on another. See also: :doc:`Slice before or after the copy </gallery/moving_data/slicing>`, on which
# parts of an array are views, and :ref:`symptom-out-of-memory` when you are in trouble.
