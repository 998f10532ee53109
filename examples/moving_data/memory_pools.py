"""
Memory pools
============

Where does the GPU's memory go, and what can you do when it runs out?
"""
# %%
# Arithmetic on an array of :measured:`cube_bytes` takes :measured:`ways_new_arrays` with new arrays, and
# CuPy's pool of memory then holds :measured:`most_held`. In place it takes as long, and no further memory; in
# chunks, :measured:`chunks_16777216` and :measured:`needed_at_2_24` more.
#
# .. list-table:: A cube of 1024 × 1024 × 1024 numbers tripled and squared, until the result is there
#    :header-rows: 1
#
#    * - way
#      - time
#      - memory beside the cube
#    * - ``x = x * 3; x = x * x``, no pool
#      - :measured:`ways_no_pool`
#      - another cube, given back each time
#    * - ``x = x * 3; x = x * x``
#      - :measured:`ways_new_arrays`
#      - another cube, kept by the pool
#    * - the same, 2\ :sup:`24` numbers at a time
#      - :measured:`chunks_16777216`
#      - :measured:`needed_at_2_24`
#    * - ``x *= 3; x *= x``
#      - :measured:`ways_in_place`
#      - none
#    * - both steps in one pass, with a kernel
#      - :measured:`ways_one_kernel`
#      - none

# %%
# Used and held: the two counters of CuPy's pool
# ----------------------------------------------
#
# CuPy asks the driver for memory as rarely as it can. When no name is left for an array, its memory goes back
# to a pool, and the next array that fits gets it from there. So there are two numbers: the bytes that arrays
# use, and the bytes that the pool holds.

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
# After ``del y`` nothing uses that memory, but the pool still holds it, and ``z`` gets it. To every other
# program, and to ``nvidia-smi``, it is taken. ``free_all_blocks`` gives back what no array uses. You rarely
# need it: only before you hand the GPU to another library, or after a step that took far more than the rest.

# %%
# In-place arithmetic on 8.6 GB, step by step
# -------------------------------------------
#
# Now with a large array, a cube of 1024 × 1024 × 1024 numbers in float64. If two of them do not fit into the
# free memory, the cell takes a smaller one.

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

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.style import INK, MUTED, SERIES, describe, style

steps = ["before", "x = random", "x *= 3; x *= x", "x = x * 3", "x = x * x"]
steps += ["free_all_blocks()", "del x", "free_all_blocks()"]
used, held = arrays["counters"].T / 1e9
rows = range(len(steps))
with style():
    ax = plt.subplots(figsize=(6.4, 3.6))[1]
    ax.barh(rows, held, height=0.62, color=MUTED, alpha=0.35, label="held by the pool")
    ax.barh(rows, used, height=0.3, color=SERIES[0], label="used by arrays")
    for row in rows:
        ax.text(
            held[row] + 0.2,
            row,
            f"{used[row]:.1f} of {held[row]:.1f}",
            va="center",
            color=INK,
        )
    ax.set_yticks(rows, steps)
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.set(xlim=(0, 1.3 * max(held.max(), 0.1)), xlabel="GB after the step")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderpad=0)
    words = "; ".join(
        f"{step}: {u:.1f} used, {h:.1f} held"
        for step, u, h in zip(steps, used, held, strict=True)
    )
    describe(
        ax, f"Bars of the GB that arrays use and the pool holds after each step. {words}."
    )
cube, most = arrays["counters"][1, 0], arrays["counters"][:, 1].max()
gg.fact("cube_bytes", float(cube), unit="B", note="what one cube takes")
_ = gg.fact("most_held", float(most), unit="B", note="the most that the pool held")

# %%
# .. finding::
#
#    In place the pool holds one cube. ``x = x * 3`` needs the old and the new one at the same time. The pool
#    comes to hold :measured:`most_held`, and keeps it until ``free_all_blocks``.

# %%
# Out of memory, raised on purpose
# --------------------------------
#
# You need not fill a GPU to see it run out of memory. A limit for the pool raises the same error.

pool.free_all_blocks()
pool.set_limit(size=1_000_000_000)
x = cp.arange(100_000_000, dtype=cp.float64)  # 0.8 GB
try:
    y = (3 * x) ** 2
except cp.cuda.memory.OutOfMemoryError as error:
    print(error)

# %%
# The message names the array that did not fit, what the pool holds already, and the limit. The error is a
# ``MemoryError``, and nothing is broken: ``x`` is as it was. If the GPU itself is full, CuPy gives back the
# memory that nothing uses, and tries again before it raises. At a limit it raises at once, so there
# ``free_all_blocks`` may help. A limit is also good manners on a GPU that you share:
# ``pool.set_limit(fraction=0.5)``, or ``CUPY_GPU_MEMORY_LIMIT="50%"`` in the environment.
#
# The same arithmetic fits if it is done in chunks. A new array is then as small as a chunk.

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
# Chunks: less memory, and how small they may be
# ----------------------------------------------
#
# This is the cube of :measured:`cube_bytes` again, in chunks of different sizes.

# draw
n, _, needed = arrays["chunks"].T
# The medians of all runs, as in the text; the array is of the newest run alone.
milliseconds = [1e3 * facts[f"chunks_{k:.0f}"].value for k in n]
with style():
    ax = plt.subplots(figsize=(6.4, 3.4))[1]
    ax.plot(n, milliseconds, "o-", color=SERIES[0])
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
# .. finding::
#
#    In chunks of 2\ :sup:`24` numbers the cube takes :measured:`chunks_16777216` and the pool needs
#    :measured:`needed_at_2_24` beside it. In chunks of 2\ :sup:`18` it takes :measured:`chunks_262144`.
#
# The pool needs two chunks, not one: the old ``tripled`` keeps its name until the new one is made. Small
# chunks mean many operations, 8 192 of them for the smallest. We think that Python cannot ask for them as
# fast as the GPU works. :evidence:`opinion`

