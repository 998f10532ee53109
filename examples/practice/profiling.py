"""
Profiling: from a slow program to the slow line
===============================================

Which step of a GPU program is slow, which line of its kernel, and why?
"""
# %%
# Time the steps first, with events between them, and only then look into the slowest kernel with Nsight
# Compute. In this program, one step of four takes :measured:`turn_share` of the time, and the GPU's counters
# point to one line, which touches far more memory than it needs. Mended, the kernel is
# :measured:`turns[turn_by_tiles, 8192**2].speedup(turn_by_threads)` as fast, and the program
# :measured:`program[roughness_by_tiles, 8192**2].speedup(roughness)`.
#
# .. headline:: One step takes most of the time, until its kernel is mended
#
# .. drawn:: profiling
#
#     from gpuguide.charts.timeline import plot_timeline
#
#     runs = {
#         "at first": arrays["timeline_threads"],
#         "with the mended kernel": arrays["timeline_tiles"],
#     }
#     lanes = "turn (Numba)", "differences (CuPy)", "add up (CuPy)", "fetch (a copy)"
#     plot_timeline(runs, lanes)

# %%
# Which step? Events between the steps
# ------------------------------------
#
# The program says how rough each of 8192 signals is. They come as columns, so it turns them into rows, takes
# the differences of neighbours, squares these and adds them up, and fetches the sums. An :term:`event` is a
# mark between two steps, at which the GPU notes the time. Only the host waits for it, at the end. Some work
# ahead of the steps keeps the GPU busy while Python launches them; else their times would include that.

import cupy as cp
import numpy as np
from numba import cuda, float32


