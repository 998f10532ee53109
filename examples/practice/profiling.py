"""
Profiling: from a slow program to the slow line
===============================================

Which step of a GPU program is slow, which line of its kernel, and why?
"""
# %%
# Time the steps first, with events between them, and only then ask Nsight Compute about the slowest kernel.
# In this program of four steps, one takes :measured:`add_up_share` of the time. The counters say that
# each load of a warp touches :measured:`slow_sectors` pieces of memory where :measured:`fast_sectors` are
# enough. With that line mended, the program is
# :measured:`program[roughness_by_warp, 8192**2].speedup(roughness_by_thread)` as fast.
#
# .. headline:: One step takes nearly all of the time, until a warp shares each row
#
# .. drawn:: profiling
#
#     from gpuguide.charts.timeline import plot_timeline
#
#     runs = {
#         "a thread for each row": arrays["timeline_thread"],
#         "a warp for each row": arrays["timeline_warp"],
#     }
#     plot_timeline(runs, ("differences", "squares", "add up", "fetch"))

# %%
# Which step? Events between the steps
# ------------------------------------
#
# The program says how rough each of 8192 signals is: it takes the differences of neighbours, squares them,
# adds them up in a kernel with a thread for each signal, and fetches the sums. An :term:`event` between two
# steps costs next to nothing, and Python does not wait for it. Only the last one is waited for.

import cupy as cp
import numpy as np
from numba import cuda, float32


@cuda.jit
def thread_per_row(a, out):
    """Each thread adds up a row of its own."""
    row = cuda.grid(1)
    if row < a.shape[0]:
        total = float32(0)
        for col in range(a.shape[1]):
            total += a[row, col]
        out[row] = total


def differences(x):
    return x[:, 1:] - x[:, :-1]


def squares(x):
    return x * x


def add_up(x):
    sums = cp.empty(len(x), cp.float32)
    thread_per_row[(len(x) + 255) // 256, 256](x, sums)
    return sums


def fetch(x):
    return x.get()


def timed(steps, x):
    """Do the steps one after the other; return the result, and milliseconds by name."""
    stream = cp.cuda.get_current_stream()
    events = [stream.record()]
    for step in steps:
        x = step(x)
        events.append(stream.record())
    events[-1].synchronize()
    taken = map(cp.cuda.get_elapsed_time, events, events[1:])
    return x, {step.__name__: ms for step, ms in zip(steps, taken, strict=False)}


x_host = np.random.default_rng(0).random((8192, 8192), dtype=np.float32)
x = cp.asarray(x_host)
steps = differences, squares, add_up, fetch
timed(steps, x)  # the first run compiles
rough, taken = timed(steps, x)
for name, ms in taken.items():
    print(f"{name:12}{ms:7.2f} ms")
expected = np.square(np.diff(x_host)).sum(axis=1)
print("as in NumPy:", np.allclose(rough, expected, rtol=1e-4))

# %%
# .. try-it::
#
#    Put ``lambda x: x.sum(axis=1)`` in the place of ``add_up``. CuPy's sum takes a small part of the time.
#    If a library does a step, you need not write a kernel for it, nor profile one.

# %%

# record: The program and its last kernel, each step's place in time, and what Python's profiler books
import gpuguide as gg
from gpuguide.topics.profiling import timeline
from gpuguide.topics.profiling.study import program, sums

results = program.run()
of_rows = sums.run()
for way in timeline.WAYS:
    gg.keep(f"timeline_{way}", timeline.timeline(way))
_ = gg.fact("blamed", timeline.blamed("thread"), unit="share")

# %%

# draw: The share of each step, and the claims
spans = {
    way: arrays[f"timeline_{way}"][0] - arrays[f"timeline_{way}"].min()
    for way in ("thread", "warp")
}
for way, name in (("thread", "add_up_share"), ("warp", "add_up_share_by_warp")):
    lengths = spans[way][:, 1] - spans[way][:, 0]
    gg.fact(name, float(lengths[2] / spans[way].max()), unit="share")
    gg.fact(f"fetch_share_{way}", float(lengths[3] / spans[way].max()), unit="share")
n = 8192**2
gg.claim(results, "roughness_by_warp", faster_than="roughness_by_thread", at=n, by=2)
gg.claim(of_rows, "warp_per_row", faster_than="thread_per_row", at=n, by=5)

# %%
# What goes wrong: Python's profiler blames the line that waits
# -------------------------------------------------------------
#
# ``cProfile``, and every other profiler of Python, sees how long a line keeps Python. A launch returns at
# once, and ``get`` waits for all that was launched before, so that it gets the blame:

# wrong: the time of all steps is booked on the one that waits
import cProfile
import pstats


def run(steps, x):
    for step in steps:
        x = step(x)


with cProfile.Profile() as profiler:
    for _ in range(20):
        run(steps, x)
pstats.Stats(profiler).strip_dirs().sort_stats("cumulative").print_stats("run|differ|squa|add|fetch")

# %%
# It books :measured:`blamed` of the time on ``fetch``, which takes :measured:`fetch_share_thread` by the
# events. Use it to find slow Python, and not to find slow work on the GPU.

# %%
# Name the steps, and look at the whole program
# ---------------------------------------------
#
# In a larger program, give the steps names, which profilers of the GPU show beside its kernels and copies.
# Such a name is called an *NVTX range*, and costs nothing worth mentioning while no profiler looks.

from cupyx.profiler import profile, time_range

with profile():  # a profiler can be told to look at this part alone
    for step in steps:
        with time_range(step.__name__):
            x = step(x)

# %%
# Nsight Systems draws a timeline like the one at the top, for any program and without a change of its code.
# Look for gaps in which the GPU waits for Python, and for copies that nothing overlaps.
#
# .. code-block:: console
#
#    $ nsys profile --trace=cuda,nvtx --output=steps python steps.py
#    $ nsys stats steps.nsys-rep

# %%
# Why is the kernel slow? Nsight Compute
# --------------------------------------
#
# .. remember::
#
#    - Put events between the steps of a program before you change any of them.

# %%
# Your turn: a warp for each row
# ------------------------------
#
# .. exercise:: row_sums

# %%
# Next
# ----
#
# Next
