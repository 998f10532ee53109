"""
Know the limits of your GPU
===========================

How fast can this GPU read, write and compute, and which limit does your code meet?
"""
# %%
# Compare your :term:`kernel` with a plain copy, which reaches :measured:`ceiling_copy` on this GPU, where the
# memory has :measured:`peak_memory` on paper. A kernel that comes near is done, unless it can move fewer
# bytes. Arithmetic limits only code that does more than :measured:`ridge_fp32` operations in ``float32`` for
# each byte.
#
# .. headline:: Hold your code against a good kernel, not against the peak on paper
#
# .. drawn:: know_your_gpu
#
#     from gpuguide.charts.shapes import plot_ratios
#
#     limits = {"memory, copying": "copy", "float32": "fp32", "float64": "fp64"}
#     limits |= {"float64, tensor": "fp64_tensor", "bfloat16, tensor": "bf16_tensor"}
#     shares = {}
#     for label, name in limits.items():
#         peak = facts.get(f"peak_{name}", facts["peak_memory"])
#         share = ceilings.get(name).value / peak.value
#         shares[label] = gg.fact(f"share_{name}", share, unit="share", note="of the peak on paper")
#     plot_ratios(shares, "share of the peak")

# %%
# Properties and peaks from the driver
# ------------------------------------
#
# The driver knows what your GPU is made of. Multiply some of its answers, and you have the peaks on paper, at
# the highest clock. No kernel can move its bytes in less time than bytes divided by peak. ``float32`` is
# called FP32 here, as in NVIDIA's papers.

import cupy as cp
import numpy as np
from numba import cuda

gpu = cp.cuda.Device().attributes
n_multiprocessors = gpu["MultiProcessorCount"]
print("multiprocessors:       ", n_multiprocessors)
print("threads on each:       ", gpu["MaxThreadsPerMultiProcessor"])
print("threads in a block:    ", gpu["MaxThreadsPerBlock"])
print("threads in a warp:     ", gpu["WarpSize"])
print("L2 cache:              ", gpu["L2CacheSize"] / 2**20, "MiB")
print("memory:                ", round(cp.cuda.Device().mem_info[1] / 2**30, 1), "GiB")

# Two transfers in each cycle of the memory's clock, over the whole width of the bus.
memory_peak = 2 * gpu["MemoryClockRate"] * 1000 * gpu["GlobalMemoryBusWidth"] / 8
# 128 units in each multiprocessor, on some GPUs 64; a multiply-add counts as two operations.
fp32_peak = n_multiprocessors * 128 * 2 * gpu["ClockRate"] * 1000
print(f"memory, on paper:       {memory_peak / 1e12:.2f} TB/s")
print(f"FP32 units, on paper:   {fp32_peak / 1e12:.1f} TFLOP/s")


@cuda.jit
def write(out):
    """Each thread writes four numbers, a block's width apart."""
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
    for _ in range(4):
        if i < out.size:
            out[i] = i & (2**24 - 1)  # float32 holds whole numbers up to there
        i += width


