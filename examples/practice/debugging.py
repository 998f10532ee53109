"""
Debugging: find the line that is wrong
======================================

What do you do when a kernel crashes, hangs, or is wrong only sometimes?
"""
# %%
# Compare every kernel with NumPy, and trace it on a small input with ``gg.trace``, which needs no GPU. Of six
# typical mistakes, the comparison revealed :measured:`seen_alone`, and never the line. ``gg.trace`` named the
# line of :measured:`named_by_trace`, and the four tools of NVIDIA's compute-sanitizer together that of
# :measured:`named_by_tools`.
#
# .. headline:: A full dot names the line; each of NVIDIA's tools looks for one kind of mistake
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
#         "no barrier",
#         "no atomic",
#         "two barriers",
#         "not cleared",
#     )
#     checks = ("mem", "race", "sync", "init")
#     tools = ("result", *(f"{name}-\ncheck" for name in checks), "gg.\ntrace")
#     words = ("nothing", "that it is wrong", "the line")
#     rows = []
#     with style():
#         ax = plt.subplots(figsize=(6.4, 3.3))[1]
#         for row, levels in enumerate(arrays["levels"]):
#             for column, level in enumerate(levels):
#                 if level:
#                     face = KERNEL if level == 2 else "none"
#                     ax.plot(column, row, "o", ms=13, mfc=face, mec=KERNEL, mew=2)
#             answers = (
#                 f"{tool.replace('-', '').replace(chr(10), '')} {words[level]}"
#                 for tool, level in zip(tools, levels, strict=True)
#             )
#             rows.append(f"{mistakes[row]}: {', '.join(answers)}")
#         ax.set_xticks(range(len(tools)), tools, color=INK)
#         ax.set_yticks(range(len(mistakes)), mistakes, color=INK)
#         ax.xaxis.tick_top()
#         ax.tick_params(length=0)
#         ax.set(xlim=(-0.5, len(tools) - 0.5), ylim=(len(mistakes) - 0.5, -0.5))
#         ax.set_xlabel("open dot: shows only\nthat something is wrong")
#         ax.spines[["left", "bottom"]].set_visible(False)
#         describe(ax, f"What the result and five tools say of six mistakes. {'; '.join(rows)}.")

# %%
# Compare with NumPy, then trace
# ------------------------------
#
# This kernel mirrors each part of 256 numbers. There should be a barrier before the last line, so that all
# numbers are in shared memory before any is read. Launched again and again with the same data, it seems to
# get better:

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
# It does not. Shared memory still holds what the launch before left there, and with the same data that is the
# right number. With new data in each launch :measured:`wrong_new` of the numbers are wrong, and with the same
# data :measured:`wrong_same`. :evidence:`count shares_wrong` In blocks of a single warp there were
# :measured:`wrong_in_a_warp` wrong numbers in :measured:`n_launches` launches, though nothing promises that.
# So test with new data each time, and with several warps and blocks.
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
# It finds wrong indices, races within and between blocks, barriers that some threads miss, memory that nobody
# wrote, and float64 by accident. It takes Numba's kernels only, and runs the first and last blocks of a large
# launch. For CUDA C++, and for what a small input does not show, there are tools that watch the GPU.

# %%

# record: Six broken programs, each alone, under four tools, and traced
import numpy as np
from gpuguide.topics.debugging import races, tools, traces

reports = tools.all_reports()
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
for way, seconds in tools.seconds().items():
    gg.fact(f"seconds_{way}", seconds, unit="s")
gg.fact("trace_time", traces.seconds(), unit="s", note="1024 threads, without a GPU")
gg.fact("errors_unset", reports["unset", "initcheck"].n_errors, unit="1")
gg.fact("errors_in_pool", reports["no_guard", "pool"].n_errors, unit="1")
_ = gg.fact("errors_without", reports["no_guard", "memcheck"].n_errors, unit="1")

# %%

# draw: Lines named, and how much slower a kernel is under each tool
levels = arrays["levels"]
gg.fact("named_by_trace", int((levels[:, -1] == 2).sum()), unit="1", note="of six")
named = (levels[:, 1:-1] == 2).any(axis=1).sum()
gg.fact("named_by_tools", int(named), unit="1", note="of six")
gg.fact("seen_alone", int((levels[:, 0] > 0).sum()), unit="1", note="of six")
for way in ("debug", *(f"{name}check" for name in ("mem", "race", "sync", "init"))):
    ratio = facts[f"seconds_{way}"].value / facts["seconds_plain"].value
    gg.fact(f"slower_{way}", ratio, unit="ratio", note="a sum over neighbours")

# %%
# An error that comes late: launch blocking and memcheck
# ------------------------------------------------------
#
# A launch returns before the kernel has run, so the error turns up in a later line, which is innocent. This
# program looks up a thousand keys in a table of 5000, and one of the keys is not in it.
#
# .. kernel:: gpuguide.topics.debugging.programs.later
#    :names: look_up, main

# record: The program with a wrong key, alone, with launches that block, and under memcheck
print(reports["later", ""])

# %%
# The traceback ends in the line that fetches the result. With ``CUDA_LAUNCH_BLOCKING=1`` each launch waits
# for its kernel, and the traceback ends in the launch that is to blame:

# record: The same with launches that block
print(reports["later", "blocking"])