@cuda.jit
def turn_by_threads(x, out):
    """Each thread moves one number."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[col, row] = x[row, col]


def turn(x):
    rows, cols = x.shape
    out = cp.empty((cols, rows), x.dtype)
    turn_by_threads[((cols + 31) // 32, (rows + 7) // 8), (32, 8)](x, out)
    return out


def differences(x):
    return x[:, 1:] - x[:, :-1]


def add_up(x):
    return (x * x).sum(axis=1)


def fetch(x):
    return x.get()


def timed(steps, x):
    """Do the steps one after the other; return the result, and milliseconds by name."""
    for _ in range(8):
        x + x  # work ahead
    stream = cp.cuda.get_current_stream()
    events = [stream.record()]
    for step in steps:
        x = step(x)
        events.append(stream.record())
    events[-1].synchronize()
    times = map(cp.cuda.get_elapsed_time, events[:-1], events[1:])
    return x, {step.__name__: ms for step, ms in zip(steps, times, strict=True)}


signals_host = np.random.default_rng(0).random((8192, 8192), dtype=np.float32)
signals = cp.asarray(signals_host)
steps = turn, differences, add_up, fetch
timed(steps, signals)  # the first run compiles
sums, times = timed(steps, signals)
for name, ms in times.items():
    print(f"{name:12}{ms:7.2f} ms")
expected = np.square(np.diff(signals_host, axis=0)).sum(axis=0)
print("as in NumPy:", np.allclose(sums, expected, rtol=1e-4))

# %%
# .. try-it::
#
#    Put ``lambda x: cp.ascontiguousarray(x.T)`` in the place of ``turn`` in ``steps``. CuPy's copy takes
#    :measured:`turns[turn_cupy, 8192**2].time`. Before you look into a kernel of your own, see whether a
#    library has a faster one.

# %%

# record: The program and its kernels, each step's place in time, and what Python's profiler books
import gpuguide as gg
from gpuguide.topics.profiling import counters, timeline
from gpuguide.topics.profiling import study as profiling
from gpuguide.topics.profiling.kernels import turn_by_tiles

results = profiling.program.run()
turns = profiling.turns.run()
for way in timeline.WAYS:
    gg.keep(f"timeline_{way}", timeline.timeline(way))
_ = gg.fact("blamed", timeline.blamed(), unit="share", note="by cProfile")

# %%
# What goes wrong: Python's profiler blames the line that waits
# -------------------------------------------------------------
#
# ``cProfile``, and any other profiler of Python, sees how long a line keeps Python. A launch returns at once,
# and ``get`` waits for all that was launched before it:

# wrong: the time of all steps is booked on the one that waits
import cProfile
import pstats


def program(x):
    for step in steps:
        x = step(x)
    return x


with cProfile.Profile() as profiler:
    for _ in range(20):
        program(signals)
functions = pstats.Stats(profiler).get_stats_profile().func_profiles
for step in steps:
    print(f"{step.__name__:12}{functions[step.__name__].cumtime / 20 * 1e3:7.2f} ms")

# %%
# It books :measured:`blamed` of the time on ``fetch``, which by the events takes :measured:`fetch_share`. Use
# it to find slow Python. It is blind to slow work on the GPU.

# %%
# Name the steps for a profiler of the GPU
# ----------------------------------------
#
# In a larger program, give the steps names, which profilers show beside kernels and copies. Such a name is
# called an *NVTX range*. ``profile()`` marks the part that a profiler should look at.

from cupyx.profiler import profile, time_range

y = signals
with profile():
    for step in steps:
        with time_range(step.__name__):
            y = step(y)
print("as before:", np.array_equal(y, sums))

# %%
# NVIDIA's Nsight Systems draws a timeline like that at the top, of any program, with these names in a row of
# their own. We have not run it here. Look for gaps in which the GPU waits for Python, for copies while
# nothing else runs, and for the longest bars:
#
# .. code-block:: console
#
#    $ nsys profile --trace=cuda,nvtx --capture-range=cudaProfilerApi --output=steps python steps.py
#    $ nsys stats steps.nsys-rep
#
# If you have PyTorch, its profiler sees all kernels as well, those of CuPy and Numba included. It works in a
# notebook:

# fold: PyTorch's profiler, and what it saw
import re

import torch

with torch.profiler.profile(acc_events=True) as trace:
    y = signals
    for step in steps:
        y = step(y)
    torch.cuda.synchronize()
for event in trace.events():
    if "CUDA" in str(event.device_type):
        name = re.split(r"[<(\[]", event.name)[0].split("::")[-1]
        span = event.time_range
        print(f"{name:40}{(span.end - span.start) / 1e3:7.3f} ms")

# %%
# Why is the kernel slow? Nsight Compute
# --------------------------------------
#
# Nsight Compute, ``ncu``, comes with the CUDA toolkit; this is version :measured:`ncu`. It runs a kernel
# again and again, each time with other hardware counters, so show it only the kernel in question. Write
# ``@cuda.jit(lineinfo=True)`` above it, or lines cannot be told apart. With ``steps.py`` for the code above:
#
# .. code-block:: console
#
#    $ ncu -k regex:turn --profile-from-start off --clock-control none \
#          --section SpeedOfLight --section Occupancy \
#          --section WarpStateStats --section SourceCounters \
#          --metrics l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio \
#          -o turn python steps.py
#    $ ncu --import turn.ncu-rep --page details
#    $ ncu --import turn.ncu-rep --page raw
#
# If it says ``ERR_NVGPUCTRPERM``, whoever runs the machine has to `allow counters
# <https://developer.nvidia.com/ERR_NVGPUCTRPERM>`__. Read in this order:
#
# - **Speed of light** says how busy a part of the GPU is. A kernel that only moves numbers should keep its
#   memory, the *DRAM*, busy. *L2* is the cache in front of it.
# - **Sectors** are pieces of 32 bytes. A warp that stores 32 neighbouring float32 touches four.
# - **Occupancy** is how many warps were there, of those that a multiprocessor can hold. It matters if it is
#   low *and* the kernel waits.
# - **Stalls** are the cycles that a warp waits between two instructions, by reason. *Drain* means that the
#   warp is through and its last stores are still under way, *long scoreboard* that a number from memory is
#   not there yet.

# record: Both kernels under Nsight Compute
details, raw, source = counters.profiled()
gg.fact("ncu", counters.version(), unit="text", note="version of Nsight Compute")
by_kernel = counters.by_kernel(details)
sectors = counters.counted(raw)
for way, text, of_kernel in zip(
    ("threads", "tiles"), by_kernel.values(), sectors, strict=True
):
    for name, share in counters.values_of(text).items():
        gg.fact(f"{name}_{way}", share, unit="share", note="by Nsight Compute")
    gg.fact(f"sectors_{way}", of_kernel["st"], unit="1", note="of 32 bytes, per store")
    gg.fact(f"loaded_{way}", of_kernel["ld"], unit="1", note="of 32 bytes, per load")
    gg.fact(f"stall_{way}", of_kernel["stall"].replace("_", " "), unit="text")
    gg.fact(f"waits_{way}", of_kernel["stall_cycles"], unit="1", note="cycles")
lines = counters.lines_of(source)
worst = max(lines, key=lambda line: line[3])
gg.fact("share_of_line", worst[2], unit="share", note="of the samples")
gg.fact("too_many", worst[3] / worst[4], unit="ratio", note="sectors, by the least")
for kernel, text in by_kernel.items():
    print(f"{kernel}\n{counters.shown(text)}\n")

# %%

# draw: The share of each step, and the claims
spans = arrays["timeline_threads"][0]
whole = spans.max() - spans.min()
for i, name in enumerate(("turn", "differences", "add_up", "fetch")):
    gg.fact(f"{name}_share", float((spans[i, 1] - spans[i, 0]) / whole), unit="share")
n = 8192**2
gg.claim(results, "roughness_by_tiles", faster_than="roughness", at=n, by=1.6)
gg.claim(results, "roughness_unturned", faster_than="roughness_by_tiles", at=n)
gg.claim(turns, "turn_by_tiles", faster_than="turn_by_threads", at=n, by=3.9)
gg.claim(turns, "turn_by_tiles", faster_than="turn_cupy", at=n, by=1.8)

# %%
# .. list-table:: The kernel at first, and the one that is mended below
#    :header-rows: 1
#
#    * - section and figure
#      - at first
#      - mended
#    * - Speed of light: DRAM
#      - :measured:`dram_threads`
#      - :measured:`dram_tiles`
#    * - Speed of light: L2
#      - :measured:`l2_threads`
#      - :measured:`l2_tiles`
#    * - Sectors per store
#      - :measured:`sectors_threads`
#      - :measured:`sectors_tiles`
#    * - Occupancy
#      - :measured:`occupancy_threads`
#      - :measured:`occupancy_tiles`
#    * - Longest stall
#      - :measured:`stall_threads`, :measured:`waits_threads` cycles
#      - :measured:`stall_tiles`, :measured:`waits_tiles` cycles
#
# The slow kernel leaves the DRAM mostly idle and keeps the L2 busy: each store of a warp goes to 32 rows, and
# touches a sector in each. Most of the warps that could be there are there, so we think that more of them
# would not help.
#
# The same report has a row for each line, with ``--page source --csv --print-source cuda,sass``. Nsight
# Compute looks at the warps again and again, and found :measured:`share_of_line` of them in the line that
# loads and stores. Loads included, this line touches :measured:`too_many` as many sectors as it needs, which
# is about what mending it gains: :evidence:`count too_many`

# output: What each line of the slow kernel costs
print("line   samples   sectors   least   code")
for number, code, share, touched, least in lines:
    if share >= 0.005:
        millions = f"{touched / 1e6:5.1f} M   {least / 1e6:5.1f} M"
        print(f"{number:4}   {share:7.1%}   {millions}   {code}")

# %%
# Mend the line, and measure again
# --------------------------------
#
# Through a :doc:`tile in shared memory </gallery/fast_kernels/shared_memory>`, loads and stores both run
# along rows:
#
# .. kernel:: gpuguide.topics.profiling.kernels
#    :names: turn_by_tiles


def turn(x):
    rows, cols = x.shape
    out = cp.empty((cols, rows), x.dtype)
    turn_by_tiles[((cols + 31) // 32, (rows + 31) // 32), (32, 8)](x, out)
    return out


steps = turn, differences, add_up, fetch
timed(steps, signals)
sums_by_tiles, times = timed(steps, signals)
for name, ms in times.items():
    print(f"{name:12}{ms:7.2f} ms")
print("as before:", np.array_equal(sums_by_tiles, sums))

# %%
# The kernel now takes :measured:`turns[turn_by_tiles, 8192**2].time` instead of
# :measured:`turns[turn_by_threads, 8192**2].time`, and reaches
# :measured:`turns[turn_by_tiles, 8192**2].share` of the speed at which this memory can copy; the lesson on
# shared memory goes on from there. :evidence:`variant turn_by_tiles`
#
# Then ask whether the step is needed at all. Here it is not: differences and sums can go down the columns, in
# plain CuPy. Up to the fetch, the program took :measured:`program[roughness, 8192**2].time` at first, and
# with tiles it takes :measured:`program[roughness_by_tiles, 8192**2].time`; without the step, it takes
# :measured:`program[roughness_unturned, 8192**2].time`. No profiler says so.
#
# .. kernel:: gpuguide.topics.profiling.study
#    :names: roughness_unturned
#    :fold: The program that turns nothing
#
# What remains are steps that write whole arrays for the next one to read. One kernel can do all of them: see
# :doc:`Fusion: one kernel, fewer bytes </gallery/fast_kernels/fusion>`.

# %%
# .. remember::
#
#    - Put events between the steps of a program before you change any: Python's profiler blames the line that
#      waits.
#    - Ask Nsight Compute about one kernel: what is busy, sectors per request, occupancy, stalls.
#    - Before you mend a step, ask whether you can leave it out.

# %%
# Your turn: mend a transpose
# ---------------------------
#
# The exercise has the slow kernel of this page, and the check counts sectors, as Nsight Compute does.
#
# .. exercise:: transpose

# thumbnail
from gpuguide.charts import thumbnail

names = {
    "slow step": "roughness",
    "mended": "roughness_by_tiles",
    "left out": "roughness_unturned",
}
times = {label: results.time(name, 8192**2) for label, name in names.items()}
_ = thumbnail.bars(times, "time of the program")

# %%
# Next
# ----
#
# Next: :doc:`Which tool: CuPy, Numba, C++ or Triton </gallery/practice/which_tool>`, on what each one costs.
# See also: :doc:`Time a GPU: wait, then stop the clock </gallery/measuring/how_to_time>` for the clocks
# behind these numbers, and :doc:`Debugging: find the line that is wrong </gallery/practice/debugging>`.