out = cp.empty(2**28, dtype=cp.float32)
write[(out.size + 1023) // 1024, 256](out)
print("GPU:", out[-2:], "  NumPy:", np.arange(2**28 - 2, 2**28) % 2**24)
print(f"at the peak, writing takes {out.nbytes / memory_peak * 1e6:.1f} us at least")

# %%
# .. try-it::
#
#    Write ``2**18`` for each ``2**28``. The least time shrinks with the array, until even an empty kernel
#    takes longer. It says something about large arrays only.
#
# What a kernel can reach has to be measured. The guide tries many kernels for each limit and keeps the best:
#
# .. csv-table:: What this GPU can do
#    :header: limit | on paper | measured
#    :delim: |
#
#    memory, copying | :measured:`peak_memory` | :measured:`ceiling_copy`
#    FP32 units | :measured:`peak_fp32` | :measured:`ceiling_fp32`
#    FP64 units | :measured:`peak_fp64` | :measured:`ceiling_fp64`
#    tensor cores, FP64 | :measured:`peak_fp64_tensor` | :measured:`ceiling_fp64_tensor`
#    tensor cores, BF16, in a burst | :measured:`peak_bf16_tensor` | :measured:`ceiling_bf16_tensor`
#
# .. dropdown:: The other limits
#
#    .. csv-table:: Other mixes of reads and writes, and other types
#       :header: limit | on paper | measured
#       :delim: |
#
#       memory, reading | :measured:`peak_memory` | :measured:`ceiling_read`
#       memory, writing | :measured:`peak_memory` | :measured:`ceiling_write`
#       2 reads, 1 write | :measured:`peak_memory` | :measured:`ceiling_two_to_one`
#       TF32, tensor cores | :measured:`peak_tf32` | :measured:`ceiling_tf32`
#       FP16, tensor cores | :measured:`peak_fp16_tensor` | :measured:`ceiling_fp16_tensor`
#
#    TF32 is FP32 with its fraction rounded to ten bits. BF16 and FP16 have sixteen bits in all.

# %%
# Which limit is yours: count operations per byte
# -----------------------------------------------
#
# Count the operations that your kernel does, and the bytes that it moves. Up to :measured:`ridge_fp32`
# operations a byte in FP32, or :measured:`ridge_fp64` in FP64, the memory is the limit; beyond that it is the
# arithmetic. Adding two vectors in FP32 does one operation for twelve bytes, so better arithmetic gains
# nothing there.
#
# Data comes from the host through :term:`PCIe`, and from the device's memory through the :term:`L2 cache` to
# the :term:`multiprocessors <multiprocessor>`. The slowest part that your data has to pass decides.
#
# .. headline:: Every part of the way has its own limit
#
# .. drawing:: know_your_gpu
#
#     Host memory is joined to the device by one arrow each way, named PCIe. On the device, two arrows each
#     way join device memory to the L2 cache, and three each way join the cache to sixteen multiprocessors.
#
# If your data comes from the host, look at PCIe first: from :term:`pinned memory` it carries
# :measured:`ceiling_h2d`, and a copy on the GPU is :measured:`over_pcie` as fast.

# %%
# Grid and block sizes from the shape of an array
# -----------------------------------------------
#
# The driver's answers limit a launch, too. A :term:`block` has at most 1024 threads, and the :term:`grid`
# needs as many blocks as cover the array, rounded up. CUDA names x first: let it run along a row, which is
# NumPy's last axis.

for rows, columns in ((512, 512), (513, 512), (1080, 1920)):
    blocks_per_grid = ((columns + 31) // 32, (rows + 31) // 32)
    print(f"{rows:4} x {columns:4}: grid of {blocks_per_grid} blocks of (32, 32) threads")
at_once = n_multiprocessors * (gpu["MaxThreadsPerMultiProcessor"] // 1024)
print("on the GPU at once:", at_once, "of these blocks")

# %%
# One row more than 512 takes one more row of blocks, in which one thread out of 32 has work. A grid may be
# far larger than what fits at once. The other blocks wait for their turn.

# %%

# record: The study of four mixes, the peaks, the levels of memory, and long runs
import gpuguide as gg
from gpuguide.topics.know_your_gpu import levels, sustained
from gpuguide.topics.know_your_gpu import study as know_your_gpu

results = know_your_gpu.mixes.run()
reads = know_your_gpu.reads.run()

info = gg.require_gpu()
gg.fact(
    "peak_memory",
    info.peak_memory_bandwidth,
    unit="B/s",
    note="memory clock x 2 x bus width",
)
gg.fact("l2_size", info.l2_bytes, unit="B", note="size of the L2 cache")
units = ("fp32", "fp64", "fp64_tensor", "tf32", "fp16_tensor", "bf16_tensor")
for unit in filter(info.peak_flops, units):  # not every GPU has all of them
    note = "multiprocessors x operations x clock"
    gg.fact(f"peak_{unit}", info.peak_flops(unit), unit="FLOP/s", note=note)
gg.fact("clock_highest", info.sm_clock_hz, unit="Hz", note="as the driver gives it")
gg.fact(
    "peak_shared",
    128 * info.sm_count * info.sm_clock_hz,
    unit="B/s",
    note="128 bytes x multiprocessors x clock",
)

for name, samples in levels.measure().items():
    unit = "s" if name.startswith("latency") else "B/s"
    gg.fact(name, float(np.median(samples)), unit=unit, samples=samples)

long_runs = {name: sustained.sustain(name) for name in sustained.WORK}
for kind in ("ends", "rates"):
    gg.keep(kind, [run[kind] for run in long_runs.values()])
for name, run in long_runs.items():
    unit = "B/s" if name == "copy" else "FLOP/s"
    second_half = run["rates"][len(run["rates"]) // 2 :]
    note = "the first of many equal parts of a long run, after a rest"
    gg.fact(f"burst_{name}", run["rates"][0], unit=unit, note=note)
    note = "median of the second half of a long run"
    gg.fact(f"sustained_{name}", float(np.median(second_half)), unit=unit, note=note)
    gg.fact(f"clock_{name}", run["clock"], unit="Hz", note="as the driver gives it")
    gg.fact(f"power_{name}", run["power"], unit="W", note="as the driver gives it")
    gg.fact(f"held_{name}", run["held"], unit="text", note="as the driver gives it")
shortest = min(run["ends"][-1] for run in long_runs.values())
gg.fact("shortest_run", shortest, unit="s", note="the shortest of the long runs")
_ = gg.fact("power_limit", info.power_limit_w, unit="W", note="as the driver gives it")

# %%

# draw
for item in ceilings.items:
    gg.fact(
        f"ceiling_{item.mix}", item.value, unit=item.unit, note="best kernel of several"
    )
for unit in ("fp32", "fp64", "fp16_tensor"):
    ridge = facts[f"ceiling_{unit}"].value / facts["ceiling_copy"].value
    gg.fact(
        f"ridge_{unit}",
        ridge,
        unit="1",
        note="operations per byte: ceiling / copy ceiling",
    )
pcie = facts["ceiling_copy"].value / facts["ceiling_h2d"].value
gg.fact("over_pcie", pcie, unit="ratio", note="device copy / host to device")
gg.claim(results, "write", faster_than="copy", at=2**30)
gg.claim(results, "copy", share_at_least=0.9, at=2**30)

# %%
# Memory bandwidth depends on the mix of reads and writes
# -------------------------------------------------------
#
# Compare your kernel with one that reads and writes in the same proportion, as a kernel that only writes is
# faster than one that does both. An addition of two vectors reads twice and writes once, so it competes with
# *read two, write one*. The copy has one of each:
#
# .. kernel:: gpuguide.topics.know_your_gpu.kernels
#    :names: copy
#
# .. kernel:: gpuguide.topics.know_your_gpu.kernels
#    :names: two_to_one, read
#    :fold: Read two, write one; and read
#
# .. headline:: Large arrays move at the speed of memory, and small ones come from the cache

# draw
from gpuguide.charts.lines import plot_rate

ax = plot_rate(results, variants=["write", "copy", "two_to_one"])
ax.yaxis.set_major_formatter(lambda rate, _: f"{rate / 1000:g}")
_ = ax.set_ylabel("TB/s")

# %%
# At 2\ :sup:`30` bytes an array, writing reaches :measured:`mixes[write, 2**30].rate`, and the copy
# :measured:`mixes[copy, 2**30].rate`. You need not write it yourself: ``cp.copyto`` is as fast. The peak in
# the middle is the :term:`L2 cache`, which holds the arrays of 2\ :sup:`23` bytes, but not those of
# 2\ :sup:`25`. On the left, the start of the kernel decides, and no limit of the memory says anything about
# it.

# %%
# Nearer memory is faster, and answers sooner
# -------------------------------------------
#
# Read data that you need again from the L2 cache or from :term:`shared memory`, and start enough threads to
# keep the memory busy. One load from memory takes :measured:`latency_memory`. Very many of them have to be on
# their way at once, :measured:`bytes_on_the_way` on this GPU, which takes many threads or several loads in
# each.
#
# .. csv-table:: All multiprocessors at once, and one load
#    :header: read from | bandwidth | one load takes
#    :delim: |
#
#    shared memory | :measured:`bandwidth_shared` | :measured:`latency_shared`
#    L2 cache | :measured:`bandwidth_l2` | :measured:`latency_l2`
#    memory | :measured:`ceiling_read` | :measured:`latency_memory`
#
# .. dropdown:: How bandwidth and latency are measured
#
#    For the bandwidth, all multiprocessors read as fast as they can. On paper, shared memory delivers 128
#    bytes a cycle in each, :measured:`peak_shared` in all. For the latency, one thread alone follows pointers
#    in random order, so that no load can begin before the one before. A load takes :measured:`cycles_shared`
#    cycles of the highest clock from shared memory, :measured:`cycles_l2` from the cache and
#    :measured:`cycles_memory` from memory.
#
# .. kernel:: gpuguide.topics.know_your_gpu.levels
#    :names: chase_source, read_source
#    :fold: Following pointers, and reading again and again

# draw
for level in ("shared", "l2", "memory"):
    cycles = facts[f"latency_{level}"].value * facts["clock_highest"].value
    gg.fact(f"cycles_{level}", round(cycles), unit="1", note="latency x highest clock")
_ = gg.fact(
    "bytes_on_the_way",
    ceilings.get("read").value * facts["latency_memory"].value,
    unit="B",
    note="ceiling of reading x latency of memory",
)

# %%
# Tensor cores have peaks of their own
# ------------------------------------
#
# Compare a matrix product with the peak of the :term:`tensor cores <tensor core>`, which do nothing but
# multiply small matrices. In FP64 the product of two large matrices runs at
# :measured:`ceiling_fp64_tensor`, though the ordinary FP64 units have a peak of :measured:`peak_fp64`: cuBLAS
# computes it on tensor cores. A rate above the peak of the unit that did the work is always a mistake.
#
# .. dropdown:: Work out the peaks of the tensor cores
#
#    In one clock cycle the tensor cores of a multiprocessor of this GPU do 128 multiply-adds in FP64, 1024 in
#    TF32 and 2048 in FP16. Put these in the place of the 128 FP32 units above, and you have their peaks.

# %%
# What the GPU sustains: clock and power
# --------------------------------------
#
# Measure for as long as your program runs. At its power limit, :measured:`power_limit` for this board, a GPU
# lowers its clock: products in FP16 begin at :measured:`burst_fp16_tensor`, and long runs go on at
# :measured:`sustained_fp16_tensor`. Copies and the ordinary FP32 units keep their speed.
#
# .. headline:: Matrix products slow down when they meet the power limit

# draw
import matplotlib.pyplot as plt

from gpuguide.charts.style import LIBRARY, MUTED, describe

runs = {  # the first and the last of the four
    "copying": (0, MUTED, "--", 7),
    "FP16 products on tensor cores": (-1, LIBRARY, "-", -17),
}
figure, ax = plt.subplots()
words = []
for name, (i, colour, line, above) in runs.items():
    ends, rates = arrays["ends"][i], arrays["rates"][i] / arrays["rates"][i][0]
    ax.plot(ends, rates, line, color=colour)
    ax.annotate(
        name, (ends[-1], rates[-1]), (0, above), textcoords="offset points",
        color=colour, ha="right",
    )  # fmt: skip
    words.append(f"{name} ends at {rates[-1]:.2f}")
ax.set(xlabel="seconds of work", ylabel="speed / speed at the start", ylim=(0, 1.15))
describe(ax, f"Rates over time, as shares of the burst: {'; '.join(words)}.")

# %%
# .. dropdown:: Clock and power in long runs
#
#    .. list-table:: Long runs
#       :header-rows: 1
#
#       * - work
#         - burst
#         - sustained
#         - clock
#         - power
#         - held back by
#       * - copying
#         - :measured:`burst_copy`
#         - :measured:`sustained_copy`
#         - :measured:`clock_copy`
#         - :measured:`power_copy`
#         - :measured:`held_copy`
#       * - FP32, ordinary units
#         - :measured:`burst_fp32`
#         - :measured:`sustained_fp32`
#         - :measured:`clock_fp32`
#         - :measured:`power_fp32`
#         - :measured:`held_fp32`
#       * - FP64, tensor cores
#         - :measured:`burst_fp64_tensor`
#         - :measured:`sustained_fp64_tensor`
#         - :measured:`clock_fp64_tensor`
#         - :measured:`power_fp64_tensor`
#         - :measured:`held_fp64_tensor`
#       * - FP16, tensor cores
#         - :measured:`burst_fp16_tensor`
#         - :measured:`sustained_fp16_tensor`
#         - :measured:`clock_fp16_tensor`
#         - :measured:`power_fp16_tensor`
#         - :measured:`held_fp16_tensor`
#
#    Each kind of work begins after a rest and goes on for at least :measured:`shortest_run`, on random
#    numbers; only the multiply-adds of the FP32 units are on whole numbers. The burst is less than a
#    hundredth of the run. Clock, power and what holds the clock back are the driver's answers during the
#    second half.
#
#    Even the burst in FP16 stays below the limit of :measured:`ceiling_fp16_tensor` in the fold at the top.
#    That limit is one of another product: larger matrices, of small whole numbers, with a result in FP32. We
#    have not tested which of these matters.
#
# .. kernel:: gpuguide.topics.know_your_gpu.sustained
#    :names: multiply_adds_source
#    :fold: The multiply-adds

# %%
# .. remember::
#
#    - Divide the bytes that a kernel moves by its time, and compare with a copy: an H200 copies at
#      :measured:`ceiling_copy`. A kernel well below has something to gain; well above, its time is wrong.
#    - If a kernel does fewer than :measured:`ridge_fp32` operations in FP32 for each byte, save bytes and not
#      arithmetic.

# %%
# Your turn: a grid for any shape
# -------------------------------
#
# Write the function that works out a grid, for arrays of one to three axes. It needs no GPU, only whole
# numbers, and care where a shape is no multiple of the block, where an array is empty, and at CUDA's limits.
#
# .. exercise:: grid_arithmetic

# thumbnail
from gpuguide.charts import thumbnail

links = {"over PCIe": "h2d", "in the GPU's memory": "copy"}
times = {
    label: float(f"{1e12 / ceilings.get(name).value:.2g}")
    for label, name in links.items()
}
_ = thumbnail.bars(times, "ms to move a gigabyte")

# %%
# Next
# ----
#
# Next: :doc:`Seven mistakes in GPU benchmarks </gallery/measuring/benchmark_well>`, which uses these limits
# to expose wrong figures. See also:
# :doc:`How many threads, how many blocks </gallery/first_kernels/launch_sizes>`, which brings a kernel near
# the speed of a copy.
