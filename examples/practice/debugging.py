"""
Debugging: find the line that is wrong
======================================

What do you do when a kernel crashes, hangs, or is wrong only sometimes?
"""
# %%
# Trace each new kernel on a small input with ``gg.trace``, which needs no GPU. We planted six mistakes. A
# trace named the line in :measured:`named_by_trace` cases, and NVIDIA's compute-sanitizer, with its four
# tools, in :measured:`named_by_tools`. The result alone showed in :measured:`seen_alone` cases that something
# is wrong, but never where.
#
# .. headline:: Each NVIDIA tool knows one kind of mistake; a trace names each line
#
# .. drawn:: debugging
#
#     import matplotlib.pyplot as plt
#
#     from gpuguide.charts.style import INK, KERNEL, describe, style
#
#     mistakes = (
#         "index far out",
#         "index just out",
#         "barrier missing",
#         "atomic missing",
#         "barrier in if",
#         "memory not set",
#     )
#     checks = ("memcheck", "racecheck", "synccheck", "initcheck")
#     columns = {"result": 0, "NVIDIA's tools": 1.25, "gg.trace": 3}
#     words = ("nothing", "that it is wrong", "the line")
#     rows = []
#     with style():
#         ax = plt.subplots(figsize=(6.4, 3.1))[1]
#         for row, (result, *by_tool, trace) in enumerate(arrays["levels"]):
#             seen = (result, max(by_tool), trace)
#             for column, level in zip(columns.values(), seen, strict=True):
#                 if level:
#                     face = KERNEL if level == 2 else "none"
#                     ax.plot(column, row, "o", ms=12, mfc=face, mec=KERNEL, mew=2)
#             names = [name for name, level in zip(checks, by_tool, strict=True) if level]
#             ax.text(1.43, row, ", ".join(names), va="center", color=INK)
#             answers = (f"{who} {words[level]}" for who, level in zip(columns, seen, strict=True))
#             rows.append(f"{mistakes[row]}: {', '.join([*answers, *names])}")
#         ax.set_xticks(list(columns.values()), columns, color=INK)
#         ax.set_yticks(range(len(mistakes)), mistakes, color=INK)
#         ax.xaxis.tick_top()
#         ax.tick_params(length=0)
#         ax.set(xlim=(-0.3, 3.4), ylim=(len(mistakes) - 0.5, -0.5))
#         ax.set_xlabel("full dot: names the line\nopen dot: shows only\nthat something is wrong")
#         ax.grid(visible=False, axis="x")
#         ax.spines[["left", "bottom"]].set_visible(False)
#         describe(ax, f"What the result and the tools say of six mistakes. {'; '.join(rows)}.")

# %%
# Wrong only sometimes: compare, then trace
# -----------------------------------------
#
# This kernel mirrors each part of 256 numbers. There should be a barrier before the last line, so that all
# numbers are in shared memory before any is read. CuPy's ``x[:, ::-1]`` says what is right. Launched again
# and again with the same data, the kernel seems to get better:

import cupy as cp
from numba import config, cuda, float32

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # Numba would warn of so few blocks


@cuda.jit
def mirror(x, out):
    """Each block mirrors its part."""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i]
    out[i] = part[255 - t]


x = cp.random.random((100, 256), dtype=cp.float32)
out = cp.empty_like(x)
print("share of wrong numbers in each launch:")
for _ in range(8):
    out[:] = -1
    mirror[100, 256](x.ravel(), out.ravel())
    print(f"{float((out != x[:, ::-1]).mean()):.4f}", end="  ")

# %%
# It does not. Shared memory still holds what an earlier launch left there, and with the same data that is the
# right number. :evidence:`count shares_wrong` In :measured:`n_launches` launches with new data each time,
# :measured:`wrong_new` of the numbers are wrong; in as many with the same data, :measured:`wrong_same` in the
# last twenty. With blocks of a single warp there were :measured:`wrong_in_a_warp` wrong numbers even with new
# data, though nothing promises that. So test with new data each time, and in several warps and blocks.
#
# ``gg.trace`` does not rely on luck. It runs the kernel thread by thread in plain Python, and records which
# thread touches which element and waits at which barrier. A small input is enough:

# wrong: no barrier between writing and reading
import gpuguide as gg

print(gg.trace(mirror[1, 256], x[0], out[0]))

# %%
# .. try-it::
#
#    Put ``cuda.syncthreads()`` before the last line of ``mirror``. Now the trace has no findings, and the GPU
#    makes no mistakes.
#
# ``gg.trace`` finds wrong indices, races, barriers that some threads miss, shared memory that nobody wrote,
# and float64 by accident. Give it a size that does not fill the last block, or a missing guard does no harm.
# Numba's own :term:`simulator` raises an error at a wrong index, too, but says nothing of races.
#
# A trace takes Numba's kernels only, and of a large launch the first and last blocks. For CUDA C++, and for
# what a small input does not show, there are tools that watch the GPU.