# %%
# ``memcheck`` watches each access, and names the line of the kernel, the block and the thread. It needs
# ``@cuda.jit(lineinfo=True)`` for the line. We have shortened the names of functions:

# record: The same under memcheck
print(reports["later", "memcheck"])

# %%
# - **Start anew.** After such an error, every later call fails in the same way. Restart the process or, in a
#   notebook, the kernel. An error in one cell can come from a launch three cells above.
# - **Switch CuPy's memory pool off** while you search: ``cp.cuda.set_allocator(None)`` in the first line. The
#   pool hands out pieces of larger blocks, whose ends memcheck does not know. For a kernel without a guard,
#   it counts :measured:`errors_without` errors without the pool, and :measured:`errors_in_pool` with it.
#   :evidence:`count errors_in_pool`

# %%
# A program that never comes back: synccheck
# ------------------------------------------
#
# All threads of a block have to come to the same barrier. Here each arm of an ``if`` has one of its own, and
# the threads of a warp wait in two places.
#
# .. kernel:: gpuguide.topics.debugging.programs.never
#    :names: move

# record: Two barriers, alone, under synccheck, and traced
for check in ("", "synccheck"):
    print(reports["never", check], end="\n\n")
print(traces.traced("never"))

# %%
# ``gg.trace`` names both barriers. Ctrl+C does not help, as Python is in a call of CUDA that does not return.
# End the process from another terminal, with ``kill -9``. Other hangs are loops whose condition never
# changes, such as one that waits for what another block should write.
#
# Not every such kernel hangs. The next one has a barrier in each arm as well, for a thousand numbers and 1024
# threads. It came back with the right result, and ``synccheck`` reports it:

# record: Two barriers in a kernel that comes back, under synccheck
print(reports["two_barriers", "synccheck"])

# %%
# Look inside: print and assert
# -----------------------------
#
# ``print`` works in a kernel, for words and numbers. Put it into an ``if``, or you get a line from each
# thread. What is printed appears when the host waits for the kernel.
#
# .. kernel:: gpuguide.topics.debugging.programs.prints
#    :names: inverse

# record: What the kernel prints
print(reports["prints", ""])

# %%
# With ``debug=True`` a kernel takes ``assert`` and ``raise``, and an integer division by zero is an error. It
# does not look at indices, so say what must hold:
#
# .. kernel:: gpuguide.topics.debugging.programs.asserts
#    :names: look_up

# record: What the assertion says
print(reports["asserts", ""])

# %%
# NaN, and numbers of another type
# --------------------------------
#
# No tool finds a number that is wrong but valid. CuPy raises no error for a NaN, and ``np.errstate`` does not
# change that. Ask after each step, and the first one that has a NaN is the one to look at:

steps = {"x": cp.asarray([-0.001, *range(1, 1000)])}
steps["root"] = cp.sqrt(steps["x"])
steps["scaled"] = steps["root"] / steps["root"].max()
for name, values in steps.items():
    print(f"{name:7}", int(cp.isnan(values).sum()), "NaN of", values.size)

# %%
# Integers wrap around where they are stored, and a Python float in a kernel makes its arithmetic float64,
# which ``gg.trace`` reports; see :doc:`Types: keep kernels in 32 bits </gallery/first_kernels/numba_types>`.
# A ``RawKernel`` with a ``float`` parameter gets zero from a Python float: hand over ``np.float32(2.0)``.

# %%
# What each tool looks at, and what it costs
# ------------------------------------------
#
# .. list-table:: In the order in which to reach for them
#    :header-rows: 1
#
#    * - tool
#      - finds
#      - how long a kernel takes
#    * - ``gg.trace``
#      - indices, races, barriers, unset memory, float64
#      - :measured:`trace_time` for a thousand threads
#    * - launch blocking
#      - the launch that fails
#      - as long as before
#    * - ``debug=True``
#      - what you assert, integer division by zero
#      - :measured:`slower_debug` as long
#    * - ``memcheck``
#      - addresses outside of arrays
#      - :measured:`slower_memcheck` as long
#    * - ``racecheck``
#      - races in shared memory, and in no other
#      - :measured:`slower_racecheck` as long
#    * - ``synccheck``
#      - barriers that not all threads of a warp reach
#      - :measured:`slower_synccheck` as long
#    * - ``initcheck``
#      - unset memory of arrays, not shared memory
#      - :measured:`slower_initcheck` as long
#
# The last four are tools of ``compute-sanitizer``, which comes with the CUDA toolkit. Under ``racecheck``,
# use a small input. This is its report on the missing barrier at the top:

# record: The missing barrier under racecheck
print(reports["no_barrier", "racecheck"])

# %%
# A missing atomic addition in global memory, and shared memory that nobody set to zero, went unnoticed by
# all four. ``initcheck`` looks at arrays only: for a kernel that adds to a ``cp.empty``, it counted
# :measured:`errors_unset` errors.

# %%
# .. remember::
#
#    - Trace a new kernel with ``gg.trace`` on a small input of an odd size before you launch it.
#    - If an error comes late, run again with ``CUDA_LAUNCH_BLOCKING=1``, then under ``compute-sanitizer``,
#      without CuPy's memory pool. Then restart the process.
#    - Test on a GPU with new data each time: shared memory may still hold the right numbers of the last test.

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