# %%
# In place, or a new array for each result
# ----------------------------------------
#
# ``x * 3`` makes a new array for its result; ``x *= 3`` and ``out=`` write the result over an old one.
#
# .. rung:: in_place

x_host = np.random.default_rng(0).random(1_000_000)
x = cp.asarray(x_host)
x *= 3
cp.multiply(x, x, out=x)  # the same as x *= x
print("CuPy: ", x[:3])
print("NumPy:", ((3 * x_host) ** 2)[:3])

# %%
# NumPy, on one thread, takes :measured:`arithmetic[numpy_in_place, 2**25].time` in place for 2\ :sup:`25`
# numbers, and :measured:`arithmetic[numpy_new, 2**25].time` with new arrays, for which it asks the system for
# memory each time. :evidence:`variant numpy_in_place` On the GPU both forms read and write the same bytes,
# and a new array costs next to nothing once the pool has memory for it.
#
# .. list-table:: x tripled and squared, 2\ :sup:`25` numbers in float64
#    :header-rows: 1
#
#    * - way
#      - time
#      - share of the memory ceiling
#    * - NumPy, one thread, new arrays
#      - :measured:`arithmetic[numpy_new, 2**25].time`
#      -
#    * - NumPy, one thread, in place
#      - :measured:`arithmetic[numpy_in_place, 2**25].time`
#      -
#    * - NumPy, all threads, in place
#      - :measured:`arithmetic[numpy_threads, 2**25].time`
#      -
#    * - CuPy, new arrays
#      - :measured:`arithmetic[new_arrays, 2**25].time`
#      - :measured:`arithmetic[new_arrays, 2**25].share`
#    * - CuPy, in place
#      - :measured:`arithmetic[in_place, 2**25].time`
#      - :measured:`arithmetic[in_place, 2**25].share`
#    * - CuPy, in place, one kernel
#      - :measured:`arithmetic[one_kernel, 2**25].time`
#      - :measured:`arithmetic[one_kernel, 2**25].share`
#
# So work in place to save memory. To save time, save passes: a function on the GPU, a :term:`kernel`, that
# does both steps at once reads and writes each number once instead of twice. :evidence:`variant one_kernel`
# :doc:`Ufuncs </gallery/first_kernels/ufuncs>` shows how to make one.
#
# .. kernel:: gpuguide.topics.memory_pools.study
#    :names: new_arrays, in_place_threads, triple_square, one_kernel
#    :fold: New arrays, NumPy's side, and both steps in one kernel
#
# .. results:: arithmetic

# %%
# With the pool switched off
# --------------------------
#
# ``cp.cuda.set_allocator(None)`` switches the pool off. The memory of each array then comes from the driver
# and goes back to it. The cube at the top takes :measured:`ways_no_pool` in this way, instead of
# :measured:`ways_new_arrays`. This is what Python pays for one operation with a new array, launch included:
#
# .. list-table:: ``x + 1``, until Python goes on
#    :header-rows: 1
#
#    * - bytes of the result
#      - 8 kB
#      - 34 MB
#    * - with the pool
#      - :measured:`pool[from_pool, 2**10].launch`
#      - :measured:`pool[from_pool, 2**22].launch`
#    * - without the pool
#      - :measured:`pool[from_driver, 2**10].launch`
#      - :measured:`pool[from_driver, 2**22].launch`
#
# For a small array the pool saves little, for a large one most of the time. To give memory back to the
# driver has another price: Python waits for the GPU, and cannot prepare the next step meanwhile.
# Switch the pool off for one purpose only, to let a tool such as ``compute-sanitizer`` see
# each array by itself.
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
# The pinned pool
# ---------------
#
# :term:`Pinned memory <pinned memory>` on the host, from which the GPU copies by itself, has a pool of its
# own. That pool counts no bytes, only its free pieces of memory.

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
# Pinning 67 MB takes :measured:`pinned_from_driver`, and getting them from the pool
# :measured:`pinned_from_pool`. ``cp.asarray`` uses this pool, too, for it first copies a
# :term:`pageable <pageable memory>` array into pinned memory. It takes :measured:`asarray_empty_pool` while
# the pool is empty, and :measured:`asarray_pageable` once there is a piece that fits. ``set`` copies an array
# that is pinned itself in :measured:`set_pinned`.

# %%
# .. remember::
#
#    - When memory runs out, work in place (``x *= 3``, ``out=``), which needs none beside the array, or in
#      chunks.
#    - Leave the pool on. Python goes on after :measured:`pool[from_pool, 2**22].launch` if 34 MB come from
#      there, and after :measured:`pool[from_driver, 2**22].launch` if they come from the driver.
#    - Call ``free_all_blocks`` before another library needs the GPU, and set a limit on a GPU that you share.

# %%
# Your turn: stay within the limit
# --------------------------------
#
# .. exercise:: within_the_limit

# %%
# Next
# ----
#
# Onward: :doc:`Overlap </gallery/moving_data/overlap>` copies one chunk while the GPU works on another.
# Sideways: :doc:`Slicing </gallery/moving_data/slicing>`, on views and copies of parts. In trouble:
# :ref:`symptom-out-of-memory`.