# %%

# record: Six broken programs, each alone, under four tools, and traced
import numpy as np
from gpuguide.topics.debugging import races, tools, traces

reports, seconds = tools.all_runs()
gg.keep("levels", np.array(tools.levels(reports, traces.levels())))
shares = {
    "wrong_new": races.shares_wrong(256, new_data=True),
    "wrong_same": races.shares_wrong(256, new_data=False)[-20:],
}
for name, samples in shares.items():
    gg.fact(name, float(np.mean(samples)), unit="share", samples=samples)
in_a_warp = races.shares_wrong(32, new_data=True)
gg.fact("wrong_in_a_warp", round(sum(in_a_warp) * 3200), unit="1")
gg.fact("n_launches", len(in_a_warp), unit="1")
for way, time in seconds.items():
    gg.fact(f"seconds_{way}", time, unit="s")
gg.fact("sanitizer", tools.version(), unit="text", note="version of compute-sanitizer")
gg.fact("trace_time", traces.seconds(), unit="s", note="1024 threads, without a GPU")
gg.fact("errors_unset", reports["unset", "initcheck"].n_errors, unit="1")
gg.fact("errors_in_pool", reports["no_guard", "pool"].n_errors, unit="1")
_ = gg.fact("errors_without", reports["no_guard", "memcheck"].n_errors, unit="1")

# %%

# draw: How many mistakes were seen, and how many lines named
levels = arrays["levels"]
gg.fact("named_by_trace", int((levels[:, -1] == 2).sum()), unit="1", note="of six")
named = (levels[:, 1:-1] == 2).any(axis=1).sum()
gg.fact("named_by_tools", int(named), unit="1", note="of six")
gg.fact("seen_alone", int((levels[:, 0] > 0).sum()), unit="1", note="of six")

# %%
# An error that comes late: launch blocking and memcheck
# ------------------------------------------------------
#
# A launch returns before the kernel has run, so an error in it turns up in a later line, which is innocent.
# This program looks up a thousand keys in a table of 5000 numbers, and one of the keys is not in it.
#
# .. kernel:: gpuguide.topics.debugging.programs.later
#    :names: look_up
#
# .. kernel:: gpuguide.topics.debugging.programs.later
#    :names: main
#    :fold: The rest of the program, later.py
#
# After the launch, it prints ``looked up``, and then fails in ``result = out.get()``, with
# ``cudaErrorIllegalAddress``:

# output: What Python prints
print(reports["later", ""])

# %%
# With ``CUDA_LAUNCH_BLOCKING=1`` each launch waits for its kernel, so the traceback ends in the launch that
# is to blame, ``look_up[4, 256](...)``:

# output: What Python prints when launches block
print(reports["later", "blocking"])

# %%
# ``memcheck`` watches each access, and names the line of the kernel, if that was compiled with
# ``@cuda.jit(lineinfo=True)``, with the block and the thread. The two options leave out calls to CUDA that
# fail, as one of Numba's always does, and all errors but the first. We cut out frames of libraries and long
# names, and put the line of code at the end:

# output: The report of memcheck
print(reports["later", "memcheck"])

# %%
# - **Start anew.** After such an error, every later call fails in the same way. Restart the process or, in a
#   notebook, the kernel.
# - **Switch CuPy's memory pool off** while you search: ``cp.cuda.set_allocator(None)`` in the first line. The
#   pool rounds sizes up, and hands out pieces of larger blocks, so memcheck does not know where an array
#   ends. :evidence:`count errors_in_pool` For a kernel without a guard, with 24 threads more than numbers, it
#   counts :measured:`errors_without` errors without the pool, and :measured:`errors_in_pool` with it.

# %%
# A program that never comes back
# -------------------------------
#
# All threads of a block have to come to the same barrier. Here each arm of an ``if`` has one of its own, and
# the threads of a warp wait in two places.
#
# .. kernel:: gpuguide.topics.debugging.programs.never
#    :names: move
#
# On this GPU it hangs. ``synccheck`` is the tool for barriers, yet it hung along with the program, and had
# said nothing when we stopped both; ``launched`` is the program's own word. ``gg.trace`` names the two
# barriers, and where each thread waits:

# output: The program alone, under synccheck, and traced
for check in ("", "synccheck"):
    print(reports["never", check], end="\n\n")
print(traces.traced("never"))

# %%
# Ctrl+C does not help, as Python is in a call of CUDA that does not return. End the process from another
# terminal, with ``kill -9``. Not every such kernel hangs. This one, for a thousand numbers and 1024 threads,
# came back with the right result:
#
# .. kernel:: gpuguide.topics.debugging.programs.two_barriers
#    :names: steps
#    :fold: A barrier in each arm, and the right result
#
# Here ``synccheck`` says ``Barrier error detected. Divergent thread(s) in warp.``, and names the line. So run
# it on kernels that come back, before they hang elsewhere:

# output: The report of synccheck
print(reports["two_barriers", "synccheck"])

# %%
# Look inside: print and assert
# -----------------------------
#
# ``print`` works in a kernel, for words and numbers. Put it into an ``if``, or each thread prints a line. The
# lines appear when the host waits for the kernel.
#
# .. kernel:: gpuguide.topics.debugging.programs.prints
#    :names: inverse

# output: What the kernel prints
print(reports["prints", ""])

# %%
# With ``debug=True`` a kernel takes ``assert`` and ``raise``, and a division by zero is an error. It does not
# look at indices, so say what must hold:
#
# .. kernel:: gpuguide.topics.debugging.programs.asserts
#    :names: look_up
#
# Python then gets an ``AssertionError`` with these words, the line, and the thread and block as z, y, x:

# output: What the assertion says
print(reports["asserts", ""])

# %%
# NaN, and numbers of another type
# --------------------------------
#
# None of these tools finds a number that is wrong but valid. CuPy raises no error for a NaN, and
# ``np.errstate`` does not change that. Count after each step; the first one that has a NaN is the one to look
# at:

steps = {"x": cp.asarray([-0.001, *range(1, 1000)])}
steps["root"] = cp.sqrt(steps["x"])
steps["scaled"] = steps["root"] / steps["root"].max()
for name, values in steps.items():
    print(f"{name:7}", int(cp.isnan(values).sum()), "NaN of", values.size)

# %%
# Integers wrap around where they are stored, and a Python float in a kernel makes its arithmetic float64,
# which ``gg.trace`` reports; see :doc:`Types: keep kernels in 32 bits </gallery/first_kernels/numba_types>`.
# A ``RawKernel`` with a ``float`` parameter reads half of a Python float's eight bytes, so 2.0 arrives as
# zero: hand over ``np.float32(2.0)``.

# %%
# What each tool looks at, and what it costs
# ------------------------------------------
#
# .. list-table:: In the order in which to reach for them, with the time of a launch of four million threads
#    :header-rows: 1
#
#    * - tool
#      - finds
#      - a launch takes
#    * - none
#      -
#      - :measured:`seconds_plain`
#    * - ``gg.trace``
#      - indices, races, barriers, unset shared memory, float64
#      - :measured:`trace_time`
#    * - launch blocking
#      - the launch that fails
#      - as long
#    * - ``debug=True``
#      - what you assert, division by zero
#      - :measured:`seconds_debug`
#    * - ``memcheck``
#      - addresses outside of arrays
#      - :measured:`seconds_memcheck`
#    * - ``racecheck``
#      - races in shared memory, and in no other
#      - :measured:`seconds_racecheck`
#    * - ``synccheck``
#      - barriers that not all threads of a warp reach
#      - :measured:`seconds_synccheck`
#    * - ``initcheck``
#      - unset memory of arrays, not shared memory
#      - :measured:`seconds_initcheck`
#
# ``gg.trace`` ran only a thousand threads. Like ``racecheck``, it needs a small input, and the others do not.
# The start of a tool comes on top. The last four belong to ``compute-sanitizer``, which comes with the CUDA
# toolkit; this is version :measured:`sanitizer`. NVIDIA's debugger ``cuda-gdb`` is not tried here.
#
# None of the four noticed an atomic addition that is missing in global memory, or shared memory that nobody
# set to zero. ``initcheck`` looks at arrays only, without the pool: for a kernel that adds to a ``cp.empty``
# of a thousand numbers, it counted :measured:`errors_unset` errors. And ``racecheck`` says of the missing
# barrier at the top:

# output: The report of racecheck
print(reports["no_barrier", "racecheck"])

# %%
# .. remember::
#
#    - Trace a new kernel with ``gg.trace`` on a small input of an odd size before you launch it. If a program
#      hangs, end it with ``kill -9``, and trace it.
#    - If an error comes late, run again with ``CUDA_LAUNCH_BLOCKING=1``, then under ``compute-sanitizer``,
#      without CuPy's memory pool. Then restart the process.
#    - Test with new data each time: shared memory may still hold the right numbers of the last test.

# %%
# Your turn: a hunt
# -----------------
#
# Six kernels by colleagues, each with one mistake and a story of what they saw. Find it, and mend it.
#
# .. exercise:: hunt_address
#
# .. exercise:: hunt_overflow
#
# .. exercise:: hunt_nan
#
# .. exercise:: hunt_race
#
# .. exercise:: hunt_leftover
#
# .. exercise:: hunt_hang

# thumbnail
from gpuguide.charts import thumbnail

counts = {
    "results": facts["seen_alone"],
    "NVIDIA's tools": facts["named_by_tools"],
    "gg.trace": facts["named_by_trace"],
}
_ = thumbnail.bars(counts, "mistakes seen, of six")

# %%
# Next
# ----
#
# Next: :doc:`Profiling: from a slow program to the slow line </gallery/practice/profiling>`, for kernels that
# are right but slow. See also: :doc:`When something goes wrong </symptoms>` lists errors by their message.
